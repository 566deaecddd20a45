// How good a point of a program is: the one rule for offset and gap, for every solver.
#pragma once

#include "smo_types.hpp"

namespace mercer {

struct Verdict {
    double offset = 0.0, gap = 0.0, objective = 0.0;
    Index n_free = 0, n_used = 0;  // variables between their bounds, and those that are not zero
};

// Of the problem only p and the bounds count.
Verdict verdict_of(const SmoProblem& problem, const double* beta, const double* gradient);

// Why the work ended, given what came of it: a gap within the tolerance is converged whatever stopped the solver, and
// one that is not never is.
SmoStatus final_status(SmoStatus status, bool is_near);

}  // namespace mercer
