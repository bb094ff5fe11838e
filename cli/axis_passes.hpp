// Pools axis by axis, with what is between two axes in a file: an axis that is not pooled yet can be cut anywhere, so
// that no window is too large.
#pragma once

#include "progress.hpp"
#include "temporary_array.hpp"
#include "tiling.hpp"

#include <algorithm>
#include <functional>
#include <memory>

namespace ndpool::cli {

/// Makes the elements of a box of cells, packed, in the scalar of `to`.
using Elements = std::function<void(const Box& cells, const Array& to)>;

/// The elements of a part of a file, each put through `f`. Pieces of it lie far apart, and the system
/// brings more of each than was asked for: the pages are given back every few pieces.
template <class T, class W, class F>
void transform_elements(const Array& from, const Array& to, const MemoryGuard& guard, F f) {
  constexpr Index pieces = 8;
  W* next = to.view<W>().data();
  for (Index i = 0; i < from.shape[0]; i += pieces) {
    const OwnArray native(from.cut(0, {i, std::min(i + pieces, from.shape[0])}));
    const T* values = native.array().view<T>().data();
    next = std::transform(values, values + element_count(native.array().shape), next, f);
    guard.trim(guard.bound() / 2);
  }
}

/// The elements of an array, in another scalar that holds them.
Elements elements_of(const Array& array, const MemoryGuard& guard);

/// What passes leave: the value of each output and, where winners were asked for, its flat index.
struct Passed {
  std::unique_ptr<TemporaryArray> values, indices;
};

/// A reducer whose values can be pooled again: max, min, sum, and smooth max and Lp without padding.
struct Passes {
  Pool::Reduction reduction;
  Dtype work;                 ///< the scalar of the elements, of all that is between, and of the result
  bool with_indices = false;  ///< of the winners, for max and min

  /// Throws a Problem if interrupted.
  Passed run(const Geometry& geometry, const Elements& elements, const MemoryGuard& guard, Progress& progress) const;
};

}  // namespace ndpool::cli
