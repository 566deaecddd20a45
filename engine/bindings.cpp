// The only file that knows Python: arrays and scalars in, arrays and scalars out, the lock released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "elimination.hpp"
#include "hot_loops.hpp"
#include "path.hpp"
#include "row_source.hpp"
#include "smo.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace mercer {
namespace {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MutableDoubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MutableIndices = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool condition, const char* otherwise) {
    if (!condition) throw std::invalid_argument(otherwise);
}

// What the work returns, done while other Python threads may run.
template <class Work>
auto without_lock(Work work) {
    nb::gil_scoped_release unlocked;
    return work();
}

// The length of an array along an axis.
template <class NumpyArray>
Index extent(const NumpyArray& array, std::size_t axis = 0) {
    return static_cast<Index>(array.shape(axis));
}

KernelShape shape_of(int family, double gamma, double coef0, int degree, double factor) {
    require(family >= 0 && family <= static_cast<int>(Family::sigmoid), "unknown kernel family");
    KernelShape shape;
    shape.family = static_cast<Family>(family);
    shape.gamma = gamma;
    shape.coef0 = coef0;
    shape.degree = degree;
    shape.factor = factor;
    return shape;
}

// A quadratic program as NumPy arrays; beta and gradient are changed in place, so they are never converted.
struct Arrays {
    Doubles p, lower, upper, ridge, diagonal;
    MutableDoubles beta, gradient;
    std::optional<Indices> row;

    SmoProblem problem(Index n_rows) const {
        const Index n = extent(p);
        for (Index other :
             {extent(lower), extent(upper), extent(ridge), extent(diagonal), extent(beta), extent(gradient)})
            require(other == n, "all arrays of the problem must have the same length");
        require((row ? extent(*row) : n_rows) == n, "the kernel and the problem must have the same number of rows");
        for (Index i = 0; row && i < n; ++i)
            require(row->data()[i] >= 0 && row->data()[i] < n_rows, "a variable's row lies outside the kernel matrix");
        return {p.data(), lower.data(), upper.data(), ridge.data(), diagonal.data(), n, row ? row->data() : nullptr};
    }
    Point point() const { return {beta.data(), gradient.data()}; }
};

Arrays arrays_of(const nb::tuple& t) {
    require(t.size() == 7 || t.size() == 8,
            "a problem is (p, lower, upper, ridge, diagonal, beta, gradient), and perhaps the rows of the variables");
    std::optional<Indices> row;
    if (t.size() == 8) row = nb::cast<Indices>(t[7]);
    return {nb::cast<Doubles>(t[0]),
            nb::cast<Doubles>(t[1]),
            nb::cast<Doubles>(t[2]),
            nb::cast<Doubles>(t[3]),
            nb::cast<Doubles>(t[4]),
            nb::cast<MutableDoubles>(t[5], false),
            nb::cast<MutableDoubles>(t[6], false),
            row};
}

// Called now and then from the solver, without the lock: lets Ctrl-C through and asks the callback.
std::function<bool(std::int64_t, double)> progress_of(const nb::object& callback) {
    return [callback](std::int64_t n_iter, double gap) {
        nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return !callback.is_none() && nb::cast<bool>(nb::bool_(callback(n_iter, gap)));
    };
}

SmoOptions options_of(const nb::dict& d) {
    SmoOptions options;
    options.tol = nb::cast<double>(d["tol"]);
    options.max_iter = nb::cast<std::int64_t>(d["max_iter"]);
    options.time_limit = nb::cast<double>(d["time_limit"]);
    options.block = nb::cast<Index>(d["block"]);
    options.shrinking = nb::cast<bool>(d["shrinking"]);
    options.cache_bytes = nb::cast<std::int64_t>(d["cache_bytes"]);
    options.n_threads = nb::cast<int>(d["n_threads"]);
    options.unbounded_below = nb::cast<double>(d["unbounded_below"]);
    options.progress = progress_of(nb::object(d["callback"]));
    return options;
}

const char* name_of(SmoStatus status) {
    switch (status) {
        case SmoStatus::converged: return "converged";
        case SmoStatus::max_iter: return "max_iter";
        case SmoStatus::time_limit: return "time_limit";
        case SmoStatus::interrupted: return "interrupted";
        case SmoStatus::unbounded: return "unbounded";
        case SmoStatus::stalled: return "stalled";
        case SmoStatus::shrink: break;  // never leaves the solver
    }
    return "unknown";
}

template <class T>
nb::dict solve(const RowSource<T>& source, const Arrays& arrays, const SmoOptions& options, Pool& pool) {
    const SmoProblem problem = arrays.problem(source.size());
    const SmoResult result = without_lock([&] { return solve_smo(source, problem, options, arrays.point(), pool); });
    nb::dict answer;
    answer["status"] = name_of(result.status);
    answer["n_iter"] = result.n_iter;
    return answer;
}

template <class T>
nb::dict smo_computed(Matrix<T> data, int family, double gamma, double coef0, int degree, double factor,
                      const nb::tuple& problem, const nb::dict& options) {
    const KernelShape shape = shape_of(family, gamma, coef0, degree, factor);
    const SmoOptions settings = options_of(options);
    Pool pool(settings.n_threads);
    const ComputedRows<T> source(data.data(), extent(data), extent(data, 1), shape, pool);
    return solve<T>(source, arrays_of(problem), settings, pool);
}

template <class T>
MatrixRows<T> rows_of(const Matrix<T>& kernel, const std::optional<Indices>& view) {
    // Columns beyond the rows are padding, zeros.
    require(extent(kernel) <= extent(kernel, 1), "a kernel matrix must be square");
    Array<Index> selection;
    if (view) selection.assign(view->data(), view->data() + extent(*view));
    for (Index i : selection) require(i >= 0 && i < extent(kernel), "the view points outside the kernel matrix");
    const Index n = view ? selection.size() : extent(kernel);
    return {kernel.data(), extent(kernel, 1), std::move(selection), n};
}

template <class T>
nb::dict smo_matrix(Matrix<T> kernel, std::optional<Indices> view, const nb::tuple& problem, const nb::dict& options) {
    const SmoOptions settings = options_of(options);
    Pool pool(settings.n_threads);
    return solve<T>(rows_of(kernel, view), arrays_of(problem), settings, pool);
}

// A machine for rising penalties as NumPy arrays: machine is (sign, weight, diagonal, squared), start (beta, image,
// penalty), the first two changed in place, and report (betas, images, offsets, gaps) is filled, a line for each
// penalty.
struct PathArrays {
    Doubles sign, weight, diagonal;
    bool squared;
    MutableDoubles beta, image;
    double penalty;
    MutableMatrix<double> betas, images;
    MutableDoubles offsets, gaps;

    void check(Index n, Index n_penalties) const {
        for (Index length : {extent(sign), extent(weight), extent(diagonal), extent(beta), extent(image),
                             extent(betas, 1), extent(images, 1)})
            require(length == n, "all arrays of the path must have as many entries as the kernel matrix has rows");
        for (Index lines : {extent(betas), extent(images), extent(offsets), extent(gaps)})
            require(lines == n_penalties, "the report must have a line for each penalty");
    }
    PathProblem problem() const { return {sign.data(), weight.data(), diagonal.data(), extent(sign), squared}; }
    PathPoint point() const { return {beta.data(), image.data(), penalty}; }
    PathReport report() const { return {betas.data(), images.data(), offsets.data(), gaps.data()}; }
};

PathArrays path_arrays_of(const nb::tuple& machine, const nb::tuple& start, const nb::tuple& report) {
    require(machine.size() == 4 && start.size() == 3 && report.size() == 4,
            "a path is (sign, weight, diagonal, squared), (beta, image, penalty) and (betas, images, offsets, gaps)");
    return {nb::cast<Doubles>(machine[0]),
            nb::cast<Doubles>(machine[1]),
            nb::cast<Doubles>(machine[2]),
            nb::cast<bool>(machine[3]),
            nb::cast<MutableDoubles>(start[0], false),
            nb::cast<MutableDoubles>(start[1], false),
            nb::cast<double>(start[2]),
            nb::cast<MutableMatrix<double>>(report[0], false),
            nb::cast<MutableMatrix<double>>(report[1], false),
            nb::cast<MutableDoubles>(report[2], false),
            nb::cast<MutableDoubles>(report[3], false)};
}

// Returns how many penalties were solved for, fewer than asked for when the callback stops it.
template <class T>
Index smo_path(Matrix<T> kernel, std::optional<Indices> view, const nb::tuple& machine, Doubles penalties,
               const nb::tuple& start, const nb::dict& options, const nb::tuple& report) {
    const PathArrays arrays = path_arrays_of(machine, start, report);
    const MatrixRows<T> source = rows_of(kernel, view);
    arrays.check(source.size(), extent(penalties));
    const Array<double> rising(penalties.data(), penalties.data() + extent(penalties));
    for (double penalty : rising) require(penalty > 0.0, "a penalty must be above 0");
    const PathProblem problem = arrays.problem();
    const SmoOptions settings = options_of(options);
    return without_lock(
        [&] { return solve_path<T>(source, problem, rising, settings, arrays.point(), arrays.report()); });
}

// request(indices, out) must fill out (len(indices), n).
template <class T>
nb::dict smo_requested(const nb::object& request, Index n, const nb::tuple& problem, const nb::dict& options) {
    auto ask = [&request, n](const Index* indices, Index count, T* out) {
        nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        const std::size_t rows = unsigned_of(count), columns = unsigned_of(n);
        nb::ndarray<nb::numpy, const std::int64_t> which(indices, {rows}, nb::handle());
        nb::ndarray<nb::numpy, T> target(out, {rows, columns}, nb::handle());
        request(nb::cast(which, nb::rv_policy::reference), nb::cast(target, nb::rv_policy::reference));
    };
    const RequestedRows<T> source(ask, n);
    const SmoOptions settings = options_of(options);
    Pool pool(settings.n_threads);
    return solve<T>(source, arrays_of(problem), settings, pool);
}

// What is to be eliminated, as NumPy arrays.
struct PlanArrays {
    Matrix<double> columns;
    Flags fixed;
    Indices counts;
    Doubles row_weights;

    // The number of features to drop in all.
    Index checked_total(Index n) const {
        require(extent(columns, 1) == n && extent(row_weights) == n,
                "features, kernel matrix and weights must have as many rows as the problem");
        require(extent(fixed) == extent(columns), "each feature must be marked as fixed or not");
        Index total = 0, removable = 0;
        for (Index r = 0; r < extent(counts); ++r) {
            require(counts.data()[r] >= 1, "each round must drop a feature");
            total += counts.data()[r];
        }
        for (Index j = 0; j < extent(fixed); ++j) removable += fixed.data()[j] == 0;
        require(total <= removable, "there are fewer features than shall be dropped");
        return total;
    }
    EliminationPlan plan() const {
        return {columns.data(), extent(columns), fixed.data(), counts.data(), extent(counts), row_weights.data()};
    }
};

struct EliminationReportArrays {
    MutableIndices dropped;
    MutableDoubles importances, gaps, fitted, seconds;

    EliminationReport report(Index n_dropped, Index n_rounds) const {
        for (Index length : {extent(dropped), extent(importances)})
            require(length == n_dropped, "the report must have a place for each feature dropped");
        for (Index length : {extent(gaps), extent(fitted), extent(seconds)})
            require(length == n_rounds, "the report must have a line for each round");
        return {dropped.data(), importances.data(), gaps.data(), fitted.data(), seconds.data()};
    }
};

EliminationReportArrays report_arrays_of(const nb::tuple& t) {
    require(t.size() == 5, "a report is (dropped, importances, gaps, fitted, seconds)");
    return {nb::cast<MutableIndices>(t[0], false), nb::cast<MutableDoubles>(t[1], false),
            nb::cast<MutableDoubles>(t[2], false), nb::cast<MutableDoubles>(t[3], false),
            nb::cast<MutableDoubles>(t[4], false)};
}

// Drops counts[r] features in round r; kernel, diagonal, beta and gradient are changed in place, and the report is
// (dropped, importances, gaps, fitted, seconds).
nb::dict eliminate_features(Matrix<double> columns, Flags fixed, Indices counts, Doubles row_weights,
                            MutableMatrix<double> kernel, const nb::tuple& problem, const nb::dict& options,
                            const nb::tuple& report) {
    const Arrays arrays = arrays_of(problem);
    const SmoProblem quadratic = arrays.problem(extent(kernel));
    require(!quadratic.row, "each variable must have a row of its own");
    require(extent(kernel) == extent(kernel, 1), "a kernel matrix must be square");
    const auto diagonal = nb::cast<MutableDoubles>(problem[4], false);
    const PlanArrays given{columns, fixed, counts, row_weights};
    const Index total = given.checked_total(quadratic.n);
    const EliminationPlan plan = given.plan();
    const EliminationReportArrays written = report_arrays_of(report);
    const EliminationReport lines = written.report(total, plan.n_rounds);
    const SmoOptions settings = options_of(options);
    const EliminationResult result = without_lock(
        [&] { return eliminate(plan, kernel.data(), diagonal.data(), quadratic, arrays.point(), settings, lines); });
    nb::dict answer;
    answer["status"] = name_of(result.status);
    answer["n_rounds"] = result.n_rounds;
    return answer;
}

// An array of undefined contents whose memory is kept for the next one when it is no longer needed.
template <class T>
nb::ndarray<nb::numpy, T> kept_array(Index n_rows, Index n_columns) {
    require(n_rows >= 0 && n_columns >= 0, "an array cannot have a negative size");
    auto* buffer = new Buffer<T>(n_rows * n_columns);
    nb::capsule owner(buffer, [](void* memory) noexcept { delete static_cast<Buffer<T>*>(memory); });
    return {buffer->data(), {unsigned_of(n_rows), unsigned_of(n_columns)}, owner};
}

// Two sets of points ready for a kernel, and the threads that share the work on them.
template <class T>
struct Sides {
    Pool pool;
    PackedRows<T> left, right;
    KernelShape shape;

    Sides(const Matrix<T>& a, const Matrix<T>& b, const KernelShape& wanted, int n_threads)
        : pool(n_threads),
          left(a.data(), extent(a), extent(a, 1), wanted, pool),
          right(b.data(), extent(b), extent(b, 1), wanted, pool),
          shape(right.suited(left.suited(wanted))) {}
};

template <class T>
void fill_kernel_matrix(Matrix<T> left, Matrix<T> right, int family, double gamma, double coef0, int degree,
                        double factor, MutableMatrix<T> out, int n_threads) {
    require(extent(left, 1) == extent(right, 1), "both sides must have the same number of columns");
    require(extent(out) == extent(left) && extent(out, 1) >= extent(right), "the result has the wrong shape");
    const KernelShape shape = shape_of(family, gamma, coef0, degree, factor);
    nb::gil_scoped_release unlocked;
    Sides<T> sides(left, right, shape, n_threads);
    kernel_matrix<T>(sides.shape, sides.left, sides.right, out.data(), extent(out, 1), sides.pool);
}

// out += the chosen rows of a matrix, each times its weight.
template <class T>
void add_weighted_rows(Matrix<T> kernel, Indices rows, Doubles weights, MutableDoubles out) {
    require(extent(weights) == extent(rows), "each row needs its weight");
    require(extent(out) <= extent(kernel, 1), "the result has the wrong shape");
    Array<const T*> chosen;
    for (Index k = 0; k < extent(rows); ++k) {
        const Index row = rows.data()[k];
        require(row >= 0 && row < extent(kernel), "a row lies outside the matrix");
        chosen.push_back(kernel.data() + row * extent(kernel, 1));
    }
    nb::gil_scoped_release unlocked;
    hot_loops<T>().add_rows(chosen.data(), weights.data(), chosen.size(), 0, extent(out), out.data());
}

template <class T>
void fill_kernel_products(Matrix<T> left, Matrix<T> right, int family, double gamma, double coef0, int degree,
                          double factor, Matrix<double> coefficients, Indices ends, bool wide,
                          MutableMatrix<double> out, int n_threads) {
    require(extent(left, 1) == extent(right, 1), "both sides must have the same number of columns");
    require(extent(coefficients, 1) == extent(right), "each right-hand row needs its coefficients");
    const Array<Index> segments(ends.data(), ends.data() + extent(ends));
    require(segments.size() >= 2 && segments.front() == 0 && segments.back() == extent(right),
            "the segments must cover all right-hand rows");
    require(std::is_sorted(segments.begin(), segments.end()), "the ends of the segments must not decrease");
    require(extent(out) == extent(left) && extent(out, 1) == (segments.size() - 1) * extent(coefficients),
            "the result has the wrong shape");
    const KernelShape shape = shape_of(family, gamma, coef0, degree, factor);
    nb::gil_scoped_release unlocked;
    Sides<T> sides(left, right, shape, n_threads);
    kernel_products<T>(sides.shape, sides.left, sides.right, coefficients.data(), extent(coefficients), segments, wide,
                       out.data(), sides.pool);
}

template <class T>
void register_for(nb::module_& m) {
    m.def("smo_computed", &smo_computed<T>, "data"_a.noconvert(), "family"_a, "gamma"_a, "coef0"_a, "degree"_a,
          "factor"_a, "problem"_a, "options"_a);
    m.def("smo_matrix", &smo_matrix<T>, "kernel"_a.noconvert(), "view"_a.none(), "problem"_a, "options"_a);
    m.def("smo_path", &smo_path<T>, "kernel"_a.noconvert(), "view"_a.none(), "machine"_a, "penalties"_a, "start"_a,
          "options"_a, "report"_a);
    m.def("fill_kernel_matrix", &fill_kernel_matrix<T>, "left"_a.noconvert(), "right"_a.noconvert(), "family"_a,
          "gamma"_a, "coef0"_a, "degree"_a, "factor"_a, "out"_a.noconvert(), "n_threads"_a);
    m.def("add_weighted_rows", &add_weighted_rows<T>, "kernel"_a.noconvert(), "rows"_a, "weights"_a,
          "out"_a.noconvert());
    m.def("fill_kernel_products", &fill_kernel_products<T>, "left"_a.noconvert(), "right"_a.noconvert(), "family"_a,
          "gamma"_a, "coef0"_a, "degree"_a, "factor"_a, "coefficients"_a.noconvert(), "ends"_a, "wide"_a,
          "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace
}  // namespace mercer

NB_MODULE(_engine, m) {
    m.doc() = "Compiled loops of mercer: kernel values and block SMO over plain arrays.";
    mercer::instruction_set();  // refuses an unknown wish now rather than in the middle of a fit
    mercer::register_for<float>(m);
    mercer::register_for<double>(m);
    m.def("smo_requested_f64", &mercer::smo_requested<double>, "request"_a, "n"_a, "problem"_a, "options"_a);
    m.def("eliminate_features", &mercer::eliminate_features, "columns"_a.noconvert(), "fixed"_a.noconvert(),
          "counts"_a.noconvert(), "row_weights"_a.noconvert(), "kernel"_a.noconvert(), "problem"_a, "options"_a,
          "report"_a);
    m.def("kept_array_f32", &mercer::kept_array<float>, "n_rows"_a, "n_columns"_a);
    m.def("kept_array_f64", &mercer::kept_array<double>, "n_rows"_a, "n_columns"_a);
    m.def("release_kept_memory", &mercer::release_kept_memory);
    m.def("instruction_set", &mercer::instruction_set);
}
