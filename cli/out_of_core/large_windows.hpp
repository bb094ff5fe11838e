// Windows that are larger than a tile may be, such as that of a global pool over a whole file.
#pragma once

#include "out_of_core/axis_passes.hpp"

namespace ndpool::cli {

template <class Reducer>
concept Sums = std::is_base_of_v<spec::Sum<typename Reducer::Scalar>, Reducer>;
template <class Reducer>
concept Extremes = requires(typename Reducer::State state) {
  state.ties;
};
template <class Reducer>
concept Smooth = requires(typename Reducer::State state) {
  state.shift;
};

/// What passes work in. Short floats are made of longer ones, but extremes are among the elements.
template <class Reducer>
using PassedValue =
    std::conditional_t<Extremes<Reducer>, typename Reducer::Scalar, spec::Accumulator<typename Reducer::Scalar>>;

/// y, and the indices of max and min if they are asked for, with the bits that the pool itself makes. Throws
/// Interrupted at a signal.
void forward_by_axes(const Pool& pool, const Geometry& geometry, const Array& x, const Array& y,
                     const std::optional<Array>& indices, const MemoryGuard& guard, Progress& progress);

/// How the values of a pool of real numbers are made axis by axis; padding takes no part.
Passes passes_of(const Pool& pool, Dtype dtype);

/// The elements that these passes take: those of x, or their magnitudes.
Elements elements_for(const Pool& pool, const Array& x, const MemoryGuard& guard);

}  // namespace ndpool::cli
