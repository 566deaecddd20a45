// Compiled once for each instruction set, with MERCER_TARGET naming the set. No standard containers here:
// an inline function of the library compiled for a large instruction set must not leak into the others.
#include "hot_loops.hpp"

#include "kernel_tiles.hpp"
#include "newton_step.hpp"
#include "pair_selection.hpp"

namespace mercer {
namespace {

// What Newton steps cost, in pair steps: the first one, and each further one after a variable has met its bound.
struct NewtonPrice {
    std::int64_t first, further;
};

template <class T>
NewtonPrice newton_price(const InnerProblem<T>& w) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < w.size && n < free_limit; ++i)
        n += w.up_penalty[i] == T(0) && w.low_penalty[i] == T(0);
    return {100 + n * n * n / 20000 + n * w.width / 1000, 1 + n * n / 3000};
}

// Takes Newton steps now and then, for a few times the cost of the pair steps since the last ones; less often
// where they lower the objective less for what they cost. Returns the decrease, 0 where no step was due or helped.
template <class T>
double scheduled_newton(InnerProblem<T>& w) {
    NewtonSchedule& schedule = *w.newton;
    if (++schedule.steps < schedule.due) return 0.0;
    const std::int64_t earned = schedule.steps - schedule.last;
    const NewtonPrice price = newton_price(w);
    if (price.first > earned) {
        schedule.due = schedule.last + price.first;
        return 0.0;
    }
    const NewtonSteps taken = newton_steps(w, 1 + (4 * earned - price.first) / price.further);
    const std::int64_t spent = price.first + taken.count * price.further;
    const bool paid = taken.gain * double(earned) > schedule.pair_gain * double(spent);
    schedule.wait = paid ? shortest_wait : 2 * schedule.wait;
    schedule.last = schedule.steps;
    schedule.pair_gain = 0.0;
    schedule.due = schedule.steps + schedule.wait;
    return taken.gain;
}

constexpr double longest_step = 1e250;

template <class T>
InnerResult inner_smo(InnerProblem<T>& w) {
    const double floor_share = sizeof(T) == 4 ? 2.5e-7 : 1e-13;
    for (std::int64_t i = 0; i < w.size; ++i) set_penalties(w, i);
    const bool is_odd = has_negative_diagonal(w);
    InnerResult result{0, 0.0, 0.0, 0.0};
    const T *row_i = w.kernel, *row_j = w.kernel;
    T moved = 0;
    for (;;) {
        T highest, lowest;
        const std::int64_t i = update_and_select(w, row_i, row_j, moved, T(-moved), highest, lowest);
        result.last_violation = double(highest) - double(lowest);
        if (result.n_iter == 0) result.first_violation = result.last_violation;
        if (!(result.last_violation > w.tol) || result.n_iter >= w.max_iter) return result;
        if (!is_tame(highest) || !is_tame(lowest)) return result;
        const double gained = scheduled_newton(w);
        if (gained > 0.0) {  // another look at everything before the next pair
            result.gain += gained;
            moved = 0;
            ++result.n_iter;
            continue;
        }
        const std::int64_t j = is_odd ? select_partner<T, true>(w, i, highest, T(floor_share))
                                      : select_partner<T, false>(w, i, highest, T(floor_share));
        const double difference = double(highest) + double(w.gradient[j]);
        if (!(difference > 0.0) || j >= w.size) return result;  // squares below the range: nobody could be told apart
        const double scale = double(w.diagonal[i]) + double(w.diagonal[j]);
        double curvature = scale - 2.0 * double(w.kernel[i * w.stride + j]);
        const double least = floor_share * (scale > 0.0 ? scale : 0.0) + 1e-300;
        if (!(curvature > least)) curvature = least;
        double step = difference / curvature;
        const double room_i = w.upper[i] - w.beta[i], room_j = w.beta[j] - w.lower[j];
        const double room = room_i < room_j ? room_i : room_j;
        if (!(step <= longest_step) && !(room <= longest_step)) return result;  // there is no minimum that way
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
const HotLoops<T> table = {tile<T, T>, tile<T, double>, add_rows<T>, dot_rows<T>, inner_smo<T>};

}  // namespace

#define MERCER_JOIN2(a, b) a##b
#define MERCER_JOIN(a, b) MERCER_JOIN2(a, b)
const HotLoops<float>& MERCER_JOIN(hot_loops_f32_, MERCER_TARGET)() { return table<float>; }
const HotLoops<double>& MERCER_JOIN(hot_loops_f64_, MERCER_TARGET)() { return table<double>; }

}  // namespace mercer
