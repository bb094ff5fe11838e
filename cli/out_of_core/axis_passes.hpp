// Pools axis by axis, with what is between two axes in a file: an axis that is not pooled yet can be cut anywhere, so
// that no window is too large.
#pragma once

#include "io/temporary_array.hpp"
#include "out_of_core/pieces.hpp"
#include "out_of_core/tiling.hpp"
#include "report/progress.hpp"

#include <functional>
#include <memory>

namespace ndpool::cli {

/// Makes the elements of a box of cells, packed, in the scalar of `to`.
using Elements = std::function<void(const Box& cells, const Array& to)>;

/// The elements of a part of a file, each put through `f`.
template <class T, class W, class F>
void transform_elements(const Array& from, const Array& to, const MemoryGuard& guard, F f) {
  for_each_piece(from, to, guard, [&](const Array& piece, const Array& into) {
    std::optional<OwnArray> decoded;
    if (piece.encoding != Encoding::native) decoded.emplace(piece);
    for_each_pair<const T, W>(decoded ? decoded->array() : piece, into,
                              [&](const T& value, W& result) { result = f(value); });
  });
}

/// The elements of an array, in its scalar or as float or double.
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

  /// Throws Interrupted at a signal.
  Passed run(const Geometry& geometry, const Elements& elements, const MemoryGuard& guard, Progress& progress) const;
};

}  // namespace ndpool::cli
