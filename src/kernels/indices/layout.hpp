// What the maps by given indices know of a pool: its dimensions in the order in which outputs are visited, and how its
// cells are cut into tiles. Made with the plan.
//
// Outputs are visited row-major within a plane, lanes innermost, so gradients of a cell are added in the order of the
// reference whatever the tile. A tile is some planes, or a slab of one: neighbouring cells of its first long axis.
#pragma once

#include "plan/rows.hpp"

#include <vector>

namespace ndpool::indices {

/// Planes (the loops of canonical rows), then pooled axes, then the lanes: one more plane and lane than axes at most.
inline constexpr int max_dims = max_rank + 3;

struct Dim {
  Axis window;  ///< of a pooled axis; planes and lanes have as many cells as outputs
  bool is_pooled = false;
  Index outputs = 1, cells = 1;
  Index index_stride = 0, value_stride = 0;  ///< of the indices, and of the values or gradients of outputs
  Index cell_stride = 0;
  Index tap_weight = 0, flat_weight = 0;  ///< in tap numbers and flat indices
};

/// Ranges of outputs and of cells, one per dimension.
struct Box {
  Range outputs[max_dims];
  Range cells[max_dims];
};

/// How the outputs, or the cells, are cut into tiles: one position of the dimensions before `dim`, some of `dim`, all
/// of those behind it. Slabs and chunks of lanes are cut from single planes.
struct Tiling {
  int dim = 0;
  Index step = 1;
  Index slab = 0;   ///< cells of the slab axis in a tile; 0 if planes are whole
  Index lanes = 0;  ///< in a tile
  Index count = 0;  ///< of tiles
};

struct Layout {
  std::vector<Dim> dims;
  int count = 0;         ///< of dimensions
  int pooled_begin = 0;  ///< at least one plane is before it
  int pooled_end = 0;    ///< the lanes are behind it
  int slab_dim = 0;
  Index slack = 0;         ///< cells of the slab axis that an index may lie beyond its window
  Index tap_count = 1;     ///< of the largest window
  Index cell_count = 1;    ///< of a plane, without lanes
  bool is_narrow = false;  ///< offsets in tiles, tap numbers and flat indices have 31 bits
  bool is_nested = false;  ///< slabs are apart in the array of cells
  Tiling by_cells, by_outputs;
  Index max_tile_cells = 0;

  const Dim& dim(int d) const { return dims[static_cast<std::size_t>(d)]; }
};

/// `is_unpool`: windows only tell which cells are near, and indices may name any.
Layout make_layout(const Rows& rows, bool is_unpool);

/// The cells of a tile, and the outputs whose windows reach them; all outputs of the planes if `all_outputs`.
void cell_tile(const Layout& layout, Index tile, bool all_outputs, Box& box);
/// Some outputs, and the planes that they are in.
void output_tile(const Layout& layout, Index tile, Box& box);

}  // namespace ndpool::indices
