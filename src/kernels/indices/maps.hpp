// The maps by given indices, tile by tile: every index kind, scalar, geometry and layout. What the implementation
// "indices" runs (plan/index_runs.cpp); also the way from winners that the library found itself to gradients.
//
// To scatter gradients by indices that are not a caller's: make a Layout (layout.hpp) of the canonical rows, whose
// strides `out` are those of the indices (0 for loops over planes that use the same scratch one after another, packed
// ones within a plane), `tangent_out` those of gy and `tangent_in` those of gx, and keep it with the plan. Then, with
// `scratch_bytes` of scratch per thread,
//
//   MapJob job{.layout = layout, .map = IndexMap::add, .form = Form::flat32, .kind = ScalarKind::kind_f32,
//              .indices = positions, .cells = gx, .values = gy};
//   for (Index tile = 0; tile < layout.by_cells.count; ++tile) run_tile(job, tile, scratch);
//
// in any order and on any threads. Tile by tile the planes are those of cell_tile(); every cell of gx is written once.
// Each index must be of a cell of its output's window or all ones; then no job reports strays.
#pragma once

#include "kernels/indices/layout.hpp"
#include "kernels/indices/loops.hpp"

#include "kernels/kernels.hpp"

#include <cstddef>

namespace ndpool::indices {

enum class IndexMap : unsigned char {
  check,      ///< whether every index names a cell of its window (taps), or of its plane (flat), or none
  take,       ///< JVP: values = the cells that indices name, 0 for none
  add,        ///< VJP: cells = the sums of the values whose indices name them
  put,        ///< unpooling: cells = the last value whose index names them, or 0
  zero,       ///< values = 0
  take_last,  ///< VJP of unpooling, after `zero`: values = their cells, where `put` would have left them there
};
/// True if a tile is some cells; of the others it is some outputs.
constexpr bool is_by_cells(IndexMap map) {
  return map == IndexMap::add || map == IndexMap::put || map == IndexMap::take_last;
}

struct MapJob {
  const Layout& layout;
  IndexMap map;
  Form form;
  ScalarKind kind;  ///< of cells and values
  const void* indices;
  void* cells;
  void* values;
  bool all_outputs = false;  ///< flat indices may be far from their windows: each slab visits all outputs of its plane
};

/// Answers false, of `check`, if an index names no cell; of maps by slabs, if a flat index lies outside of its window
/// and might be another slab's: then all tiles must run again with `all_outputs`.
bool run_tile(const MapJob& job, Index tile, void* scratch);

std::size_t scratch_bytes(const Layout& layout, IndexMap map, ScalarKind kind);

}  // namespace ndpool::indices
