// The door for all problems: several quadratic programs on the rows of one supply, solved within common limits.
#pragma once

#include "row_supply.hpp"
#include "smo_types.hpp"

namespace mercer {

// What Python wants to know too; it reads these numbers from here.
constexpr double single_margin = 0.95;  // share of the tolerance to which rows of single precision are solved
constexpr Index few_variables = 256;    // so few are solved far beyond the tolerance: it costs nothing
constexpr Index few_rows = 1000;        // below this a second thread takes longer to start than to help

// Programs laid end to end: program k has the variables from ends[k] to ends[k + 1].
struct Programs {
    const double *p, *lower, *upper, *ridge;
    const double* diagonal;  // of K, for each variable
    const Index* row;        // the kernel row of each variable, or null: variable i has row i
    const Index* ends;
    Index count;
    const double* tol;             // of each program
    const double *anchor, *image;  // a point and K times it, known from a neighbouring problem; or null
    bool rough;                    // whether float32 rows may do
};

// Where the programs begin, feasible, and where they end, with the gradient there; then what there is to say of each.
struct ProgramReport {
    double *beta, *gradient;
    std::int64_t* n_iter;
    std::uint8_t* status;
    double *offset, *gap, *objective;
};

void solve_programs(const RowSupply& supply, const Programs& programs, const SmoOptions& options,
                    const ProgramReport& report);

}  // namespace mercer
