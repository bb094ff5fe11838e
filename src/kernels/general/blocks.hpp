// A long window as blocks: how overlapping windows share what they combine, so that the cost of an output does not grow
// with its window.
#pragma once

#include "plan/windows.hpp"

namespace ndpool::general {

/// Blocks of 1, 4, 16, ... taps, and of the powers of two that a window is made of. Block sizes are the same at every
/// position, so that a float sum has one order of additions: that of the stated tree.
struct Blocks {
  static constexpr int max_levels = 40, max_parts = 40;

  struct Part {
    int level = 0;
    Index at = 0;  ///< first tap of the block in the window
  };

  int levels = 1;
  Index size[max_levels] = {1};  ///< taps of a block of each level; each is at most 4 of the level before
  int parts = 0;
  Part part[max_parts];
  bool nested = false;  ///< parts of falling sizes, joined to the right; else a tree of equal ones
  Index lattice = 1;    ///< distance, in cells, of the places where blocks begin
  double cost = 0;      ///< combines of one place

  /// A sum is made of its binary digits, largest first; an extreme of two blocks that may overlap.
  static Blocks of(Index taps, bool is_sum) {
    Blocks blocks;
    Index top = 1;
    while (top * 2 <= taps) top *= 2;
    if (is_sum) {
      for (Index digit = 1; digit <= top; digit *= 2)
        if ((taps & digit) != 0) blocks.reach(digit);
      Index at = 0;
      for (Index digit = top; digit > 0; digit /= 2) {
        if ((taps & digit) == 0) continue;
        blocks.part[blocks.parts++] = {blocks.level_of(digit), at};
        at += digit;
      }
      blocks.nested = true;
    } else {
      blocks.reach(top);
      blocks.part[blocks.parts++] = {blocks.level_of(top), 0};
      if (taps > top) blocks.part[blocks.parts++] = {blocks.level_of(top), taps - top};
    }
    if (blocks.parts == 1 && blocks.levels > 1) blocks.drop_last_level();
    for (int level = 1; level < blocks.levels; ++level)
      blocks.cost += static_cast<double>(blocks.size[level] / blocks.size[level - 1]) + 1;
    return blocks;
  }

  /// The same for the windows of an axis, if overlapping windows gain by sharing; else no parts.
  static Blocks shared_by(const Windows& windows, bool is_sum) {
    constexpr Index max_direct = 8;
    if (!windows.is_regular() || windows.kernel <= max_direct || windows.outputs == 1 ||
        windows.kernel > 2 * windows.cells + 64)
      return {};
    Blocks blocks = of(windows.kernel, is_sum);
    Index lattice = windows.stride;
    if (blocks.levels > 1) lattice = detail::common_divisor(lattice, windows.tap_step * blocks.size[1]);
    if (!blocks.nested)
      for (int i = 0; i < blocks.parts; ++i)
        lattice = detail::common_divisor(lattice, blocks.part[i].at * windows.tap_step);
    blocks.lattice = lattice;
    const double shared = static_cast<double>(windows.stride / lattice) * blocks.cost + blocks.parts;
    return shared < 1.1 * static_cast<double>(windows.kernel) ? blocks : Blocks{};
  }

 private:
  static constexpr Index ratio = 4;
  void reach(Index digit) {
    while (digit / size[levels - 1] > ratio) push(size[levels - 1] * ratio);
    if (digit > size[levels - 1]) push(digit);
  }
  void push(Index taps) { size[levels++] = taps; }
  int level_of(Index taps) const {
    int level = 0;
    while (size[level] != taps) ++level;
    return level;
  }
  /// A power of two: its last step goes straight to the result.
  void drop_last_level() {
    const Index whole = size[--levels], below = size[levels - 1];
    parts = 0;
    nested = false;
    for (Index at = 0; at < whole; at += below) part[parts++] = {levels - 1, at};
  }
};

}  // namespace ndpool::general
