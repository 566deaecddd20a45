// Working sets solved by inner_smo, against a plain SMO of two loops in double.
//
// The paths differ, what they lead to must not. For two feasible points a and b with the same sum, the first of
// which violates the optimality conditions by v, convexity gives f(a) - f(b) <= v/2 |a - b|_1, so that two solutions
// have objectives that differ by no more than the larger violation allows. A gradient kept in T drifts from the true
// one by a rounding for each step, which add up like independent errors: drift = 4 u sqrt(steps + 16) max|g|.
#pragma once

#include <algorithm>

#include "check_tiles.hpp"
#include "row_source.hpp"

namespace check {

// Minimise 1/2 b'Kb + p'b with l <= b <= u from a feasible start, its sum kept.
struct Program {
    const char* kind;
    Index n;
    std::vector<double> K, p, lower, upper, start;

    double k(Index i, Index j) const { return K[std::size_t(i * n + j)]; }
    std::vector<double> gradient(const std::vector<double>& beta) const {
        std::vector<double> g = p;
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) g[std::size_t(i)] += k(i, j) * beta[std::size_t(j)];
        return g;
    }
    double objective(const std::vector<double>& beta, const std::vector<double>& g) const {
        double f = 0;
        for (std::size_t i = 0; i < beta.size(); ++i) f += 0.5 * beta[i] * (g[i] + p[i]);
        return f;
    }
};

// The most violating pair: i may rise, j may fall; and by how much they violate.
struct Pair {
    Index i = -1, j = -1;
    double violation = 0;
};

inline Pair most_violating(const Program& w, const std::vector<double>& beta, const std::vector<double>& g) {
    Pair found;
    for (Index t = 0; t < w.n; ++t) {
        const std::size_t s = std::size_t(t);
        if (beta[s] < w.upper[s] && (found.i < 0 || g[s] < g[std::size_t(found.i)])) found.i = t;
        if (beta[s] > w.lower[s] && (found.j < 0 || g[s] > g[std::size_t(found.j)])) found.j = t;
    }
    if (found.i >= 0 && found.j >= 0) found.violation = g[std::size_t(found.j)] - g[std::size_t(found.i)];
    return found;
}

// The textbook's SMO: the partner by second order, one pair at a time.
inline std::vector<double> plain_smo(const Program& w, double tol, long most = 3000000) {
    std::vector<double> beta = w.start, g = w.gradient(beta);
    for (long step = 0; step < most; ++step) {
        Pair pair = most_violating(w, beta, g);
        if (!(pair.violation > tol)) return beta;
        const std::size_t i = std::size_t(pair.i);
        double best = -1, curvature = 1;
        for (Index t = 0; t < w.n; ++t) {
            const double difference = g[std::size_t(t)] - g[i];
            if (!(beta[std::size_t(t)] > w.lower[std::size_t(t)]) || !(difference > 0)) continue;
            const double c = std::max(w.k(pair.i, pair.i) + w.k(t, t) - 2 * w.k(pair.i, t), 1e-12);
            if (difference * difference / c > best) {
                best = difference * difference / c;
                curvature = c;
                pair.j = t;
            }
        }
        const std::size_t j = std::size_t(pair.j);
        const double room = std::min(w.upper[i] - beta[i], beta[j] - w.lower[j]);
        const double move = std::min((g[j] - g[i]) / curvature, room);
        beta[i] = move == w.upper[i] - beta[i] ? w.upper[i] : beta[i] + move;
        beta[j] = move == beta[j] - w.lower[j] ? w.lower[j] : beta[j] - move;
        for (Index t = 0; t < w.n; ++t) g[std::size_t(t)] += move * (w.k(pair.i, t) - w.k(pair.j, t));
    }
    expect(false, "the plain SMO does not solve %s of %d variables", w.kind, int(w.n));
    return beta;
}

constexpr const char* kinds[] = {"hinge", "squared hinge", "one class", "tube", "low rank", "wide kernel"};

// Random working sets as the machines make them. K is rounded to T, so that both solvers see the same.
template <class T>
Program make_program(int kind, Index n, Random& random) {
    const double inf = std::numeric_limits<double>::infinity(), costs[] = {0.1, 1, 10, 100};
    const double C = kind == 5 ? 100 : costs[std::size_t(random.uniform() * 4)], nu = 0.3;
    Program w{kinds[kind], n, {}, {}, {}, {}, {}};
    const Index d = kind == 4 ? 2 : 4;
    std::vector<double> X = random.normals<double>(n * d);
    if (kind == 3)  // every row twice
        for (Index i = 0; i < n / 2; ++i) std::copy_n(X.begin() + i * d, d, X.begin() + (n - n / 2 + i) * d);
    if (kind == 4)  // some rows of zeros, whose diagonal is 0
        for (Index i = 0; i < n; i += 5) std::fill_n(X.begin() + i * d, d, 0.0);
    for (Index i = 0; i < n; ++i) {
        const double signal = X[std::size_t(i * d)] + 0.5 * random.normal();
        const double y = i < 2 ? (i ? 1 : -1) : signal > 0 ? 1 : -1;
        for (Index j = 0; j < n; ++j) {
            double product = 0, squares = 0;
            for (Index k = 0; k < d; ++k) {
                const double a = X[std::size_t(i * d + k)], b = X[std::size_t(j * d + k)];
                product += a * b;
                squares += (a - b) * (a - b);
            }
            const double ridge = kind == 1 && i == j ? 1 / C : 0;
            w.K.push_back(double(T((kind == 4 ? product : std::exp(-(kind == 5 ? 0.02 : 0.25) * squares)) + ridge)));
        }
        const bool second = kind == 3 && i >= n - n / 2;
        const double sign = kind == 2 ? 1 : kind == 3 ? (second ? -1 : 1) : y;
        const double bound = kind == 1 ? inf : kind == 2 ? 1 / (nu * double(n)) : C;
        w.p.push_back(kind == 2 ? 0 : kind == 3 ? sign * 0.1 - X[std::size_t(i * d)] : -y);
        w.lower.push_back(sign > 0 ? 0 : -bound);
        w.upper.push_back(sign > 0 ? bound : 0);
        w.start.push_back(kind == 2 ? std::max(0.0, std::min(bound, 1 - double(i) * bound)) : 0);
    }
    return w;
}

// The arrays of an InnerProblem, padded as the engine pads them, with guards.
template <class T>
struct Arrays {
    Index stride;
    std::vector<T> kernel, diagonal;
    Guarded<T> gradient, up, low;
    Guarded<double> beta, workspace;
    Guarded<Index> places;
    mercer::NewtonSchedule schedule;

    explicit Arrays(const Program& w)
        : stride(mercer::padded_stride(w.n)),
          kernel(std::size_t(w.n * stride)),
          diagonal(std::size_t(stride), T(1)),
          gradient(stride),
          up(stride, T(-1e30)),
          low(stride, T(1e30)),
          beta(w.n),
          workspace(mercer::newton_workspace),
          places(mercer::free_limit + mercer::most_held) {
        const std::vector<double> g = w.gradient(w.start);
        for (Index i = 0; i < w.n; ++i) {
            for (Index j = 0; j < w.n; ++j) kernel[std::size_t(i * stride + j)] = T(w.k(i, j));
            diagonal[std::size_t(i)] = T(w.k(i, i));
            gradient[i] = T(g[std::size_t(i)]);
            beta[i] = w.start[std::size_t(i)];
        }
    }
    mercer::InnerProblem<T> problem(const Program& w, double tol, Index max_iter) {
        mercer::InnerProblem<T> made{};  // by name, so that what the engine adds is empty here
        made.kernel = kernel.data();
        made.stride = stride;
        made.width = (w.n + mercer::row_padding - 1) / mercer::row_padding * mercer::row_padding;
        made.size = w.n;
        made.gradient = gradient.data();
        made.beta = beta.data();
        made.lower = w.lower.data();
        made.upper = w.upper.data();
        made.up_penalty = up.data();
        made.low_penalty = low.data();
        made.diagonal = diagonal.data();
        made.tol = tol;
        made.max_iter = max_iter;
        made.workspace = workspace.data();
        made.free = places.data();
        made.newton = &schedule;
        return made;
    }
    bool intact(Index n) {
        bool whole =
            gradient.intact() && up.intact() && low.intact() && beta.intact() && workspace.intact() && places.intact();
        for (Index i = n; i < stride; ++i) whole = whole && gradient[i] == 0 && up[i] == T(-1e30) && low[i] == T(1e30);
        return whole;
    }
};

// What the calls of one working set reported, and where they ended.
struct Outcome {
    Index steps = 0;
    double gain = 0, first = 0, last = 0;
    std::vector<double> beta;
    bool newton = false;
};

// Solves a working set with the loops under test, in slices of so many steps.
template <class T>
Outcome solve_in_slices(const mercer::HotLoops<T>& loops, const Program& w, double tol, Index slice) {
    Arrays<T> arrays(w);
    Outcome found;
    for (int call = 0; found.steps < 200000; ++call) {
        auto problem = arrays.problem(w, tol, slice);
        const mercer::InnerResult result = loops.inner_smo(problem);
        expect(result.n_iter == slice || (result.n_iter < slice && result.last_violation <= tol),
               "inner_smo %s, %s of %d: ends after %d steps of %d at %g", name<T>(), w.kind, int(w.n),
               int(result.n_iter), int(slice), result.last_violation);
        found.steps += result.n_iter;
        found.gain += result.gain;
        found.last = result.last_violation;
        if (call == 0) found.first = result.first_violation;
        if (found.last <= tol || result.n_iter < slice) break;
    }
    expect(arrays.intact(w.n), "inner_smo %s, %s of %d: writes outside its arrays", name<T>(), w.kind, int(w.n));
    found.beta.assign(arrays.beta.data(), arrays.beta.data() + w.n);
    found.newton = arrays.schedule.last > 0;
    return found;
}

// Judges a solution by its own gradient and beside that of the plain SMO; returns whether Newton steps were tried.
template <class T>
bool check_program(const mercer::HotLoops<T>& loops, const Program& w, double tol, Index slice) {
    const Outcome found = solve_in_slices(loops, w, tol, slice);
    const std::vector<double>& beta = found.beta;
    const std::vector<double> plain = plain_smo(w, tol);
    const std::vector<double> g = w.gradient(beta), g0 = w.gradient(w.start), plain_g = w.gradient(plain);
    double largest = 0, sum = 0, size = 0, distance = 0, moved = 0;
    bool inside = true;
    for (std::size_t i = 0; i < beta.size(); ++i) {
        largest = std::max({largest, std::fabs(g[i]), std::fabs(g0[i])});
        sum += beta[i] - w.start[i];
        size += std::fabs(beta[i]);
        distance += std::fabs(beta[i] - plain[i]);
        moved += std::fabs(beta[i] - w.start[i]);
        inside = inside && beta[i] >= w.lower[i] && beta[i] <= w.upper[i];
    }
    const double steps = double(found.steps), n = double(w.n), u = double(unit<T>), own = double(unit<double>);
    const double drift = 4 * u * std::sqrt(steps + 16) * (largest + size / n);
    const double violation = most_violating(w, beta, g).violation, other = most_violating(w, plain, plain_g).violation;
    const double f = w.objective(beta, g), f0 = w.objective(w.start, g0), plain_f = w.objective(plain, plain_g);
    // Newton steps count by a matrix with a little more on its diagonal.
    const double model = sizeof(T) == 4 ? 1e-3 : 1e-6;
    const auto at_most = [&](double value, double bound, const char* what) {
        expect(value <= bound, "inner_smo %s, %s of %d, %d steps: %s %g, allowed are %g", name<T>(), w.kind, int(w.n),
               int(found.steps), what, value, bound);
    };
    at_most(inside ? 0 : 1, 0, "variables outside their bounds:");
    at_most(std::fabs(sum), 8 * own * (steps + n) * size, "the sum changes by");
    at_most(found.last, tol, "the last violation is");
    at_most(violation, tol + drift, "the true violation is");
    at_most(std::fabs(found.first - most_violating(w, w.start, g0).violation), 4 * u * largest,
            "the first violation is off by");
    at_most(std::fabs(f - plain_f),
            std::max(violation, other) / 2 * distance + 1e-14 * n * (std::fabs(f) + size * largest),
            "the objective differs from that of the plain SMO by");
    at_most(std::fabs(found.gain - (f0 - f)), model * (f0 - f) + drift * (moved + size), "the gain is off by");
    return found.newton;
}

template <class T>
void check_inner_smo(const mercer::HotLoops<T>& loops) {
    Random random(3);
    const double tol = sizeof(T) == 4 ? 1e-3 : 1e-6;
    int with_newton = 0;
    for (Index n : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 65, 100, 150, 257, 400, 600})
        for (int kind = 0; kind < 6 && !(brief && n > 150); ++kind)
            with_newton += check_program(loops, make_program<T>(kind, n, random), tol, n % 2 ? 37 : 200000);
    expect(with_newton >= 5, "Newton steps were tried in %d of the problems only", with_newton);
    std::printf("%s: Newton steps in %d working sets\n", name<T>(), with_newton);
}

}  // namespace check
