#include "programs.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "degenerate.hpp"
#include "smo.hpp"
#include "verdict.hpp"

namespace mercer {

namespace {

constexpr double separable_margin = 1e-5;  // relative to the radius of the data; a smaller one counts as none
constexpr double small_tol = 1e-11;
constexpr double lost_sum = 1e-12;  // share of the variables' size by which rounding may change their sum
constexpr Index many_steps = 100;   // for each variable; ordinary programs take fewer than ten
constexpr Index most_dense = 2048;  // the whole matrix of so many is sooner had than an answer without it
constexpr Index much_work =
    2'000'000;                        // kernel values; for fewer another thread, if it has to wait, costs more than all
constexpr Index side_by_side = 5000;  // programs of at most so many variables have a thread each
constexpr Index few_points = 1024;    // the matrix of so many fits a processor's cache
constexpr Index noticeable = 5000;    // the gradient of so many variables takes its time where it is exact
constexpr Index first_look = 32;      // rows of each side whose gradient is computed anew
constexpr double infinity = std::numeric_limits<double>::infinity();

// What a program has left of the time and the steps of all, and whether any shall go on. A program asks the caller
// every twentieth of a second, and so does one that ends when nobody has asked for so long; the answer holds for all.
class Limits {
public:
    explicit Limits(const SmoOptions& given)
        : given_(given), of_programs_(given), start_(Clock::now()), listened_(start_), asked_(start_) {
        of_programs_.progress = [this](std::int64_t steps, double gap) { return ask(steps, gap); };
    }

    SmoOptions remaining(double tol, std::int64_t n_iter) const {
        SmoOptions options = of_programs_;
        options.tol = tol;
        if (given_.max_iter >= 0) options.max_iter = std::max<std::int64_t>(0, given_.max_iter - n_iter);
        if (given_.time_limit >= 0.0)
            options.time_limit = std::max(0.0, given_.time_limit - Seconds(Clock::now() - start_).count());
        return options;
    }

    void note_end(const SmoResult& result) {
        const Clock::time_point now = Clock::now();
        listen(now);
        if (is_over(asked_, now)) ask(result.n_iter, result.gap);
    }

    void listen() { listen(Clock::now()); }

    void stop() { stopped_ = true; }
    bool is_stopped() const { return stopped_; }

private:
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;

    static bool is_over(Clock::time_point start, Clock::time_point now) {
        return now - start > std::chrono::milliseconds(50);
    }

    // Signals come to the caller only, who may be the one that waits for the others.
    void listen(Clock::time_point now) {
        if (std::this_thread::get_id() != caller_ || !is_over(listened_, now)) return;
        listened_ = now;
        if (given_.check_signals) given_.check_signals();
    }

    bool ask(std::int64_t n_iter, double gap) {
        if (!stopped_ && given_.progress && given_.progress(n_iter, gap)) stopped_ = true;
        asked_ = Clock::now();
        return stopped_;
    }

    const SmoOptions& given_;
    SmoOptions of_programs_;
    const std::thread::id caller_ = std::this_thread::get_id();
    const Clock::time_point start_;
    Clock::time_point listened_;  // of the caller alone
    std::atomic<Clock::time_point> asked_;
    std::atomic<bool> stopped_{false};
};

// An objective that proves that there is no minimum, or -infinity where nothing can diverge. A hard margin of rho has
// the optimum -1/(2 rho^2), where p is -1 or 1; a margin that rounding hides counts as none. Otherwise the objective is
// in units of the range of p, squared. With a ridge the objective stays above -p^2/(2r) summed up, unless the kernel
// is not positive semi-definite.
double unbounded_below(const SmoProblem& problem) {
    bool endless = false, rising = false, falling = false;
    double least = 0.0, lowest_p = infinity, highest_p = -infinity, squared_radius = 0.0;
    for (Index i = 0; i < problem.n; ++i) {
        const bool up = std::isinf(problem.upper[i]), down = std::isinf(problem.lower[i]);
        endless = endless || up || down;
        rising = rising || (up && problem.ridge[i] == 0.0);
        falling = falling || (down && problem.ridge[i] == 0.0);
        least -= 0.5 * problem.p[i] * problem.p[i] / problem.ridge[i];
        lowest_p = std::min(lowest_p, problem.p[i]);
        highest_p = std::max(highest_p, problem.p[i]);
        squared_radius = std::max(squared_radius, problem.diagonal[i]);
    }
    if (!endless) return -infinity;
    if (rising && falling) {
        const double unit = 0.25 * (highest_p - lowest_p) * (highest_p - lowest_p);
        if (!(squared_radius * unit > 0.0)) return -infinity;
        return -0.5 * unit / (separable_margin * separable_margin * squared_radius);
    }
    return std::isfinite(least) ? 1.001 * least - 1e-6 : -infinity;
}

bool is_limit(SmoStatus status) {
    return status == SmoStatus::max_iter || status == SmoStatus::time_limit || status == SmoStatus::interrupted;
}

class Program {
public:
    Program(const RowSupply& supply, const Programs& all, Index k, const ProgramReport& report, Pool& pool)
        : supply_(supply), all_(all), first_(all.ends[k]), tol_(all.tol[k]), pool_(pool) {
        problem_ = {all.p + first_,     all.lower + first_,    all.upper + first_,
                    all.ridge + first_, all.diagonal + first_, all.ends[k + 1] - first_};
        at_ = {report.beta + first_, report.gradient + first_};
        find_rows();
    }

    SmoResult solve(Limits& limits) {
        start();
        if (limits.is_stopped()) return {SmoStatus::interrupted};
        unbounded_below_ = unbounded_below(problem_);
        const double sum = sum_of(at_.beta);
        const SmoResult result = solve_in_turn(limits);
        keep_sum(sum);
        return result;
    }

    Verdict verdict() const { return verdict_of(problem_, at_.beta, at_.gradient); }

private:
    Index n() const { return problem_.n; }
    bool is_rough() const { return all_.rough && n() > few_variables; }
    Index row_of(Index i) const { return all_.row ? all_.row[first_ + i] : i; }

    // With rounded rows, where they do, and with others from where those have led.
    SmoResult solve_in_turn(Limits& limits) {
        std::int64_t n_iter = 0;
        if (const auto rows = is_rough() ? supply_.single(selection(), pool_) : nullptr) {
            const Array<double> known(at_.beta, at_.beta + n());
            const double height = verdict().objective;
            const SmoResult result = run(*rows, limits.remaining(single_margin * tol_, 0));
            correct_gap();
            if (violation_of(problem_, at_).gap() <= tol_ || is_limit(result.status)) return result;
            n_iter = result.n_iter;
            set_gradient();  // single precision was not enough: an exact gradient first
            // Rounded rows may have no minimum where the matrix has one, and may have led far from it.
            if (!(verdict().objective <= height)) restore(known);
        }
        SmoResult result;
        if (const auto rows = supply_.wide(selection(), pool_)) result = finish(*rows, limits, n_iter);
        else result = finish(*supply_.single(selection(), pool_), limits, n_iter);
        result.n_iter += n_iter;
        return result;
    }

    // The rows of this program, each once, and the place of each variable's row among them.
    void find_rows() {
        if (!all_.row) {
            if (supply_.size() != n())
                throw std::invalid_argument("the kernel and the problem must have the same number of rows");
            return;
        }
        const Index *const begin = all_.row + first_, *const end = begin + n();
        if (std::adjacent_find(begin, end, std::greater_equal<Index>()) == end) {  // they rise: no row comes twice
            selection_.assign(begin, end);
            is_everything_ = n() == supply_.size();
            return;
        }
        Array<Index> place(supply_.size(), -1);
        place_.reserve(n());
        for (const Index* row = begin; row != end; ++row) {
            Index& known = place[*row];
            if (known < 0) {
                known = selection_.size();
                selection_.push_back(*row);
            }
            place_.push_back(known);
        }
        if (selection_.size() < n()) problem_.row = place_.data();
        is_everything_ = selection_.size() == supply_.size() && std::is_sorted(selection_.begin(), selection_.end());
    }

    const Array<Index>* selection() const { return all_.row && !is_everything_ ? &selection_ : nullptr; }

    void start() {
        if (!all_.image) return set_gradient(is_rough() && n() >= noticeable);
        Array<double> moved(n());
        for (Index i = 0; i < n(); ++i) moved[i] = at_.beta[i] - all_.anchor[first_ + i];
        const Array<double> change = image_of(moved.data(), nullptr, is_rough());
        for (Index i = 0; i < n(); ++i)
            at_.gradient[i] = problem_.p[i] + problem_.ridge[i] * at_.beta[i] + all_.image[first_ + i] + change[i];
    }

    void set_gradient() { set_gradient(false); }

    // Rough where a long solve with rounded rows begins: its steps add rounded values to it, and the end is checked
    // anew, but for what of the objective hangs on variables that do not determine the gap.
    void set_gradient(bool rough) {
        const Array<double> image = image_of(at_.beta, nullptr, rough);
        for (Index i = 0; i < n(); ++i) at_.gradient[i] = problem_.p[i] + problem_.ridge[i] * at_.beta[i] + image[i];
    }

    // K times a vector, at some of the variables, or at all where `variables` is null.
    Array<double> image_of(const double* vector, const Array<Index>* variables, bool rough) const {
        Array<Index> from, to;
        Array<double> weights;
        for (Index i = 0; i < n(); ++i) {
            if (vector[i] == 0.0) continue;
            from.push_back(row_of(i));
            weights.push_back(vector[i]);
        }
        const Index count = variables ? variables->size() : n();
        if (from.empty()) return Array<double>(count, 0.0);
        to.reserve(count);
        for (Index k = 0; k < count; ++k) to.push_back(row_of(variables ? (*variables)[k] : k));
        return supply_.times(to, from, weights, rough, pool_);
    }

    template <class T>
    SmoResult run(const RowSource<T>& rows, SmoOptions options) {
        options.unbounded_below = unbounded_below_;
        options.cache_bytes = std::min(options.cache_bytes, supply_.worthwhile_cache());
        return solve_smo(rows, problem_, options, at_, pool_);
    }

    // To the tolerance, and a small program beyond it, in as many steps again as it may take. Where a small one takes
    // far more than others do, or a larger one comes to nothing, a method for such cases is tried.
    template <class T>
    SmoResult finish(const RowSource<T>& rows, Limits& limits, std::int64_t n_iter) {
        SmoOptions options = limits.remaining(tol_, n_iter);
        if (n() > most_dense || options.max_iter >= 0) return run(rows, options);
        const bool is_small = n() <= few_variables;
        if (is_small) {
            options.refined_tol = small_tol;
            options.max_iter = many_steps * n();
        }
        SmoResult result = run(rows, options);
        if (result.status != (is_small ? SmoStatus::max_iter : SmoStatus::stalled)) return result;
        const double aim = is_small ? std::min(tol_, small_tol) : tol_;
        if (has_active_set_solved(rows, aim, result) || !is_small) return result;
        options.max_iter = -1;
        options.patience = little_patience;
        const std::int64_t before = result.n_iter;
        result = run(rows, options);
        result.n_iter += before;
        return result;
    }

    // Goes on by the active-set method; the point is kept only where it is better, and all variables in order.
    template <class T>
    bool has_active_set_solved(const RowSource<T>& rows, double aim, SmoResult& result) {
        const Array<double> known(at_.beta, at_.beta + n());
        const double height = verdict().objective;
        const ActiveSetResult other = solve_by_active_set(rows, problem_, at_, aim);
        result.n_iter += other.n_iter;
        set_gradient();
        const bool is_sound = has_sum_of(known) && (other.solved || verdict().objective <= height);
        if (!is_sound) restore(known);
        if (!is_sound || !other.solved) return false;
        result.status = SmoStatus::converged;
        result.gap = violation_of(problem_, at_).gap();
        return true;
    }

    void restore(const Array<double>& known) {
        std::copy_n(known.data(), n(), at_.beta);
        set_gradient();
    }

    double sum_of(const double* beta) const {
        long double sum = 0.0;
        for (Index i = 0; i < n(); ++i) sum += beta[i];
        return double(sum);
    }

    // Variables that were far larger on the way leave their rounding in the sum. What is missing goes to those that
    // have the most room for it.
    void keep_sum(double sum) {
        double size = 0.0;
        for (Index i = 0; i < n(); ++i) size += std::abs(at_.beta[i]);
        const double lost = lost_sum * size;
        double missing = sum - sum_of(at_.beta);
        if (!(std::abs(missing) > lost)) return;
        for (Index step = 0; step < n() && std::abs(missing) > lost; ++step) {
            const auto room = [&](Index i) {
                return missing > 0.0 ? problem_.upper[i] - at_.beta[i] : at_.beta[i] - problem_.lower[i];
            };
            Index most = 0;
            for (Index i = 1; i < n(); ++i)
                if (room(i) > room(most)) most = i;
            at_.beta[most] += std::copysign(std::min(std::abs(missing), room(most)), missing);
            missing = sum - sum_of(at_.beta);
        }
        set_gradient();
    }

    // Whether the variables still add up to what they did at another point, but for rounding.
    bool has_sum_of(const Array<double>& other) const {
        double off = 0.0, size = 0.0;
        for (Index i = 0; i < n(); ++i) {
            off += at_.beta[i] - other[i];
            size += std::abs(at_.beta[i]) + std::abs(other[i]);
        }
        return std::abs(off) <= lost_sum * size;
    }

    // Puts exact values into the gradient of every variable that could determine the gap. The worst of both sides are
    // computed in double precision. Their largest error tells how far down another one may stand that could overtake
    // them; those are computed too, until none is left.
    void correct_gap() {
        Array<char> exact(n(), 0);
        double error = 0.0;
        for (Index count = first_look;; count = 0) {
            const Array<Index> leading = leading_variables(exact, error, count);
            if (leading.empty()) return;
            const Array<double> image = image_of(at_.beta, &leading, false);
            for (Index k = 0; k < leading.size(); ++k) {
                const Index i = leading[k];
                const double value = problem_.p[i] + problem_.ridge[i] * at_.beta[i] + image[k];
                error = std::max(error, std::abs(value - at_.gradient[i]));
                at_.gradient[i] = value;
                exact[i] = 1;
            }
        }
    }

    // Those, not exact yet, within twice the error of the extremes, and the first few.
    Array<Index> leading_variables(Array<char>& exact, double error, Index count) const {
        Array<char> wanted(exact.size(), 0);
        for (const double side : {-1.0, 1.0}) {
            Array<std::pair<double, Index>> levels;
            for (Index i = 0; i < n(); ++i)
                if (side < 0.0 ? may_rise(problem_, at_, i) : may_fall(problem_, at_, i))
                    levels.emplace_back(-side * at_.gradient[i], i);
            if (levels.empty()) continue;
            const auto few = levels.begin() + std::min(count, levels.size());
            if (few != levels.end()) std::nth_element(levels.begin(), few, levels.end());
            for (auto it = levels.begin(); it != few; ++it) wanted[it->second] = 1;
            const double extreme = std::min_element(levels.begin(), levels.end())->first;
            for (const auto& [level, i] : levels)
                if (level <= extreme + 2.0 * error) wanted[i] = 1;
        }
        Array<Index> found;
        for (Index i = 0; i < n(); ++i)
            if (wanted[i] && !exact[i]) found.push_back(i);
        return found;
    }

    const RowSupply& supply_;
    const Programs& all_;
    Index first_;
    double tol_;
    Pool& pool_;
    SmoProblem problem_{};
    Point at_{};
    double unbounded_below_ = -infinity;
    Array<Index> selection_, place_;
    bool is_everything_ = false;
};

// Whether each program has one thread to itself; otherwise one after the other has them all.
bool are_shared_out(const Programs& programs, Index largest, int n_threads) {
    if (n_threads < 2 || programs.count < 2) return false;
    Index work = 0;
    for (Index k = 0; k < programs.count; ++k) {
        const Index size = programs.ends[k + 1] - programs.ends[k];
        work += size * size;
    }
    if (work < much_work) return false;
    return largest < few_rows || (largest <= side_by_side && programs.count >= 2 * n_threads);
}

}  // namespace

void solve_programs(const RowSupply& given, const Programs& programs, const SmoOptions& options,
                    const ProgramReport& report) {
    Index largest = 0;
    for (Index k = 0; k < programs.count; ++k) largest = std::max(largest, programs.ends[k + 1] - programs.ends[k]);
    // Small programs that share points: kernel values are computed once for all of them.
    std::unique_ptr<MatrixSupply<double>> held;
    if (programs.count > 2 && largest <= few_variables && given.size() <= few_points) {
        Pool alone(1);
        held = given.held(alone);
        // Exact where a point meets itself, as the programs have it.
        for (Index i = 0; held && i < programs.ends[programs.count]; ++i)
            held->set_diagonal(programs.row ? programs.row[i] : i, programs.diagonal[i]);
    }
    const RowSupply& supply = held ? *held : given;
    Limits limits(options);
    const auto solve = [&](Index k, Pool& pool) {
        try {
            Program program(supply, programs, k, report, pool);
            const SmoResult result = program.solve(limits);
            const Verdict verdict = program.verdict();
            report.n_iter[k] = result.n_iter;
            report.status[k] = static_cast<std::uint8_t>(final_status(result.status, verdict.gap <= programs.tol[k]));
            report.offset[k] = verdict.offset;
            report.gap[k] = verdict.gap;
            report.objective[k] = verdict.objective;
            if (programs.count > 1) limits.note_end(result);
        } catch (...) {
            limits.stop();  // the others need not go on
            throw;
        }
    };
    if (are_shared_out(programs, largest, options.n_threads)) {
        Pool pool(options.n_threads);
        const auto task = [&](Index k) {
            Pool alone(1);
            solve(k, alone);
        };
        const auto wait = [&] {
            std::this_thread::yield();
            try {
                limits.listen();
            } catch (...) {
                limits.stop();
                throw;
            }
        };
        pool.post(programs.count, task).join(wait);
        return;
    }
    Pool pool(largest >= few_rows ? options.n_threads : 1);
    for (Index k = 0; k < programs.count; ++k) solve(k, pool);
}

}  // namespace mercer
