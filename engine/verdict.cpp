#include "verdict.hpp"

namespace mercer {

namespace {

// A variable this near to a bound counts as being there: as a share of the room between its bounds, or of the largest
// value there is where that is less. What a variable at its bound lacks through rounding grows with the number of those
// that sum up to it, to a millionth of this share for a thousand rows.
constexpr double at_bound = 1e-9;

double middle_of(const Violation& ends) {
    if (std::isfinite(ends.highest) && std::isfinite(ends.lowest)) return 0.5 * (ends.highest + ends.lowest);
    if (std::isfinite(ends.highest)) return ends.highest;
    return std::isfinite(ends.lowest) ? ends.lowest : 0.0;  // where every variable is fixed any offset will do
}

}  // namespace

Verdict verdict_of(const SmoProblem& problem, const double* betas, const double* gradient) {
    Verdict verdict;
    Violation strict, allowed;
    double largest = 0.0, sum = 0.0, doubled = 0.0;
    for (Index i = 0; i < problem.n; ++i) largest = std::max(largest, std::abs(betas[i]));
    for (Index i = 0; i < problem.n; ++i) {
        const double beta = betas[i], level = -gradient[i];
        const double margin = at_bound * std::min(problem.upper[i] - problem.lower[i], largest);
        doubled += (gradient[i] + problem.p[i]) * beta;
        verdict.n_used += beta != 0.0;
        if (beta < problem.upper[i]) strict.highest = std::max(strict.highest, level);
        if (beta > problem.lower[i]) strict.lowest = std::min(strict.lowest, level);
        const bool rises = problem.upper[i] - beta > margin, falls = beta - problem.lower[i] > margin;
        if (rises) allowed.highest = std::max(allowed.highest, level);
        if (falls) allowed.lowest = std::min(allowed.lowest, level);
        if (!(rises && falls)) continue;
        ++verdict.n_free;
        sum += level;
    }
    verdict.objective = 0.5 * doubled;
    verdict.gap = strict.gap();
    verdict.offset = verdict.n_free > 0 ? sum / static_cast<double>(verdict.n_free) : middle_of(allowed);
    // Comparisons leave NaN out; sums do not.
    if (std::isnan(doubled)) verdict.offset = verdict.gap = doubled;
    verdict.offset += 0.0;  // no -0
    return verdict;
}

SmoStatus final_status(SmoStatus status, bool is_near) {
    if (status == SmoStatus::unbounded) return status;
    if (is_near) return SmoStatus::converged;
    return status == SmoStatus::converged ? SmoStatus::stalled : status;
}

}  // namespace mercer
