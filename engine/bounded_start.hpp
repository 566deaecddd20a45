// Points with all variables at their bounds, made to sum to zero.
#pragma once

#include "array.hpp"

namespace mercer {

// Kernel rows that lie in memory, `stride` entries apart.
template <class T>
struct StoredRows {
    const T* values;
    Index n, stride;
};

// Moves variables of the larger side towards zero, those whose images K beta are farthest on their own side first and
// `most` at the utmost, until all sum to zero; the images follow. Says whether that came about, and whether the point
// is no worse than the multiples of it that lie nearer to zero.
template <class T>
bool release_excess(const StoredRows<T>& kernel, Index most, double* beta, double* image);

}  // namespace mercer
