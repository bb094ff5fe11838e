// How the result of a map is cut into tiles that fit into memory.
#pragma once

#include "io/array.hpp"

#include <optional>
#include <vector>

namespace ndpool::cli {

/// A range of positions on each axis.
using Box = std::vector<Range>;
Array cut(Array array, const Box& box);

/// Flat indices of a part as those of the whole; -1, which names no cell, stays.
void shift_indices(const Array& indices, Index by);

enum class Map : unsigned char { forward, jvp, vjp };

/// The arrays of one map: `tangent` is dx or gy, `result` is y, dy or gx; `indices` only of a forward map.
struct Operands {
  Array x;
  std::optional<Array> tangent;
  Array result;
  std::optional<Array> indices;
};

/// Boxes of positions: for each axis the ranges it is cut into.
class Tiling {
 public:
  /// Cuts what the map makes - outputs, or the cells of a gradient - so that no tile needs more than `bytes`, as far as
  /// windows allow that; the axes that lie furthest apart in memory first.
  Tiling(Map map, const Geometry& geometry, const Operands& operands, std::size_t bytes);

  /// False if windows are so large that even a single one of them needs more.
  bool fits() const { return fits_; }
  Index count() const;
  /// The box with this number; neighbours in memory have neighbouring numbers.
  Box box(Index number) const;

 private:
  std::vector<int> order_;
  std::vector<std::vector<Range>> ranges_;
  bool fits_ = true;
};

/// The smallest bound on memory that can be kept.
inline constexpr std::size_t min_memory = std::size_t{32} << 20;

/// No tile takes more, however much memory there is.
inline constexpr std::size_t largest_tile = std::size_t{64} << 20;

/// Bytes that tiles may take when memory is bounded like this.
std::size_t tile_bytes(std::size_t memory);

}  // namespace ndpool::cli
