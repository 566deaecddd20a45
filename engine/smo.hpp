// Sequential minimal optimisation for
//
//     minimise 1/2 b'(K + diag r)b + p'b   subject to  sum(b) = delta,  lower <= b <= upper.
#pragma once

#include "smo_types.hpp"

namespace mercer {

// Starts from a feasible point with its gradient (Kb + rb + p), and leaves the last one there.
template <class T>
SmoResult solve_smo(const RowSource<T>& source, const SmoProblem& problem, const SmoOptions& options, const Point& at,
                    Pool& pool);

}  // namespace mercer
