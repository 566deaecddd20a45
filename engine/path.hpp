// A program solved for one price of slack after another, each time from the last solution.
#pragma once

#include "row_supply.hpp"
#include "smo_types.hpp"

namespace mercer {

// The program of price 1. A price multiplies the bounds and divides the ridge; p stays.
struct PathProblem {
    const double *p, *lower, *upper, *ridge;
    const double* diagonal;  // of K
    Index n;
};

// Where the first solve begins: a solution for `price` (infinite: none) and its image K beta. Changed in place.
struct PathPoint {
    double* beta;
    double* image;
    double price;
};

// One line for each price.
struct PathReport {
    double* betas;  // n numbers each
    double* images;
    std::int64_t* n_iter;
    std::uint8_t* status;
    double* offsets;
    double* gaps;
};

// Solves for rising prices; returns how many were solved, fewer than asked for when the caller stops it. Variable i has
// the kernel row row[i], or i where row is null. The limits of the options are those of each price.
Index solve_path(const RowSupply& supply, const Index* row, const PathProblem& problem, const double* prices,
                 Index n_prices, const SmoOptions& options, PathPoint at, const PathReport& report);

}  // namespace mercer
