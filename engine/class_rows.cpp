#include "class_rows.hpp"

#include <algorithm>
#include <limits>

namespace mercer {
namespace {

// How far a row is from its optimum: what a shift from one class to another would gain by.
double violation(const double* alpha, const double* gradient, const double* upper, Index k) {
    double highest = -std::numeric_limits<double>::infinity(), lowest = std::numeric_limits<double>::infinity();
    for (Index c = 0; c < k; ++c) {
        highest = std::max(highest, gradient[c]);
        if (alpha[c] < upper[c]) lowest = std::min(lowest, gradient[c]);
    }
    return highest > lowest ? highest - lowest : 0.0;
}

}  // namespace

void solve_class_row(const double* linear, double curvature, const double* upper, Index k, double* a) {
    // a_c = min(upper_c, (level - linear_c) / curvature). Classes are below their bounds in the order of their reach;
    // one more of them is, as long as its reach lies above the level that the sum of zero asks for.
    Array<double> reach(k);
    double missing = 0.0;
    for (Index c = 0; c < k; ++c) {
        reach[c] = linear[c] + curvature * upper[c];
        missing -= curvature * upper[c];
    }
    std::sort(reach.begin(), reach.end(), [](double left, double right) { return left > right; });
    double level = reach[0] + missing, sum = missing;
    for (Index free = 1; free <= k; ++free) {
        sum += reach[free - 1];
        const double next = sum / static_cast<double>(free);
        if (free > 1 && !(reach[free - 1] > next)) break;
        level = next;
    }
    // The level is rounded as the gradient is, which may be more than all of a row with little weight. The sum is not:
    // the smallest of those below their bounds is what the others leave, and the others stay on theirs.
    Index least = -1;
    for (Index c = 0; c < k; ++c) {
        a[c] = std::min(upper[c], (level - linear[c]) / curvature);
        if (a[c] < upper[c] && (least < 0 || a[c] < a[least])) least = c;
    }
    if (least < 0) return;
    double others = 0.0;
    for (Index c = 0; c < k; ++c)
        if (c != least) others += a[c];
    a[least] = std::min(upper[least], -others);
}

Index solve_class_rows(const ClassRows& rows, double goal, Index most) {
    const Index n = rows.n, k = rows.k;
    Array<double> linear(k), found(k), gaps(n);
    for (Index i = 0; i < n; ++i) gaps[i] = violation(rows.alpha + i * k, rows.gradient + i * k, rows.upper + i * k, k);
    for (Index step = 0; step < most; ++step) {
        const Index i = std::max_element(gaps.begin(), gaps.end()) - gaps.begin();
        if (!(gaps[i] > goal)) return step;
        double* const alpha = rows.alpha + i * k;
        for (Index c = 0; c < k; ++c) linear[c] = rows.gradient[i * k + c] - rows.diagonal[i] * alpha[c];
        solve_class_row(linear.data(), rows.diagonal[i], rows.upper + i * k, k, found.data());
        for (Index c = 0; c < k; ++c) {
            const double change = found[c] - alpha[c];
            alpha[c] = found[c];
            found[c] = change;
        }
        for (Index j = 0; j < n; ++j) {
            const double value = rows.matrix[i * n + j];
            double* const gradient = rows.gradient + j * k;
            for (Index c = 0; c < k; ++c) gradient[c] += value * found[c];
            gaps[j] = violation(rows.alpha + j * k, gradient, rows.upper + j * k, k);
        }
    }
    return most;
}

}  // namespace mercer
