#include "working_set.hpp"

#include <algorithm>
#include <numeric>

namespace mercer {

namespace {

constexpr Index first_size = 128;
constexpr Index whole_size = 384;   // a problem as small as this is a working set by itself
constexpr Index steady_size = 512;  // what suits problems whose variables mostly go straight to a bound

template <class Before>
void keep_first(Array<Index>& side, Index count, Before before) {
    if (side.size() <= count) return;
    std::nth_element(side.begin(), side.begin() + count, side.end(), before);
    side.resize(count);
}

template <class Before>
void keep_sorted(Array<Index>& side, Index count, Before before) {
    keep_first(side, count, before);
    std::sort(side.begin(), side.end(), before);
}

}  // namespace

template <class T>
WorkingSet<T>::WorkingSet(const RowSource<T>& source, const SmoProblem& problem, Index largest, Pool& pool)
    : source_(source),
      problem_(problem),
      pool_(pool),
      largest_(std::min(problem.n, std::max<Index>(largest, 2))),
      age_(problem.n, -1) {
    if (!borrow()) resize(problem.n <= whole_size ? largest_ : std::min(largest_, first_size));
}

// A matrix in memory that needs no change is used where it lies, all variables in their own places.
template <class T>
bool WorkingSet<T>::borrow() {
    Index stride;
    const T* matrix = source_.whole(stride);
    if (!matrix || problem_.row || problem_.n > 2 * largest_ || problem_.n < 2) return false;
    for (Index i = 0; i < problem_.n; ++i)
        if (problem_.ridge[i] != 0.0 || static_cast<T>(problem_.diagonal[i]) != matrix[i * stride + i]) return false;
    borrowed_ = matrix;
    size_ = problem_.n;
    stride_ = stride;
    diagonal_.assign(stride_, T(1));
    for (Index i = 0; i < size_; ++i) diagonal_[i] = matrix[i * stride + i];
    members_.resize(size_);
    std::iota(members_.begin(), members_.end(), Index(0));
    return true;
}

template <class T>
void WorkingSet<T>::refresh(const Point& at, const Survey& survey, std::int64_t round, Index n_moved) {
    if (borrowed_) return;
    grow(survey.n_free, n_moved);
    for (Index place : fresh_) is_fresh_[place] = 0;
    fresh_.clear();
    select(at, survey.violation, round);
    compute();
    mirror();
}

// Starts small, since easy problems touch few variables, and grows where most members moved. Variables
// strictly between their bounds depend on each other: the set should hold them together.
template <class T>
void WorkingSet<T>::grow(Index n_free, Index n_moved) {
    if (size_ == largest_) return;
    Index wanted = 2 * n_free;
    if (2 * n_moved > size_) wanted = std::max(wanted, std::min(2 * size_, steady_size));
    wanted = std::min(largest_, wanted);
    if (largest_ == problem_.n && 2 * wanted >= problem_.n) wanted = problem_.n;
    if (wanted > size_ + size_ / 2) resize(wanted);
}

// Room for `size` members; those already there stay in their places.
template <class T>
void WorkingSet<T>::resize(Index size) {
    const Index old_stride = stride_;
    size_ = size;
    stride_ = padded_stride(size_);
    Buffer<T> kernel(size_ * stride_);
    for (Index r = 0; r < count(); ++r) {
        std::copy_n(kernel_.data() + r * old_stride, count(), kernel.data() + r * stride_);
        std::fill(kernel.data() + r * stride_ + count(), kernel.data() + (r + 1) * stride_, T(0));
    }
    kernel_ = std::move(kernel);
    diagonal_.resize(stride_, T(1));
}

template <class T>
void WorkingSet<T>::select(const Point& at, const Violation& now, std::int64_t round) {
    if (!holds_everything()) {
        const Array<Index> chosen = choose(at, now, round);
        const Array<Index> places = vacate(chosen.size());
        for (Index k = 0; k < chosen.size(); ++k) enter(chosen[k], places[k]);
        return;
    }
    for (Index i = 0; i < problem_.n; ++i)
        if (age(i) < 0) {
            age(i) = round;
            enter(i, count());
        }
}

// The worst violators of both sides in turn; members among them count as new and stay.
template <class T>
Array<Index> WorkingSet<T>::choose(const Point& at, const Violation& now, std::int64_t round) {
    struct Sides {
        Array<Index> rising, falling;
    };
    const double* g = at.gradient;
    const Index room = std::max(size_ / 2, size_ - count());
    const auto rises_before = [g](Index a, Index b) { return g[a] != g[b] ? g[a] < g[b] : a < b; };
    const auto falls_before = [g](Index a, Index b) { return g[a] != g[b] ? g[a] > g[b] : a < b; };
    const auto collect = [&](Index begin, Index end) {
        Sides some;
        for (Index i = begin; i < end; ++i) {
            if (may_rise(problem_, at, i) && -g[i] > now.lowest) some.rising.push_back(i);
            if (may_fall(problem_, at, i) && -g[i] < now.highest) some.falling.push_back(i);
        }
        keep_first(some.rising, room, rises_before);
        keep_first(some.falling, room, falls_before);
        return some;
    };
    Array<Index> rising, falling;
    for (const Sides& some : in_pieces<Sides>(problem_.n, pool_, collect)) {
        rising.insert(rising.end(), some.rising.begin(), some.rising.end());
        falling.insert(falling.end(), some.falling.begin(), some.falling.end());
    }
    keep_sorted(rising, room, rises_before);
    keep_sorted(falling, room, falls_before);
    Array<Index> chosen;
    Index taken = 0;
    for (Index k = 0; k < std::max(rising.size(), falling.size()); ++k)
        for (const auto* side : {&rising, &falling})
            if (k < side->size() && taken < room && age((*side)[k]) < round) {
                const Index i = (*side)[k];
                if (age(i) < 0) chosen.push_back(i);
                age(i) = round;
                ++taken;
            }
    return chosen;
}

// Places for new members: those of the oldest members where there are not enough free ones.
template <class T>
Array<Index> WorkingSet<T>::vacate(Index wanted) {
    Array<Index> places;
    const Index occupied = count();
    if (occupied + wanted > size_) {
        places.resize(occupied);
        std::iota(places.begin(), places.end(), Index(0));
        keep_sorted(places, occupied + wanted - size_, [&](Index a, Index b) {
            const auto age_a = age(member(a)), age_b = age(member(b));
            return age_a != age_b ? age_a < age_b : a < b;
        });
        for (Index place : places) age(member(place)) = -1;
    }
    for (Index place = occupied; places.size() < wanted; ++place) places.push_back(place);
    std::sort(places.begin(), places.end());
    return places;
}

template <class T>
void WorkingSet<T>::enter(Index i, Index place) {
    if (place == count()) members_.push_back(i);
    else members_[place] = i;
    fresh_.push_back(place);
    is_fresh_.resize(std::max(is_fresh_.size(), members_.size()));
    is_fresh_[place] = 1;
}

// Kernel rows of the new members against the whole set.
template <class T>
void WorkingSet<T>::compute() {
    const Index rows = fresh_.size();
    if (rows == 0) return;
    Array<Index> indices, all;
    Array<T*> targets;
    for (Index i : members_) all.push_back(problem_.row_of(i));
    for (Index place : fresh_) {
        indices.push_back(problem_.row_of(member(place)));
        targets.push_back(kernel_.data() + place * stride_);
    }
    const Index group = source_.concurrent() ? 32 : rows;
    const bool triangle = rows == count() && source_.concurrent();
    const auto columns = source_.columns(all);
    pool_.run((rows + group - 1) / group, [&](Index task) {
        const Index first = task * group;
        columns->fill(indices.data() + first, std::min(group, rows - first), triangle ? first : 0, padded(count()),
                      targets.data() + first);
    });
    for (Index place : fresh_) set_diagonal(place);
}

// Exact where a variable meets itself, with the ridge, or another one with the same kernel row, without.
template <class T>
void WorkingSet<T>::set_diagonal(Index place) {
    T* row = kernel_.data() + place * stride_;
    const Index i = member(place);
    std::fill(row + count(), row + stride_, T(0));
    if (problem_.row)
        for (Index q = 0; q < count(); ++q)
            if (problem_.row[member(q)] == problem_.row[i]) row[q] = static_cast<T>(problem_.diagonal[i]);
    row[place] = static_cast<T>(problem_.diagonal[i] + problem_.ridge[i]);
    diagonal_[place] = row[place];
}

// The other half of the symmetric matrix, in tiles so that lines of cache are used whole.
template <class T>
void WorkingSet<T>::mirror() {
    constexpr Index side = 32;
    const Index n_fresh = fresh_.size();
    if (n_fresh == 0) return;
    if (n_fresh == count()) return mirror_triangle();
    pool_.run((count() + side - 1) / side, [&](Index task) {
        const Index first = task * side, last = std::min(count(), first + side);
        for (Index k = 0; k < n_fresh; k += side)
            for (Index r = first; r < last; ++r) {
                if (is_fresh_[r]) continue;  // computed as a row; others may be reading it
                for (Index f = k; f < std::min(n_fresh, k + side); ++f) {
                    const Index place = fresh_[f];
                    kernel_[r * stride_ + place] = kernel_[place * stride_ + r];
                }
            }
    });
}

// A set of new members only has its upper triangle computed.
template <class T>
void WorkingSet<T>::mirror_triangle() {
    constexpr Index side = 32;
    // Triangles of 32 rows were computed in full (see compute), so that only whole tiles below them are written.
    pool_.run((count() + side - 1) / side, [&](Index task) {
        const Index first = task * side, last = std::min(count(), first + side);
        for (Index left = 0; left < first; left += side)
            for (Index r = first; r < last; ++r)
                for (Index c = left; c < left + side; ++c) kernel_[r * stride_ + c] = kernel_[c * stride_ + r];
    });
}

template class WorkingSet<float>;
template class WorkingSet<double>;

}  // namespace mercer
