// Pools arrays that are larger than memory may hold: tile by tile, each with just the cells that its windows see.
#pragma once

#include "array.hpp"
#include "mapping.hpp"
#include "progress.hpp"

#include <optional>
#include <vector>

namespace ndpool::cli {

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
  std::vector<Range> box(Index number) const;

 private:
  std::vector<int> order_;
  std::vector<std::vector<Range>> ranges_;
  bool fits_ = true;
};

/// Runs a map for one box of a tiling. The arrays have all axes. False if `watch` stopped it.
bool run_tile(Map map, const Pool& pool, const Geometry& geometry, const Operands& operands,
              const std::vector<Range>& box, const Watch& watch);

/// Runs a map. The bits of the result do not depend on the bound of `guard`. Throws a Problem if interrupted.
void run_tiled(Map map, const Pool& pool, const Operands& operands, const MemoryGuard& guard, Progress& progress);

/// Bytes that tiles may take when memory is bounded like this.
std::size_t tile_bytes(std::size_t memory);

}  // namespace ndpool::cli
