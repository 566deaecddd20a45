// The only file that knows Python: arrays and scalars in, arrays and scalars out, the lock released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bounded_start.hpp"
#include "class_rows.hpp"
#include "elimination.hpp"
#include "hot_loops.hpp"
#include "path.hpp"
#include "programs.hpp"
#include "row_supply.hpp"
#include "verdict.hpp"

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
using MutableFlags = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The length of an array along an axis.
template <class NumpyArray>
Index extent(const NumpyArray& array, std::size_t axis = 0) {
    return static_cast<Index>(array.shape(axis));
}

// An array of one kind out of a tuple.
template <class NumpyArray>
NumpyArray element(const nb::tuple& t, std::size_t k, bool convert) {
    NumpyArray array;
    if (nb::try_cast(t[k], array, convert)) return array;
    const std::string number = std::to_string(k);
    throw nb::type_error(("array " + number + " has the wrong type or shape, or cannot be written to").c_str());
}

void check_length(Index given, Index wanted) {
    if (given != wanted) throw std::invalid_argument("all arrays of the problem must have the same length");
}

void check_ends(const Indices& ends, Index count, Index n) {
    bool rising = count >= 0 && extent(ends) == count + 1 && ends.data()[0] == 0 && ends.data()[count] == n;
    for (Index k = 0; rising && k < count; ++k) rising = ends.data()[k] < ends.data()[k + 1];
    if (!rising) throw std::invalid_argument("the ends must rise from 0 to the number of variables");
}

KernelShape shape_of(int family, double gamma, double coef0, int degree, double factor) {
    if (family < 0 || family > static_cast<int>(Family::sigmoid)) throw std::invalid_argument("unknown kernel family");
    KernelShape shape;
    shape.family = static_cast<Family>(family);
    shape.gamma = gamma;
    shape.coef0 = coef0;
    shape.degree = degree;
    shape.factor = factor;
    return shape;
}

// Called now and then from the solver, without the lock: lets Ctrl-C through.
void check_signals() {
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// The same, and asks the callback. The function is copied without the lock, which Python's own count of references
// would need; the last copy goes when the call returns, with the lock held again.
std::function<bool(std::int64_t, double)> progress_of(const nb::object& callback) {
    return [owner = std::make_shared<nb::object>(callback)](std::int64_t n_iter, double gap) {
        check_signals();
        nb::gil_scoped_acquire lock;
        return !owner->is_none() && nb::cast<bool>(nb::bool_((*owner)(n_iter, gap)));
    };
}

// From an object of mercer.solvers.Options; None has been made a number of threads already.
SmoOptions options_of(const nb::object& given, int n_threads) {
    SmoOptions options;
    const nb::object limit = given.attr("time_limit");
    options.tol = nb::cast<double>(given.attr("tol"));
    options.max_iter = nb::cast<std::int64_t>(given.attr("max_iter"));
    options.time_limit = limit.is_none() ? -1.0 : nb::cast<double>(limit);
    options.block = nb::cast<Index>(given.attr("block"));
    options.shrinking = nb::cast<bool>(given.attr("shrinking"));
    options.cache_bytes = static_cast<std::int64_t>(nb::cast<double>(given.attr("cache_bytes")));
    options.n_threads = n_threads;
    options.progress = progress_of(nb::object(given.attr("callback")));
    options.check_signals = check_signals;
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

// Kernel rows, with whatever they are computed from.
struct Rows {
    std::shared_ptr<const RowSupply> supply;
    std::shared_ptr<void> owner;
};

Rows point_rows(Matrix<double> points, int family, double gamma, double coef0, int degree, double factor) {
    const KernelShape shape = shape_of(family, gamma, coef0, degree, factor);
    return {std::make_shared<PointSupply>(points.data(), extent(points), extent(points, 1), shape),
            std::make_shared<Matrix<double>>(points)};
}

template <class T>
Rows matrix_rows(Matrix<T> kernel) {
    // Columns beyond the rows are padding, zeros.
    if (extent(kernel) > extent(kernel, 1)) throw std::invalid_argument("a kernel matrix must be square");
    return {std::make_shared<MatrixSupply<T>>(kernel.data(), extent(kernel, 1), extent(kernel)),
            std::make_shared<Matrix<T>>(kernel)};
}

// Matrices of n_each points, one below the other; columns beyond n_each are padding, zeros.
Rows stacked_rows(Matrix<double> kernels, Index n_each) {
    if (n_each < 1 || extent(kernels) % n_each != 0 || extent(kernels, 1) < n_each)
        throw std::invalid_argument("kernel matrices must be square and lie one below the other");
    return {std::make_shared<StackedSupply>(kernels.data(), extent(kernels, 1), n_each, extent(kernels) / n_each),
            std::make_shared<Matrix<double>>(kernels)};
}

// request(indices, out) must fill out (len(indices), n).
Rows requested_rows(const nb::object& request, Index n) {
    const auto owner = std::make_shared<nb::object>(request);
    auto ask = [function = owner.get(), n](const Index* indices, Index count, double* out) {
        nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        const std::size_t rows = unsigned_of(count), columns = unsigned_of(n);
        nb::ndarray<nb::numpy, const std::int64_t> which(indices, {rows}, nb::handle());
        nb::ndarray<nb::numpy, double> target(out, {rows, columns}, nb::handle());
        (*function)(nb::cast(which, nb::rv_policy::reference), nb::cast(target, nb::rv_policy::reference));
    };
    return {std::make_shared<RequestedSupply>(ask, n), owner};
}

// Vectors of programs, all of one length, and the kernel rows of their variables.
struct ProgramArrays {
    Doubles p, lower, upper, ridge, diagonal;
    std::optional<Indices> row;

    ProgramArrays(const nb::tuple& t, const std::optional<Indices>& rows, Index n_rows)
        : p(vector_at(t, 0)),
          lower(vector_at(t, 1)),
          upper(vector_at(t, 2)),
          ridge(vector_at(t, 3)),
          diagonal(vector_at(t, 4)),
          row(rows) {
        const Index n = extent(p);
        for (Index other : {extent(lower), extent(upper), extent(ridge), extent(diagonal)}) check_length(other, n);
        if ((row ? extent(*row) : n_rows) != n)
            throw std::invalid_argument("the kernel and the problem must have the same number of rows");
        for (Index i = 0; row && i < n; ++i)
            if (row->data()[i] < 0 || row->data()[i] >= n_rows)
                throw std::invalid_argument("a variable's row lies outside the kernel matrix");
    }

    Index size() const { return extent(p); }
    const Index* rows() const { return row ? row->data() : nullptr; }

private:
    static Doubles vector_at(const nb::tuple& t, std::size_t k) {
        if (t.size() != 5) throw std::invalid_argument("a problem is (p, lower, upper, ridge, diagonal)");
        return element<Doubles>(t, k, true);
    }
};

// Arrays that are changed in place are never converted.
MutableDoubles changed(const nb::tuple& t, std::size_t k, Index n) {
    const auto array = element<MutableDoubles>(t, k, false);
    check_length(extent(array), n);
    return array;
}

// Three lines, one number each for every program.
double* verdict_lines(const MutableMatrix<double>& verdict, Index count) {
    if (extent(verdict) != 3) throw std::invalid_argument("a verdict has lines for offsets, gaps and objectives");
    check_length(extent(verdict, 1), count);
    return verdict.data();
}

// start is (anchor, image) or None, report (beta, gradient, n_iter, status, verdict): beta is where the programs begin
// and, with the gradient there, where they end; the verdict has a line each for offsets, gaps and objectives.
void solve_programs_of(const Rows& rows, const nb::tuple& problem, std::optional<Indices> row, Indices ends,
                       Doubles tol, std::optional<nb::tuple> start, bool rough, const nb::object& options,
                       int n_threads, const nb::tuple& report) {
    const ProgramArrays arrays(problem, row, rows.supply->size());
    const Index n = arrays.size(), count = extent(tol);
    check_ends(ends, count, n);
    if (report.size() != 5) throw std::invalid_argument("a report is (beta, gradient, n_iter, status, verdict)");
    const auto beta = changed(report, 0, n), gradient = changed(report, 1, n);
    const auto n_iter = element<MutableIndices>(report, 2, false);
    const auto status = element<MutableFlags>(report, 3, false);
    check_length(extent(n_iter), count);
    check_length(extent(status), count);
    double* const verdict = verdict_lines(element<MutableMatrix<double>>(report, 4, false), count);
    std::optional<Doubles> anchor, image;
    if (start) {
        if (start->size() != 2) throw std::invalid_argument("a start is (anchor, image)");
        anchor = element<Doubles>(*start, 0, true);
        image = element<Doubles>(*start, 1, true);
        check_length(extent(*anchor), n);
        check_length(extent(*image), n);
    }
    const Programs programs{arrays.p.data(),
                            arrays.lower.data(),
                            arrays.upper.data(),
                            arrays.ridge.data(),
                            arrays.diagonal.data(),
                            arrays.rows(),
                            ends.data(),
                            count,
                            tol.data(),
                            anchor ? anchor->data() : nullptr,
                            image ? image->data() : nullptr,
                            rough};
    const SmoOptions settings = options_of(options, n_threads);
    nb::gil_scoped_release unlocked;
    solve_programs(
        *rows.supply, programs, settings,
        {beta.data(), gradient.data(), n_iter.data(), status.data(), verdict, verdict + count, verdict + 2 * count});
}

// Fills a line each with the offsets, gaps and objectives of points of programs laid end to end.
void judge_programs(Doubles p, Doubles lower, Doubles upper, Doubles beta, Doubles gradient, Indices ends,
                    MutableMatrix<double> verdict) {
    const Index n = extent(p), count = extent(ends) - 1;
    for (Index other : {extent(lower), extent(upper), extent(beta), extent(gradient)}) check_length(other, n);
    check_ends(ends, count, n);
    double* const lines = verdict_lines(verdict, count);
    nb::gil_scoped_release unlocked;
    for (Index k = 0; k < count; ++k) {
        const Index first = ends.data()[k];
        const SmoProblem problem{p.data() + first, lower.data() + first,      upper.data() + first, nullptr,
                                 nullptr,          ends.data()[k + 1] - first};
        const Verdict found = verdict_of(problem, beta.data() + first, gradient.data() + first);
        lines[k] = found.offset;
        lines[count + k] = found.gap;
        lines[2 * count + k] = found.objective;
    }
}

// Solves some rows of the program of all classes; multipliers and gradient are changed in place. Returns the steps.
Index solve_class_rows_of(Matrix<double> matrix, Doubles diagonal, Matrix<double> upper, MutableMatrix<double> alpha,
                          MutableMatrix<double> gradient, double goal, Index most) {
    const Index n = extent(diagonal), k = extent(upper, 1);
    for (Index other : {extent(matrix), extent(matrix, 1), extent(upper), extent(alpha), extent(gradient)})
        check_length(other, n);
    for (Index other : {extent(alpha, 1), extent(gradient, 1)}) check_length(other, k);
    if (k < 1) throw std::invalid_argument("there must be a class");
    nb::gil_scoped_release unlocked;
    return solve_class_rows({matrix.data(), diagonal.data(), upper.data(), alpha.data(), gradient.data(), n, k}, goal,
                            most);
}

// Solves one program for rising prices. The problem is that of price 1, start (beta, image, price), the first two
// changed in place, and report (betas, images, n_iter, status, offsets, gaps) is filled, a line for each price.
Index solve_path_of(const Rows& rows, const nb::tuple& problem, std::optional<Indices> row, Doubles prices,
                    const nb::tuple& start, const nb::object& options, int n_threads, const nb::tuple& report) {
    if (start.size() != 3 || report.size() != 6)
        throw std::invalid_argument(
            "a path has (beta, image, price) and (betas, images, n_iter, status, offsets, gaps)");
    const ProgramArrays arrays(problem, row, rows.supply->size());
    const Index n = arrays.size(), count = extent(prices);
    const auto beta = changed(start, 0, n), image = changed(start, 1, n);
    const auto betas = element<MutableMatrix<double>>(report, 0, false),
               images = element<MutableMatrix<double>>(report, 1, false);
    const auto n_iter = element<MutableIndices>(report, 2, false);
    const auto status = element<MutableFlags>(report, 3, false);
    check_length(extent(betas, 1), n);
    check_length(extent(images, 1), n);
    const auto offsets = element<MutableDoubles>(report, 4, false), gaps = element<MutableDoubles>(report, 5, false);
    for (Index size : {extent(betas), extent(images), extent(n_iter), extent(status), extent(offsets), extent(gaps)})
        if (size != count) throw std::invalid_argument("the report must have a line for each price");
    for (Index k = 0; k < count; ++k)
        if (!(prices.data()[k] > 0.0)) throw std::invalid_argument("a price must be above 0");
    const double price = nb::cast<double>(start[2]);
    if (!(price > 0.0)) throw std::invalid_argument("the price of the start must be above 0");
    const PathProblem path{arrays.p.data(),     arrays.lower.data(),    arrays.upper.data(),
                           arrays.ridge.data(), arrays.diagonal.data(), n};
    const PathPoint at{beta.data(), image.data(), price};
    const SmoOptions settings = options_of(options, n_threads);
    nb::gil_scoped_release unlocked;
    return solve_path(*rows.supply, arrays.rows(), path, prices.data(), count, settings, at,
                      {betas.data(), images.data(), n_iter.data(), status.data(), offsets.data(), gaps.data()});
}

// Drops counts[r] features in round r; the kernel and the point (diagonal, beta, gradient) are changed in place, and
// the report is (dropped, importances, gaps, fitted, seconds).
nb::dict eliminate_features(Matrix<double> columns, Flags fixed, Indices counts, Doubles row_weights,
                            MutableMatrix<double> kernel, const nb::tuple& problem, const nb::tuple& point,
                            const nb::object& options, int n_threads, const nb::tuple& report) {
    const ProgramArrays arrays(problem, std::nullopt, extent(kernel));
    const Index n = arrays.size(), rounds = extent(counts);
    if (point.size() != 3) throw std::invalid_argument("a point is (diagonal, beta, gradient)");
    const auto diagonal = changed(point, 0, n), beta = changed(point, 1, n), gradient = changed(point, 2, n);
    const SmoProblem quadratic{arrays.p.data(),     arrays.lower.data(), arrays.upper.data(),
                               arrays.ridge.data(), diagonal.data(),     n};
    if (extent(columns, 1) != n || extent(kernel) != n || extent(kernel, 1) != n || extent(row_weights) != n)
        throw std::invalid_argument("features, kernel matrix and weights must have as many rows as the problem");
    if (extent(fixed) != extent(columns)) throw std::invalid_argument("each feature must be marked as fixed or not");
    Index total = 0, removable = 0;
    for (Index r = 0; r < rounds; ++r) {
        if (counts.data()[r] < 1) throw std::invalid_argument("each round must drop a feature");
        total += counts.data()[r];
    }
    for (Index j = 0; j < extent(fixed); ++j) removable += fixed.data()[j] == 0;
    if (total > removable) throw std::invalid_argument("there are fewer features than shall be dropped");
    if (report.size() != 5) throw std::invalid_argument("a report is (dropped, importances, gaps, fitted, seconds)");
    const auto dropped = element<MutableIndices>(report, 0, false);
    const auto importances = element<MutableDoubles>(report, 1, false),
               gaps = element<MutableDoubles>(report, 2, false), fitted = element<MutableDoubles>(report, 3, false),
               seconds = element<MutableDoubles>(report, 4, false);
    if (extent(dropped) != total || extent(importances) != total || extent(gaps) != rounds ||
        extent(fitted) != rounds || extent(seconds) != rounds)
        throw std::invalid_argument("the report has the wrong size");
    const EliminationPlan plan{columns.data(), extent(columns), fixed.data(),
                               counts.data(),  rounds,          row_weights.data()};
    const EliminationReport lines{dropped.data(), importances.data(), gaps.data(), fitted.data(), seconds.data()};
    const SmoOptions settings = options_of(options, n_threads);
    const EliminationResult result = [&] {
        nb::gil_scoped_release unlocked;
        return eliminate(plan, kernel.data(), diagonal.data(), quadratic, {beta.data(), gradient.data()}, settings,
                         lines);
    }();
    nb::dict answer;
    answer["status"] = name_of(result.status);
    answer["n_rounds"] = result.n_rounds;
    return answer;
}

// An array of undefined contents whose memory is kept for the next one when it is no longer needed.
template <class T>
nb::ndarray<nb::numpy, T> kept_array(Index n_rows, Index n_columns) {
    if (n_rows < 0 || n_columns < 0) throw std::invalid_argument("an array cannot have a negative size");
    auto* buffer = new Buffer<T>(n_rows * n_columns);
    nb::capsule owner(buffer, [](void* memory) noexcept { delete static_cast<Buffer<T>*>(memory); });
    return {buffer->data(), {unsigned_of(n_rows), unsigned_of(n_columns)}, owner};
}

template <class T>
void fill_kernel_matrix(Matrix<T> left, Matrix<T> right, int family, double gamma, double coef0, int degree,
                        double factor, MutableMatrix<T> out, int n_threads) {
    if (extent(left, 1) != extent(right, 1))
        throw std::invalid_argument("both sides must have the same number of columns");
    if (extent(out) != extent(left) || extent(out, 1) < extent(right))
        throw std::invalid_argument("the result has the wrong shape");
    const KernelShape shape = shape_of(family, gamma, coef0, degree, factor);
    nb::gil_scoped_release unlocked;
    const Index d = extent(left, 1);
    Pool pool(n_threads);
    const PackedRows<T> a(left.data(), extent(left), d, shape, pool);
    const PackedRows<T> b(right.data(), extent(right), d, shape, pool);
    kernel_matrix<T>(b.suited(a.suited(shape)), a, b, out.data(), extent(out, 1), pool);
}

// out += the chosen rows of a matrix, each times its weight.
template <class T>
void add_weighted_rows(Matrix<T> kernel, Indices rows, Doubles weights, MutableDoubles out) {
    if (extent(weights) != extent(rows)) throw std::invalid_argument("each row needs its weight");
    if (extent(out) > extent(kernel, 1)) throw std::invalid_argument("the result has the wrong shape");
    Array<const T*> chosen;
    for (Index k = 0; k < extent(rows); ++k) {
        const Index row = rows.data()[k];
        if (row < 0 || row >= extent(kernel)) throw std::invalid_argument("a row lies outside the matrix");
        chosen.push_back(kernel.data() + row * extent(kernel, 1));
    }
    nb::gil_scoped_release unlocked;
    hot_loops<T>().add_rows(chosen.data(), weights.data(), chosen.size(), 0, extent(out), out.data());
}

// Makes variables at their bounds sum to zero; see bounded_start.hpp. Both vectors are changed in place.
template <class T>
bool release_excess_of(Matrix<T> kernel, Index most, MutableDoubles beta, MutableDoubles image) {
    const StoredRows<T> rows{kernel.data(), extent(kernel), extent(kernel, 1)};
    if (rows.n > rows.stride) throw std::invalid_argument("the kernel matrix must have a column for each row");
    if (most < 0) throw std::invalid_argument("the number of variables to release must not be negative");
    check_length(extent(beta), rows.n);
    check_length(extent(image), rows.n);
    nb::gil_scoped_release unlocked;
    return release_excess(rows, most, beta.data(), image.data());
}

// Says of each row whether any of its entries in the chosen columns is at least so large.
template <class T>
void mark_rows_that_reach(Matrix<T> kernel, Indices rows, Indices columns, double least, MutableFlags out) {
    check_length(extent(out), extent(rows));
    const auto lies_outside = [](Indices places, Index end) {
        return std::any_of(places.data(), places.data() + extent(places),
                           [end](Index place) { return place < 0 || place >= end; });
    };
    if (lies_outside(rows, extent(kernel)) || lies_outside(columns, extent(kernel, 1)))
        throw std::invalid_argument("a row or column lies outside the matrix");
    nb::gil_scoped_release unlocked;
    for (Index k = 0; k < extent(rows); ++k) {
        const T* const row = kernel.data() + rows.data()[k] * extent(kernel, 1);
        const auto reaches = [row, least](Index column) { return std::abs(row[column]) >= least; };
        out.data()[k] = std::any_of(columns.data(), columns.data() + extent(columns), reaches);
    }
}

// Points packed once for kernel values with others, as often as those come.
template <class T>
struct PackedPoints {
    PackedRows<T> rows;
    KernelShape shape;
};

template <class T>
PackedPoints<T> pack_points(Matrix<T> points, int family, double gamma, double coef0, int degree, double factor,
                            int n_threads) {
    const KernelShape shape = shape_of(family, gamma, coef0, degree, factor);
    nb::gil_scoped_release unlocked;
    Pool pool(n_threads);
    return {PackedRows<T>(points.data(), extent(points), extent(points, 1), shape, pool), shape};
}

template <class T>
void fill_kernel_products(Matrix<T> left, const PackedPoints<T>& right, Matrix<double> coefficients, Indices ends,
                          bool wide, MutableMatrix<double> out, int n_threads) {
    if (extent(left, 1) != right.rows.n_features())
        throw std::invalid_argument("both sides must have the same number of columns");
    if (extent(coefficients, 1) != right.rows.size())
        throw std::invalid_argument("each right-hand row needs its coefficients");
    const Array<Index> segments(ends.data(), ends.data() + extent(ends));
    if (segments.size() < 2 || segments.front() != 0 || segments.back() != right.rows.size())
        throw std::invalid_argument("the segments must cover all right-hand rows");
    for (Index s = 1; s < segments.size(); ++s)
        if (segments[s] < segments[s - 1]) throw std::invalid_argument("the ends of the segments must not decrease");
    if (extent(out) != extent(left) || extent(out, 1) != (segments.size() - 1) * extent(coefficients))
        throw std::invalid_argument("the result has the wrong shape");
    nb::gil_scoped_release unlocked;
    Pool pool(n_threads);
    const PackedRows<T> rows(left.data(), extent(left), extent(left, 1), right.shape, pool);
    kernel_products<T>(right.rows.suited(rows.suited(right.shape)), rows, right.rows, coefficients.data(),
                       extent(coefficients), segments, wide, out.data(), pool);
}

template <class T>
void register_for(nb::module_& m) {
    m.def("matrix_rows", &matrix_rows<T>, "kernel"_a.noconvert());
    m.def("fill_kernel_matrix", &fill_kernel_matrix<T>, "left"_a.noconvert(), "right"_a.noconvert(), "family"_a,
          "gamma"_a, "coef0"_a, "degree"_a, "factor"_a, "out"_a.noconvert(), "n_threads"_a);
    m.def("add_weighted_rows", &add_weighted_rows<T>, "kernel"_a.noconvert(), "rows"_a, "weights"_a,
          "out"_a.noconvert());
    m.def("release_excess", &release_excess_of<T>, "kernel"_a.noconvert(), "most"_a, "beta"_a.noconvert(),
          "image"_a.noconvert());
    m.def("mark_rows_that_reach", &mark_rows_that_reach<T>, "kernel"_a.noconvert(), "rows"_a, "columns"_a, "least"_a,
          "out"_a.noconvert());
    nb::class_<PackedPoints<T>>(m, sizeof(T) == 4 ? "PackedPointsF32" : "PackedPointsF64");
    m.def("pack_points", &pack_points<T>, "points"_a.noconvert(), "family"_a, "gamma"_a, "coef0"_a, "degree"_a,
          "factor"_a, "n_threads"_a);
    m.def("fill_kernel_products", &fill_kernel_products<T>, "left"_a.noconvert(), "right"_a,
          "coefficients"_a.noconvert(), "ends"_a, "wide"_a, "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace
}  // namespace mercer

NB_MODULE(_engine, m) {
    m.doc() = "Compiled loops of mercer: kernel values and block SMO over plain arrays.";
    nb::set_leak_warnings(false);  // a model that somebody holds to the very end of the interpreter is no leak
    mercer::instruction_set();     // refuses an unknown wish now rather than in the middle of a fit
    nb::class_<mercer::Rows>(m, "Rows");
    mercer::register_for<float>(m);
    mercer::register_for<double>(m);
    m.def("point_rows", &mercer::point_rows, "points"_a.noconvert(), "family"_a, "gamma"_a, "coef0"_a, "degree"_a,
          "factor"_a);
    m.def("stacked_rows", &mercer::stacked_rows, "kernels"_a.noconvert(), "n_each"_a);
    m.def("requested_rows", &mercer::requested_rows, "request"_a, "n"_a);
    m.def("solve_programs", &mercer::solve_programs_of, "rows"_a, "problem"_a, "row"_a.none(), "ends"_a, "tol"_a,
          "start"_a.none(), "rough"_a, "options"_a, "n_threads"_a, "report"_a);
    m.def("judge_programs", &mercer::judge_programs, "p"_a, "lower"_a, "upper"_a, "beta"_a, "gradient"_a, "ends"_a,
          "verdict"_a.noconvert());
    m.def("solve_class_rows", &mercer::solve_class_rows_of, "matrix"_a, "diagonal"_a, "upper"_a, "alpha"_a.noconvert(),
          "gradient"_a.noconvert(), "goal"_a, "most"_a);
    m.def("solve_path", &mercer::solve_path_of, "rows"_a, "problem"_a, "row"_a.none(), "prices"_a, "start"_a,
          "options"_a, "n_threads"_a, "report"_a);
    m.def("eliminate_features", &mercer::eliminate_features, "columns"_a.noconvert(), "fixed"_a.noconvert(),
          "counts"_a.noconvert(), "row_weights"_a.noconvert(), "kernel"_a.noconvert(), "problem"_a, "point"_a,
          "options"_a, "n_threads"_a, "report"_a);
    m.def("kept_array_f32", &mercer::kept_array<float>, "n_rows"_a, "n_columns"_a);
    m.def("kept_array_f64", &mercer::kept_array<double>, "n_rows"_a, "n_columns"_a);
    m.def("release_kept_memory", &mercer::release_kept_memory);
    m.def("instruction_set", &mercer::instruction_set);
    m.attr("ROW_PADDING") = mercer::row_padding;
    m.attr("FEW_VARIABLES") = mercer::few_variables;
    m.attr("FEW_ROWS") = mercer::few_rows;
    m.attr("SINGLE_MARGIN") = mercer::single_margin;
    m.attr("SINGLE_ROUNDING") = mercer::single_rounding;
}
