// The program of all classes at once (Crammer and Singer): rows whose multipliers sum to zero, solved one at a time.
#pragma once

#include "array.hpp"

namespace mercer {

// Some rows, with k classes each: minimise <alpha, K alpha> / 2 + <costs, alpha>, where the multipliers of a row sum to
// zero and do not exceed their bounds.
struct ClassRows {
    const double* matrix;    // n x n
    const double* diagonal;  // n, above zero
    const double* upper;     // n x k
    double* alpha;           // n x k, feasible
    double* gradient;        // n x k, K alpha + costs
    Index n, k;
};

// The best multipliers of one row: min |a|^2 * curvature / 2 + <linear, a>.
void solve_class_row(const double* linear, double curvature, const double* upper, Index k, double* a);

// Solves the row that violates its conditions most, again and again, until none does by more than `goal` or `most`
// steps are taken; returns their number.
Index solve_class_rows(const ClassRows& rows, double goal, Index most);

}  // namespace mercer
