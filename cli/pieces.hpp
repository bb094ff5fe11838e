// Parts of a mapped array that lie far apart in the file. For every one that is touched the system may bring up to a
// large page: they are touched a few at a time, with the pages given back in between.
#pragma once

#include "array.hpp"
#include "mapping.hpp"

namespace ndpool::cli {

/// So many of them may be touched at once.
inline constexpr Index few_pieces = 8;

inline bool is_apart(const Array& array, int axis) {
  constexpr Index bytes = 1 << 16;  // what a fault brings where pages are small
  return array.shape[axis] > 1 && array.strides[axis] * item_size(array.dtype) >= bytes;
}

inline Index count_pieces(const Array& array) {
  Index pieces = 1;
  for (int a = 0; a < array.shape.size(); ++a)
    if (is_apart(array, a)) pieces *= array.shape[a];
  return pieces;
}

/// Calls use(part of a, part of b) for all of two arrays of one shape, of which `a` is mapped.
template <class Use>
void for_each_piece(const Array& a, const Array& b, const MemoryGuard& guard, const Use& use) {
  int longest = -1;
  for (int axis = 0; axis < a.shape.size(); ++axis)
    if (is_apart(a, axis) && (longest < 0 || a.shape[axis] > a.shape[longest])) longest = axis;
  if (count_pieces(a) <= few_pieces) {
    use(a, b);
    guard.trim(guard.bound() / 2);
    return;
  }
  const Index half = a.shape[longest] / 2;
  for (const Range& range : {Range{0, half}, Range{half, a.shape[longest]}})
    for_each_piece(a.cut(longest, range), b.cut(longest, range), guard, use);
}

}  // namespace ndpool::cli
