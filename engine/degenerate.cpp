#include "degenerate.hpp"

#include "active_set.hpp"

namespace mercer {

namespace {

// The matrix of the variables, of which several may have one row.
template <class T>
Array<double> matrix_of(const RowSource<T>& rows, const SmoProblem& problem) {
    Array<T> buffer(padded(rows.size()));
    T* const line = buffer.data();
    Array<double> matrix(problem.n * problem.n);
    for (Index i = 0; i < problem.n; ++i) {
        const Index row = problem.row_of(i);
        rows.fill(&row, 1, 0, padded(rows.size()), &line);
        double* const out = matrix.data() + i * problem.n;
        for (Index j = 0; j < problem.n; ++j) out[j] = static_cast<double>(line[problem.row_of(j)]);
    }
    return matrix;
}

}  // namespace

template <class T>
ActiveSetResult solve_by_active_set(const RowSource<T>& rows, const SmoProblem& problem, const Point& at, double tol) {
    Array<double> matrix = matrix_of(rows, problem);
    Array<double> diagonal(problem.diagonal, problem.diagonal + problem.n);
    ActiveSet method(matrix.data(), diagonal.data(), problem, at);
    const std::int64_t most = 50 + 10 * problem.n;
    const bool ended =
        method.restart() == ActiveSet::Outcome::solved && method.solve(0.5 * tol, most) == ActiveSet::Outcome::solved;
    return {ended && violation_of(problem, at).gap() <= tol, method.n_steps()};
}

template ActiveSetResult solve_by_active_set(const RowSource<float>&, const SmoProblem&, const Point&, double);
template ActiveSetResult solve_by_active_set(const RowSource<double>&, const SmoProblem&, const Point&, double);

}  // namespace mercer
