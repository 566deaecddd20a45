// Recursive elimination of features from a linear machine: solve, drop those with the smallest weights, repeat.
#pragma once

#include "smo_types.hpp"

namespace mercer {

// One line for each round, written while it runs; the first two have one entry for each feature dropped.
struct EliminationReport {
    std::int64_t* dropped;
    double* importances;  // squared weight of each when it was dropped
    double* gaps;
    double* fitted;   // total weight of the rows on the side of the boundary that p asks for
    double* seconds;  // since the start
};

struct EliminationPlan {
    const double* columns;  // n_features x n: the features, each contiguous
    Index n_features;
    const std::uint8_t* fixed;   // features that stay
    const std::int64_t* counts;  // how many to drop in each round
    Index n_rounds;
    const double* row_weights;
};

struct EliminationResult {
    SmoStatus status;
    Index n_rounds;  // completed; fewer than planned where the matrix had better be computed anew
};

// The kernel matrix (n x n), its diagonal and the point are those of all features at first and of those that
// are left in the end; in the end the gradient is right, but the last problem is not solved yet.
EliminationResult eliminate(const EliminationPlan& plan, double* kernel, double* diagonal, const SmoProblem& problem,
                            const Point& at, const SmoOptions& options, const EliminationReport& report);

}  // namespace mercer
