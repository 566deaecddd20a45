// Compiled once for each instruction set, with MERCER_TARGET naming the set. No standard containers here:
// an inline function of the library compiled for a large instruction set must not leak into the others.
#include "hot_loops.hpp"

#include <cmath>

#include "vectors.hpp"

namespace mercer {
namespace {

// Queries in one register tile: as many accumulators as the registers hold.
#if defined(__AVX512F__)
template <class T>
constexpr int tile_queries = 8;
#elif defined(__AVX2__) || defined(__aarch64__)
template <class T>
constexpr int tile_queries = sizeof(T) == 4 ? 6 : 3;
#else
template <class T>
constexpr int tile_queries = sizeof(T) == 4 ? 3 : 1;
#endif

template <class T>
constexpr int panel_vectors = panel_rows / lanes<T>;

template <class T>
Vector<T> square_root(Vector<T> v) {
    for (int i = 0; i < lanes<T>; ++i) v[i] = std::sqrt(v[i]);
    return v;
}

template <class T>
Vector<T> integer_power(Vector<T> base, int degree) {
    Vector<T> result = fill(T(1));
    for (; degree > 0; degree >>= 1) {
        if (degree & 1) result = result * base;
        base = base * base;
    }
    return result;
}

// From the accumulated number to the kernel value.
template <Family F, class T>
Vector<T> finish(Vector<T> sum, const KernelShape& shape) {
    const Vector<T> zero = fill(T(0)), one = fill(T(1));
    Vector<T> value = sum;
    if constexpr (F == Family::rbf) value = exponential(smaller(sum, zero));
    if constexpr (F == Family::rbf_by_difference) value = exponential(sum * fill(T(-0.5)));
    if constexpr (F == Family::laplacian) value = exponential(-sum);
    if constexpr (F == Family::euclidean_laplacian) value = exponential(-square_root<T>(sum));
    if constexpr (F == Family::polynomial)
        value = integer_power<T>(sum * fill(T(shape.gamma)) + fill(T(shape.coef0)), shape.degree);
    if constexpr (F == Family::sigmoid) {
        const Vector<T> z = sum * fill(T(shape.gamma)) + fill(T(shape.coef0));
        value = one - fill(T(2)) / (exponential(z + z) + one);
    }
    return value * fill(T(shape.factor));
}

// What one feature of two points adds to the sum.
template <Family F, class T>
Vector<T> accumulate(Vector<T> sum, Vector<T> x, Vector<T> y) {
    const Vector<T> difference = x - y;
    if constexpr (F == Family::laplacian) return sum + larger(difference, -difference);
    if constexpr (F == Family::euclidean_laplacian || F == Family::rbf_by_difference) return sum + difference * difference;
    return sum + x * y;
}

// Q queries against P neighbouring panels, all sums in registers.
template <Family F, class T, int Q, int P>
void micro_tile(const KernelShape& shape, const T* queries, const T* query_halves, const Panels<T>& data,
                std::int64_t panel, T* const* out) {
    constexpr int V = panel_vectors<T>;
    const std::int64_t d = data.n_features;
    Vector<T> sum[Q][P * V];
    for (int q = 0; q < Q; ++q)
        for (int v = 0; v < P * V; ++v)
            sum[q][v] = F == Family::rbf
                            ? -(fill(query_halves[q]) + load(data.halves + panel * panel_rows + v * lanes<T>))
                            : fill(T(0));
    const T* base = data.values + panel * d * panel_rows;
    for (std::int64_t k = 0; k < d; ++k) {
        Vector<T> x[P * V];
        for (int p = 0; p < P; ++p)
            for (int v = 0; v < V; ++v)
                x[p * V + v] = load(base + (p * d + k) * panel_rows + v * lanes<T>);
        for (int q = 0; q < Q; ++q) {
            const Vector<T> y = fill(queries[q * d + k]);
            for (int v = 0; v < P * V; ++v) sum[q][v] = accumulate<F, T>(sum[q][v], x[v], y);
        }
    }
    for (int q = 0; q < Q; ++q)
        for (int v = 0; v < P * V; ++v)
            store(out[q] + panel * panel_rows + v * lanes<T>, finish<F, T>(sum[q][v], shape));
}

template <Family F, class T, int Q>
void panel_strip(const KernelShape& shape, const T* queries, const T* query_halves, const Panels<T>& data,
                 std::int64_t begin, std::int64_t end, T* const* out) {
    constexpr int P = sizeof(T) == 4 && tile_queries<T> == 8 ? 2 : 1;
    std::int64_t panel = begin;
    for (; panel + P <= end; panel += P) micro_tile<F, T, Q, P>(shape, queries, query_halves, data, panel, out);
    for (; panel < end; ++panel) micro_tile<F, T, Q, 1>(shape, queries, query_halves, data, panel, out);
}

template <Family F, class T>
void family_tile(const KernelShape& shape, const Queries<T>& queries, const Panels<T>& data,
                 std::int64_t begin, std::int64_t end, T* const* out) {
    constexpr int Q = tile_queries<T>;
    // A strip of panels that stays in the second-level cache while all queries pass over it.
    const std::int64_t wanted = (1 << 17) / (static_cast<std::int64_t>(sizeof(T)) * panel_rows * (data.n_features + 1));
    const std::int64_t strip = wanted < 2 ? 2 : wanted;
    for (std::int64_t first = begin; first < end; first += strip) {
        const std::int64_t last = first + strip < end ? first + strip : end;
        std::int64_t q = 0;
        for (; q + Q <= queries.count; q += Q)
            panel_strip<F, T, Q>(shape, queries.values + q * data.n_features, queries.halves + q, data, first, last, out + q);
        if constexpr (Q > 4)
            for (; q + 4 <= queries.count; q += 4)
                panel_strip<F, T, 4>(shape, queries.values + q * data.n_features, queries.halves + q, data, first, last, out + q);
        for (; q < queries.count; ++q)
            panel_strip<F, T, 1>(shape, queries.values + q * data.n_features, queries.halves + q, data, first, last, out + q);
    }
}

template <class T>
void tile(const KernelShape& shape, const Queries<T>& queries, const Panels<T>& data, std::int64_t begin,
          std::int64_t end, T* const* out) {
    switch (shape.family) {
        case Family::linear: return family_tile<Family::linear>(shape, queries, data, begin, end, out);
        case Family::polynomial: return family_tile<Family::polynomial>(shape, queries, data, begin, end, out);
        case Family::rbf: return family_tile<Family::rbf>(shape, queries, data, begin, end, out);
        case Family::laplacian: return family_tile<Family::laplacian>(shape, queries, data, begin, end, out);
        case Family::euclidean_laplacian:
            return family_tile<Family::euclidean_laplacian>(shape, queries, data, begin, end, out);
        case Family::sigmoid: return family_tile<Family::sigmoid>(shape, queries, data, begin, end, out);
        case Family::rbf_by_difference:
            return family_tile<Family::rbf_by_difference>(shape, queries, data, begin, end, out);
    }
}

// Four rows at a time, so that the running sum travels to the first-level cache once for four products.
template <class T>
void add_rows(const T* const* rows, const double* weights, std::int64_t count, std::int64_t begin,
              std::int64_t end, double* sum) {
    std::int64_t q = 0;
    for (; q + 4 <= count; q += 4) {
        const T *a = rows[q], *b = rows[q + 1], *c = rows[q + 2], *e = rows[q + 3];
        const double wa = weights[q], wb = weights[q + 1], wc = weights[q + 2], we = weights[q + 3];
        for (std::int64_t i = begin; i < end; ++i)
            sum[i] += (wa * double(a[i]) + wb * double(b[i])) + (wc * double(c[i]) + we * double(e[i]));
    }
    for (; q < count; ++q) {
        const T* a = rows[q];
        const double wa = weights[q];
        for (std::int64_t i = begin; i < end; ++i) sum[i] += wa * double(a[i]);
    }
}

// Q rows against one coefficient vector, which is loaded once for all of them.
template <class T, int Q>
void dot_strip(const T* const* rows, const T* coefficients, std::int64_t length, double* out, std::int64_t out_stride) {
    Vector<T> sum[Q];
    for (int q = 0; q < Q; ++q) sum[q] = fill(T(0));
    std::int64_t i = 0;
    for (; i + lanes<T> <= length; i += lanes<T>) {
        const Vector<T> c = load(coefficients + i);
        for (int q = 0; q < Q; ++q) sum[q] = sum[q] + c * load(rows[q] + i);
    }
    for (int q = 0; q < Q; ++q) {
        double total = double(horizontal_sum<T>(sum[q]));
        for (std::int64_t k = i; k < length; ++k) total += double(coefficients[k]) * double(rows[q][k]);
        out[q * out_stride] += total;
    }
}

template <class T>
void dot_rows(const T* const* rows, std::int64_t count, const T* coefficients, std::int64_t n_coefficients, std::int64_t stride,
              std::int64_t begin, std::int64_t end, double* out, std::int64_t out_stride) {
    constexpr int Q = 8;
    for (std::int64_t r = 0; r < n_coefficients; ++r) {
        const T* vector = coefficients + r * stride + begin;
        std::int64_t q = 0;
        for (; q + Q <= count; q += Q) dot_strip<T, Q>(rows + q, vector, end - begin, out + q * out_stride + r, out_stride);
        for (; q < count; ++q) dot_strip<T, 1>(rows + q, vector, end - begin, out + q * out_stride + r, out_stride);
    }
}

constexpr double huge_penalty = 1e30;

// The largest value and where it stands, kept lane by lane.
template <class T>
struct Best {
    using Index = typename IndexOf<T>::type;
    Vector<T> value;
    Vector<Index> where;

    explicit Best(T start) : value(fill(start)), where(fill(Index(0))) {}

    void offer(const Vector<T>& candidate, const Vector<Index>& index) {
        const auto better = candidate > value;
        value = choose(better, candidate, value);
        where = choose(better, index, where);
    }

    // Ties go to the smallest index, so that the choice does not depend on the lanes.
    std::int64_t pick(T& best) const {
        std::int64_t at = where[0];
        best = value[0];
        for (int i = 1; i < lanes<T>; ++i)
            if (value[i] > best || (value[i] == best && where[i] < at)) {
                best = value[i];
                at = where[i];
            }
        return at;
    }
};

template <class T>
Vector<typename IndexOf<T>::type> counting() {
    Vector<typename IndexOf<T>::type> v;
    for (int i = 0; i < lanes<T>; ++i) v[i] = i;
    return v;
}

// gradient += a * row_i + b * row_j, and at the same time the largest -gradient among those that may
// rise and the smallest among those that may fall.
template <class T>
std::int64_t update_and_select(InnerProblem<T>& w, const T* row_i, const T* row_j, T a, T b, T& highest, T& lowest) {
    using Index = typename IndexOf<T>::type;
    Best<T> up0(T(-2 * huge_penalty)), up1(T(-2 * huge_penalty));
    Vector<T> low0 = fill(T(2 * huge_penalty)), low1 = low0;
    Vector<Index> index = counting<T>();
    const Vector<Index> advance = fill(Index(lanes<T>));
    const Vector<T> va = fill(a), vb = fill(b);
    for (std::int64_t t = 0; t < w.stride; t += 2 * lanes<T>) {
        const std::int64_t s = t + lanes<T>;
        const Vector<T> g0 = load(w.gradient + t) + va * load(row_i + t) + vb * load(row_j + t);
        const Vector<T> g1 = load(w.gradient + s) + va * load(row_i + s) + vb * load(row_j + s);
        store(w.gradient + t, g0);
        store(w.gradient + s, g1);
        up0.offer(load(w.up_penalty + t) - g0, index);
        index = index + advance;
        up1.offer(load(w.up_penalty + s) - g1, index);
        index = index + advance;
        low0 = smaller(low0, load(w.low_penalty + t) - g0);
        low1 = smaller(low1, load(w.low_penalty + s) - g1);
    }
    lowest = -horizontal_max<T>(-smaller(low0, low1));
    up0.offer(up1.value, up1.where);
    return up0.pick(highest);
}

// The partner with the largest decrease of the objective by second order; floors the curvature so that
// rounding cannot make it vanish.
template <class T>
std::int64_t select_partner(const InnerProblem<T>& w, std::int64_t i, T highest, T floor_share) {
    using Index = typename IndexOf<T>::type;
    Best<T> best0(T(-1)), best1(T(-1));
    Vector<Index> index = counting<T>();
    const Vector<Index> advance = fill(Index(lanes<T>));
    const T* row = w.kernel + i * w.stride;
    const Vector<T> top = fill(highest), own = fill(w.diagonal[i]), two = fill(T(2)), share = fill(floor_share);
    const Vector<T> zero = fill(T(0)), tiny = fill(T(1e-30));
    for (std::int64_t t = 0; t < w.stride; t += 2 * lanes<T>) {
        const std::int64_t s = t + lanes<T>;
        const Vector<T> d0 = larger(top + load(w.gradient + t) - load(w.low_penalty + t), zero);
        const Vector<T> d1 = larger(top + load(w.gradient + s) - load(w.low_penalty + s), zero);
        const Vector<T> k0 = own + load(w.diagonal + t), k1 = own + load(w.diagonal + s);
        const Vector<T> c0 = larger(k0 - two * load(row + t), k0 * share + tiny);
        const Vector<T> c1 = larger(k1 - two * load(row + s), k1 * share + tiny);
        best0.offer(d0 * d0 / c0, index);
        index = index + advance;
        best1.offer(d1 * d1 / c1, index);
        index = index + advance;
    }
    best0.offer(best1.value, best1.where);
    T gain;
    return best0.pick(gain);
}

template <class T>
void set_penalties(InnerProblem<T>& w, std::int64_t i) {
    w.up_penalty[i] = w.beta[i] < w.upper[i] ? T(0) : T(-huge_penalty);
    w.low_penalty[i] = w.beta[i] > w.lower[i] ? T(0) : T(huge_penalty);
}

// Upper Cholesky factor in place, row by row; false where the matrix is not positive definite.
bool factorise(double* a, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
        double* pivot = a + k * n;
        if (!(pivot[k] > 0.0)) return false;
        const double scale = 1.0 / std::sqrt(pivot[k]);
        for (std::int64_t j = k; j < n; ++j) pivot[j] *= scale;
        for (std::int64_t i = k + 1; i < n; ++i) {
            const double factor = pivot[i];
            double* row = a + i * n;
            for (std::int64_t j = i; j < n; ++j) row[j] -= factor * pivot[j];
        }
    }
    return true;
}

// Solves U'U x = b in place.
void solve_factorised(const double* a, std::int64_t n, double* b) {
    for (std::int64_t k = 0; k < n; ++k) {
        b[k] /= a[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j) b[j] -= a[k * n + j] * b[k];
    }
    for (std::int64_t k = n - 1; k >= 0; --k) {
        double sum = b[k];
        for (std::int64_t j = k + 1; j < n; ++j) sum -= a[k * n + j] * b[j];
        b[k] = sum / a[k * n + k];
    }
}

struct NewtonStep {
    double gain = 0.0;     // by how much the objective went down
    bool blocked = false;  // ended at a bound, so that another step on fewer variables may follow
};

// Minimises over the variables strictly between their bounds at once, as far as the bounds allow. Pairs of
// variables make little headway where many depend on each other; there this replaces thousands of their steps.
template <class T>
NewtonStep newton_step(InnerProblem<T>& w) {
    const double jitter = sizeof(T) == 4 ? 1e-6 : 1e-12;
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < w.size; ++i) {
        if (w.up_penalty[i] != T(0) || w.low_penalty[i] != T(0)) continue;
        if (n == free_limit) return {};
        w.free[n++] = i;
    }
    if (n < 2) return {};
    double* matrix = w.workspace;
    double *direction = matrix + n * n, *ones = direction + n, *image = ones + n;
    for (std::int64_t a = 0; a < n; ++a) {
        const T* row = w.kernel + w.free[a] * w.stride;
        for (std::int64_t b = a; b < n; ++b) matrix[a * n + b] = double(row[w.free[b]]);
        matrix[a * n + a] *= 1.0 + jitter;
        direction[a] = -double(w.gradient[w.free[a]]);
        ones[a] = 1.0;
        image[a] = 0.0;
    }
    if (!factorise(matrix, n)) return {};
    solve_factorised(matrix, n, direction);
    solve_factorised(matrix, n, ones);
    double sum_direction = 0.0, sum_ones = 0.0;
    for (std::int64_t a = 0; a < n; ++a) {
        sum_direction += direction[a];
        sum_ones += ones[a];
    }
    if (!(sum_ones > 0.0)) return {};
    double excess = 0.0;
    for (std::int64_t a = 0; a < n; ++a) {
        direction[a] -= sum_direction / sum_ones * ones[a];  // the sum of all variables stays as it is,
        excess += direction[a];
    }
    double slope = 0.0, curvature = 0.0, room = 1e300;
    std::int64_t nearest = -1;
    for (std::int64_t a = 0; a < n; ++a) {
        direction[a] -= excess / double(n);  // also where rounding has left something over
        const std::int64_t i = w.free[a];
        slope += direction[a] * double(w.gradient[i]);
        const double space = direction[a] > 0.0 ? w.upper[i] - w.beta[i] : w.lower[i] - w.beta[i];
        if (direction[a] != 0.0 && space / direction[a] < room) {
            room = space / direction[a];
            nearest = a;
        }
    }
    for (std::int64_t a = 0; a < n; ++a) {
        const T* row = w.kernel + w.free[a] * w.stride;
        for (std::int64_t b = 0; b < n; ++b) image[b] += direction[a] * double(row[w.free[b]]);
    }
    for (std::int64_t a = 0; a < n; ++a) curvature += direction[a] * image[a];
    if (!(slope < 0.0) || !(curvature > 0.0)) return {};
    const bool blocked = -slope / curvature >= room;
    const double length = blocked ? room : -slope / curvature;
    for (std::int64_t a = 0; a < n; ++a) {
        const std::int64_t i = w.free[a];
        w.beta[i] += length * direction[a];
        if (blocked && a == nearest) w.beta[i] = direction[a] > 0.0 ? w.upper[i] : w.lower[i];
        if (!(w.beta[i] < w.upper[i])) w.beta[i] = w.upper[i];
        if (!(w.beta[i] > w.lower[i])) w.beta[i] = w.lower[i];
        set_penalties(w, i);
        const T change = T(length * direction[a]);
        const T* row = w.kernel + i * w.stride;
        for (std::int64_t t = 0; t < w.stride; ++t) w.gradient[t] += change * row[t];
    }
    return {-length * slope - 0.5 * length * length * curvature, blocked};
}

// What a Newton step costs, in pair steps.
template <class T>
std::int64_t newton_price(const InnerProblem<T>& w) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < w.size && n < free_limit; ++i) n += w.up_penalty[i] == T(0) && w.low_penalty[i] == T(0);
    return 100 + n * n * n / 6000 + n * w.stride / 1000;
}

// Takes Newton steps now and then, for a few times the cost of the pair steps since the last ones; less often
// where they lower the objective less for what they cost. Returns the decrease, 0 where no step was due or helped.
template <class T>
double scheduled_newton(InnerProblem<T>& w) {
    NewtonSchedule& schedule = *w.newton;
    if (++schedule.steps < schedule.due) return 0.0;
    const std::int64_t earned = schedule.steps - schedule.last;
    std::int64_t price = newton_price(w), spent = 0;
    if (price > earned) {
        schedule.due = schedule.last + price;
        return 0.0;
    }
    double gain = 0.0;
    for (bool blocked = true; blocked && spent + price <= 4 * earned; price = newton_price(w)) {
        const NewtonStep step = newton_step(w);
        gain += step.gain;
        spent += price;
        blocked = step.blocked;
    }
    const bool paid = gain * double(earned) > schedule.pair_gain * double(spent);
    schedule.wait = paid ? shortest_wait : 2 * schedule.wait;
    schedule.last = schedule.steps;
    schedule.pair_gain = 0.0;
    schedule.due = schedule.steps + schedule.wait;
    return gain;
}

template <class T>
InnerResult inner_smo(InnerProblem<T>& w) {
    const double floor_share = sizeof(T) == 4 ? 2.5e-7 : 1e-13;
    for (std::int64_t i = 0; i < w.size; ++i) set_penalties(w, i);
    InnerResult result{0, 0.0, 0.0, 0.0};
    const T *row_i = w.kernel, *row_j = w.kernel;
    T moved = 0;
    for (;;) {
        T highest, lowest;
        const std::int64_t i = update_and_select(w, row_i, row_j, moved, T(-moved), highest, lowest);
        result.last_violation = double(highest) - double(lowest);
        if (result.n_iter == 0) result.first_violation = result.last_violation;
        if (!(result.last_violation > w.tol) || result.n_iter >= w.max_iter) return result;
        const double gained = scheduled_newton(w);
        if (gained > 0.0) {  // another look at everything before the next pair
            result.gain += gained;
            moved = 0;
            ++result.n_iter;
            continue;
        }
        const std::int64_t j = select_partner(w, i, highest, T(floor_share));
        const double difference = double(highest) + double(w.gradient[j]);
        const double scale = double(w.diagonal[i]) + double(w.diagonal[j]);
        double curvature = scale - 2.0 * double(w.kernel[i * w.stride + j]);
        if (!(curvature > floor_share * scale)) curvature = floor_share * scale + 1e-300;
        double step = difference / curvature;
        const double room_i = w.upper[i] - w.beta[i], room_j = w.beta[j] - w.lower[j];
        const double room = room_i < room_j ? room_i : room_j;
        if (step < room) {
            w.beta[i] += step;
            w.beta[j] -= step;
        } else {
            step = room;
            w.beta[i] = room_i <= room ? w.upper[i] : w.beta[i] + step;
            w.beta[j] = room_j <= room ? w.lower[j] : w.beta[j] - step;
        }
        if (!(step > 0.0)) return result;
        const double gain = step * (difference - 0.5 * step * curvature);
        result.gain += gain;
        w.newton->pair_gain += gain;
        moved = T(step);
        row_i = w.kernel + i * w.stride;
        row_j = w.kernel + j * w.stride;
        set_penalties(w, i);
        set_penalties(w, j);
        ++result.n_iter;
    }
}

template <class T>
const HotLoops<T> table = {tile<T>, add_rows<T>, dot_rows<T>, inner_smo<T>};

}  // namespace

#define MERCER_JOIN2(a, b) a##b
#define MERCER_JOIN(a, b) MERCER_JOIN2(a, b)
const HotLoops<float>& MERCER_JOIN(hot_loops_f32_, MERCER_TARGET)() { return table<float>; }
const HotLoops<double>& MERCER_JOIN(hot_loops_f64_, MERCER_TARGET)() { return table<double>; }

}  // namespace mercer
