// An active-set method for one quadratic program whose matrix loses features one after the other.
//
// The conditions of the variables between their bounds ("free") are linear equations,
//
//     [ 0  1' ] [ b ]   [ delta - sum of the others ]
//     [ 1  Q  ] [ x ] = [ -p - Q_others x_others     ],      Q = K + diag(ridge) of the free,
//
// and the inverse of their matrix is kept. A feature less is a rank-one change of it, and so is a variable
// that becomes free or reaches a bound; each costs as many operations as the inverse has entries. A
// neighbouring problem is solved to the last digits in a few such steps.
#pragma once

#include "smo_types.hpp"

namespace mercer {

class ActiveSet {
public:
    // The matrix (n x n, without the ridge), its diagonal and the point are changed in place.
    ActiveSet(double* kernel, double* diagonal, const SmoProblem& problem, const Point& at);

    enum class Outcome { solved, unbounded, lost };  // lost: rounding or the limit of steps won

    // The inverse anew, for the variables that lie between their bounds now.
    Outcome restart();

    // Steps until no condition is violated by more than tol; at most max_steps changes of the free set.
    Outcome solve(double tol, std::int64_t max_steps);

    // Takes features (each a column of n numbers) out of the matrix; brings the gradient up to date.
    Outcome forget(const double* const* columns, Index count);

    double offset() const;
    std::int64_t n_steps() const { return n_steps_; }

private:
    Index n_free() const { return free_.size(); }
    double* row(Index k) { return inverse_.data() + k * stride_; }
    bool is_free(Index i) const { return place_[i] >= 0; }
    double entry(Index i, Index j) const;

    Outcome admit(Index i);
    Outcome step_to_optimum(double tol);
    Outcome take_out(const double* column);
    void move(const Array<double>& direction, double length, Index with = -1, double its_direction = 0.0);
    double room(const Array<double>& direction, Index& blocking) const;
    void settle(Index k, double direction);
    void drop(Index k);
    void times_inverse(const Array<double>& vector, Array<double>& out);
    void add_outer(const Array<double>& vector, double factor);
    Index worst(double tol) const;
    bool open_pair(double tol);

    double* kernel_;
    double* diagonal_;
    const SmoProblem& problem_;
    const Point at_;
    const Index n_, stride_;
    Array<double> inverse_;  // (n_free + 1) x (n_free + 1), the offset first
    Array<Index> free_;      // variables, in the order of the inverse
    Array<Index> place_;     // of each variable among them, or -1
    Array<double> rhs_, direction_, image_;
    Array<const double*> rows_;
    Array<double> weights_;
    std::int64_t n_steps_ = 0;
};

}  // namespace mercer
