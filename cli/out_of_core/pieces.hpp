// Parts of a mapped array that lie far apart in the file. For every one that is touched the system may bring up to a
// large page: they are touched a few at a time, with the pages given back in between.
#pragma once

#include "io/array.hpp"
#include "io/mapping.hpp"

namespace ndpool::cli {

/// Neighbours in memory, and the axes along which they repeat, the closest first. Axes are taken in as long as nothing
/// is between their cells.
struct Blocks {
  explicit Blocks(const Array& array);
  Index length = 1;  ///< in elements
  std::vector<int> axes;
};

/// The axes along which cells are so far apart that the system brings each on its own.
std::vector<int> far_axes(const Array& array);

/// As many pieces as may be touched at once.
Index max_pieces(const MemoryGuard& guard);

/// True if an array has more pieces than that.
bool is_scattered(const Array& array, const MemoryGuard& guard);

/// Calls use(part of a, part of b) for all of two arrays of one shape, of which `a` is mapped.
template <class Use>
void for_each_piece(const Array& a, const Array& b, const MemoryGuard& guard, const Use& use) {
  if (!is_scattered(a, guard)) {
    use(a, b);
    guard.trim(guard.bound() / 2);
    return;
  }
  int longest = -1;
  for (const int axis : far_axes(a))
    if (longest < 0 || a.shape[axis] > a.shape[longest]) longest = axis;
  const Index half = a.shape[longest] / 2;
  for (const Range& range : {Range{0, half}, Range{half, a.shape[longest]}})
    for_each_piece(a.cut(longest, range), b.cut(longest, range), guard, use);
}

}  // namespace ndpool::cli
