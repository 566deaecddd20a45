// Small programs on which steps of two variables come to nothing: kernels of low rank (few features) with large values
// times bounds, whose optimum lies along directions without curvature.
#pragma once

#include "smo_types.hpp"

namespace mercer {

struct ActiveSetResult {
    bool solved = false;  // whether the gap is within the tolerance; if not, the gradient is no longer exact
    std::int64_t n_iter = 0;
};

// Goes on from the point by the active-set method, with the whole matrix in memory.
template <class T>
ActiveSetResult solve_by_active_set(const RowSource<T>& rows, const SmoProblem& problem, const Point& at, double tol);

}  // namespace mercer
