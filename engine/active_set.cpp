#include "active_set.hpp"

#include <algorithm>
#include <cmath>

namespace mercer {

namespace {

constexpr double singular = 1e-9;   // pivots below this share of the entry count as 0
constexpr double rounding = 1e-13;  // and so do those below this share of the largest entry
constexpr double wrong = 1e-6;      // pivots below minus this share tell that the inverse is one no longer
constexpr int refinements = 4;

double dot(const double* a, const double* b, Index n) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    Index i = 0;
    for (; i + 4 <= n; i += 4)
        for (Index k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Corrects a direction of the free variables to the sum that it should have; false where it has none.
bool keep_sum(Array<double>& direction, double wanted) {
    double sum = 0.0;
    for (Index k = 1; k < direction.size(); ++k) sum += direction[k];
    if (!std::isfinite(sum)) return false;
    for (Index k = 1; k < direction.size(); ++k)
        direction[k] -= (sum - wanted) / static_cast<double>(direction.size() - 1);
    return true;
}

}  // namespace

ActiveSet::ActiveSet(double* kernel, double* diagonal, const SmoProblem& problem, const Point& at)
    : kernel_(kernel),
      diagonal_(diagonal),
      problem_(problem),
      at_(at),
      n_(problem.n),
      stride_((problem.n + 1 + 7) / 8 * 8),
      place_(problem.n, -1) {}

double ActiveSet::entry(Index i, Index j) const {
    return i == j ? diagonal_[i] + problem_.ridge[i] : kernel_[i * n_ + j];
}

double ActiveSet::offset() const {
    if (free_.empty()) return violation_of(problem_, at_).middle();
    double sum = 0.0;
    for (Index i : free_) sum -= at_.gradient[i];
    return sum / static_cast<double>(n_free());
}

ActiveSet::Outcome ActiveSet::restart() {
    Array<Index> between;
    for (Index i = 0; i < n_; ++i)
        if (may_rise(problem_, at_, i) && may_fall(problem_, at_, i)) between.push_back(i);
    for (Index i : free_) place_[i] = -1;
    free_.clear();
    for (Index i : between) {
        if (!(may_rise(problem_, at_, i) && may_fall(problem_, at_, i))) continue;  // moved to a bound meanwhile
        const Outcome outcome = admit(i);
        if (outcome != Outcome::solved) return outcome;
    }
    return Outcome::solved;
}

// out = inverse * vector, both with n_free + 1 entries.
void ActiveSet::times_inverse(const Array<double>& vector, Array<double>& out) {
    const Index size = n_free() + 1;
    out.assign(size, 0.0);
    weights_.assign(vector.begin(), vector.begin() + size);
    rows_.resize(size);
    for (Index k = 0; k < size; ++k) rows_[k] = row(k);
    hot_loops<double>().add_rows(rows_.data(), weights_.data(), size, 0, size, out.data());
}

// inverse += factor * vector vector'
void ActiveSet::add_outer(const Array<double>& vector, double factor) {
    const Index size = n_free() + 1;
    const double* source = vector.data();
    for (Index k = 0; k < size; ++k) {
        const double weight = factor * vector[k];
        hot_loops<double>().add_rows(&source, &weight, 1, 0, size, row(k));
    }
}

// Largest length of a step along a direction of the free variables, and which of them it stops at.
double ActiveSet::room(const Array<double>& direction, Index& blocking) const {
    double length = std::numeric_limits<double>::infinity();
    blocking = -1;
    for (Index k = 0; k < n_free(); ++k) {
        const double change = direction[k + 1];
        if (change == 0.0) continue;
        const Index i = free_[k];
        const double space = change > 0.0 ? problem_.upper[i] - at_.beta[i] : problem_.lower[i] - at_.beta[i];
        if (space / change < length) {
            length = std::max(0.0, space / change);
            blocking = k;
        }
    }
    return length;
}

// beta += length * direction on the free variables (and one more, if given), and the gradient with it.
void ActiveSet::move(const Array<double>& direction, double length, Index with, double its_direction) {
    rows_.clear();
    weights_.clear();
    auto shift = [&](Index i, double change) {
        at_.beta[i] = std::min(problem_.upper[i], std::max(problem_.lower[i], at_.beta[i] + change));
        at_.gradient[i] += (problem_.ridge[i] + diagonal_[i] - kernel_[i * n_ + i]) * change;
        rows_.push_back(kernel_ + i * n_);
        weights_.push_back(change);
    };
    for (Index k = 0; k < n_free(); ++k) shift(free_[k], length * direction[k + 1]);
    if (with >= 0) shift(with, length * its_direction);
    hot_loops<double>().add_rows(rows_.data(), weights_.data(), rows_.size(), 0, n_, at_.gradient);
}

// The free variable at place k has reached a bound.
void ActiveSet::settle(Index k, double direction) {
    const Index i = free_[k];
    at_.beta[i] = direction > 0.0 ? problem_.upper[i] : problem_.lower[i];
    drop(k);
    ++n_steps_;
}

// Takes a variable out of the inverse; the last one takes its place.
void ActiveSet::drop(Index k) {
    const Index size = n_free() + 1, gone = k + 1, last = size - 1;
    place_[free_[k]] = -1;
    if (size == 2) {
        free_.clear();
        return;
    }
    const double pivot = row(gone)[gone];
    image_.assign(row(gone), row(gone) + size);
    add_outer(image_, -1.0 / pivot);
    if (gone != last) {
        std::copy_n(row(last), size, row(gone));
        for (Index r = 0; r < size; ++r) row(r)[gone] = row(r)[last];
        free_[k] = free_.back();
        place_[free_.back()] = k;
    }
    free_.pop_back();
}

// Makes a variable free. Where its equation depends on those that are there, all move along the direction
// in which nothing curves, downhill, until one of them has reached a bound and makes room.
ActiveSet::Outcome ActiveSet::admit(Index i) {
    ++n_steps_;
    if (free_.empty()) {
        if (inverse_.empty()) inverse_.resize((n_ + 1) * stride_);
        row(0)[0] = -entry(i, i);
        row(0)[1] = row(1)[0] = 1.0;
        row(1)[1] = 0.0;
        free_.push_back(i);
        place_[i] = 0;
        return Outcome::solved;
    }
    for (;;) {
        const Index size = n_free() + 1;
        rhs_.resize(size);
        rhs_[0] = 1.0;
        for (Index k = 1; k < size; ++k) rhs_[k] = entry(i, free_[k - 1]);
        times_inverse(rhs_, direction_);
        const double own = entry(i, i), pivot = own - dot(rhs_.data(), direction_.data(), size);
        double largest = own;
        for (Index k : free_) largest = std::max(largest, entry(k, k));
        if (!std::isfinite(pivot) || pivot < -wrong * largest) return Outcome::lost;
        if (pivot > std::max(singular * (own + std::abs(own - pivot)), rounding * largest)) {
            add_outer(direction_, 1.0 / pivot);
            for (Index k = 0; k < size; ++k) row(k)[size] = row(size)[k] = -direction_[k] / pivot;
            row(size)[size] = 1.0 / pivot;
            place_[i] = n_free();
            free_.push_back(i);
            return Outcome::solved;
        }
        double slope = at_.gradient[i];
        for (Index k = 1; k < size; ++k) slope -= direction_[k] * at_.gradient[free_[k - 1]];
        const double sign = slope > 0.0 ? -1.0 : 1.0;  // of the change of variable i
        keep_sum(direction_, 1.0);
        for (double& value : direction_) value *= -sign;
        Index blocking;
        const double own_room = sign > 0.0 ? problem_.upper[i] - at_.beta[i] : at_.beta[i] - problem_.lower[i];
        const double length = std::min(own_room, room(direction_, blocking));
        if (std::isinf(length)) return Outcome::unbounded;
        move(direction_, length, i, sign);
        if (own_room <= length) {
            at_.beta[i] = sign > 0.0 ? problem_.upper[i] : problem_.lower[i];
            return Outcome::solved;
        }
        settle(blocking, direction_[blocking + 1]);
        if (free_.empty()) return admit(i);
    }
}

// Newton steps on the free variables until their conditions hold; a variable that reaches a bound stays there.
ActiveSet::Outcome ActiveSet::step_to_optimum(double tol) {
    double last = std::numeric_limits<double>::infinity();
    for (int round = 0; n_free() > 1;) {
        const Index size = n_free() + 1;
        const double b = offset();
        rhs_.resize(size);
        rhs_[0] = 0.0;
        double largest = 0.0;
        for (Index k = 1; k < size; ++k) {
            const double residual = -at_.gradient[free_[k - 1]] - b;
            rhs_[k] = residual;
            largest = std::max(largest, std::abs(residual));
        }
        if (largest <= 0.1 * tol) return Outcome::solved;
        if (++round > refinements && !(largest < 0.5 * last)) return largest <= tol ? Outcome::solved : Outcome::lost;
        last = largest;
        times_inverse(rhs_, direction_);
        if (!keep_sum(direction_, 0.0)) return Outcome::lost;
        Index blocking;
        const double most = room(direction_, blocking);
        move(direction_, std::min(1.0, most));
        if (most <= 1.0) {
            settle(blocking, direction_[blocking + 1]);
            round = 0;
            last = std::numeric_limits<double>::infinity();
        }
    }
    return Outcome::solved;
}

// The variable at a bound that violates its condition most, or -1.
Index ActiveSet::worst(double tol) const {
    const double b = offset();
    double largest = tol;
    Index found = -1;
    for (Index i = 0; i < n_; ++i) {
        if (is_free(i)) continue;
        const double level = at_.gradient[i] + b;
        const double violation =
            std::max(may_rise(problem_, at_, i) ? -level : 0.0, may_fall(problem_, at_, i) ? level : 0.0);
        if (violation > largest) {
            largest = violation;
            found = i;
        }
    }
    return found;
}

// Where no variable is free, the most violating one of either side becomes so; false where none violates.
bool ActiveSet::open_pair(double tol) {
    Index up = -1, low = -1;
    for (Index i = 0; i < n_; ++i) {
        if (may_rise(problem_, at_, i) && (up < 0 || at_.gradient[i] < at_.gradient[up])) up = i;
        if (may_fall(problem_, at_, i) && (low < 0 || at_.gradient[i] > at_.gradient[low])) low = i;
    }
    if (up < 0 || low < 0 || up == low || at_.gradient[low] - at_.gradient[up] <= tol) return false;
    admit(up);
    return true;
}

ActiveSet::Outcome ActiveSet::solve(double tol, std::int64_t max_steps) {
    const std::int64_t limit = n_steps_ + max_steps;
    for (;;) {
        if (free_.empty() && !open_pair(tol)) return Outcome::solved;
        Outcome outcome = step_to_optimum(tol);
        if (outcome != Outcome::solved) return outcome;
        if (n_steps_ > limit) return Outcome::lost;
        const Index i = worst(tol);
        if (i < 0) return Outcome::solved;
        outcome = admit(i);
        if (outcome != Outcome::solved) return outcome;
    }
}

// The inverse without a feature. Where the equations become singular, the free variables move along the
// direction in which nothing curves any more until one of them reaches a bound.
ActiveSet::Outcome ActiveSet::take_out(const double* column) {
    for (;;) {
        if (free_.empty()) return Outcome::solved;
        const Index size = n_free() + 1;
        rhs_.resize(size);
        rhs_[0] = 0.0;
        for (Index k = 1; k < size; ++k) rhs_[k] = column[free_[k - 1]];
        times_inverse(rhs_, direction_);
        const double rest = 1.0 - dot(rhs_.data(), direction_.data(), size);
        if (!std::isfinite(rest)) return Outcome::lost;
        if (rest > singular) {
            add_outer(direction_, 1.0 / rest);
            return Outcome::solved;
        }
        double slope = 0.0;
        for (Index k = 1; k < size; ++k) slope += direction_[k] * at_.gradient[free_[k - 1]];
        if (slope > 0.0)
            for (double& value : direction_) value = -value;
        Index blocking;
        const double length = room(direction_, blocking);
        if (std::isinf(length)) return Outcome::unbounded;
        move(direction_, length);
        settle(blocking, direction_[blocking + 1]);
    }
}

ActiveSet::Outcome ActiveSet::forget(const double* const* columns, Index count) {
    Array<double> weights(count);
    for (Index q = 0; q < count; ++q) weights[q] = -dot(columns[q], at_.beta, n_);
    hot_loops<double>().add_rows(columns, weights.data(), count, 0, n_, at_.gradient);
    for (Index i = 0; i < n_; ++i) {
        for (Index q = 0; q < count; ++q) {
            weights[q] = -columns[q][i];
            diagonal_[i] -= columns[q][i] * columns[q][i];
        }
        hot_loops<double>().add_rows(columns, weights.data(), count, 0, n_, kernel_ + i * n_);
    }
    for (Index q = 0; q < count; ++q) {
        const Outcome outcome = take_out(columns[q]);
        if (outcome != Outcome::solved) return outcome;
    }
    return Outcome::solved;
}

}  // namespace mercer
