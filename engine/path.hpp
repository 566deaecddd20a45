// A two-class machine solved for one penalty after another, each time from the last solution.
#pragma once

#include "smo_types.hpp"

namespace mercer {

struct PathProblem {
    const double* sign;    // 1 or -1, the class of each row; 0 for rows that take no part
    const double* weight;  // of each row, in units of the penalty C
    const double* diagonal;
    Index n;
    bool squared;  // slack is squared: variables without bounds, and a ridge of 1 / (C weight)
};

// Where the first solve begins: a solution for `penalty` (infinite: none) and its image K beta. Changed in place.
struct PathPoint {
    double* beta;
    double* image;
    double penalty;
};

// One line for each penalty.
struct PathReport {
    double* betas;  // n numbers each
    double* images;
    double* offsets;
    double* gaps;
};

// Solves for rising penalties; returns how many were solved, fewer than asked for when the caller stops it.
template <class T>
Index solve_path(const RowSource<T>& source, const PathProblem& problem, const Array<double>& penalties,
                 const SmoOptions& options, PathPoint at, const PathReport& report);

}  // namespace mercer
