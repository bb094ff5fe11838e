// How the general engine walks through one pool: which axes it folds in which form, the tiles that fit the cache, and
// where its scratch is. Made with the plan, read-only afterwards; knows no instruction set.
#pragma once

#include "kernels/general/blocks.hpp"
#include "plan/rows.hpp"

#include <memory>
#include <vector>

namespace ndpool::general {

/// One axis that is folded, in the stated order: the first axis first, the last one along the row.
struct AxisLayout {
  Windows windows;
  std::unique_ptr<const Blocks> blocks;  ///< how overlapping long windows share; null if they do not
  std::vector<AxisLayout> residues;      ///< of long transposed windows: the regular ones of every residue of outputs
  Index in_stride = 1, out_stride = 1;
  Index index_stride = 1;      ///< of the array of indices
  Index cell_stride = 1;       ///< of flat indices
  Index tap_stride = 1;        ///< of tap numbers
  Index tile = 1;              ///< outputs of a tile
  std::vector<double> counts;  ///< factor of the divisor of each output, or of each cell if gradients are divided;
                               ///< empty where one divisor serves all
};

/// Which way a pool is walked through.
enum class Direction : unsigned char {
  forward,     ///< from `in` to `out`
  transposed,  ///< from `tangent_out` to `tangent_in`: every cell sums the outputs that have a tap on it
};

/// How the last axis is folded.
enum class RowMethod : unsigned char {
  lanes,       ///< lanes fill vectors: like any other axis
  shifted,     ///< stride 1: pointers into one row, a tap apart
  evens,       ///< stride 2: every other result of the same
  transposed,  ///< anything else: rows become lanes
  phases,      ///< transposed windows at a stride: each phase of the cells by pointers a tap apart
  sliding,     ///< the same for few rows, or windows that hardly ever repeat: output by output, a vector each
  scanned,     ///< argmax of large windows of neighbouring cells: each window by itself, in two passes
  single,      ///< one window: neighbours are joined until little is left
};

/// What is known of the scalar and the reducer.
struct ElementTraits {
  std::size_t stored_size = 4, work_size = 4;
  bool is_sum = false;
  bool has_positions = false;  ///< extremes with their positions: the input of a tile is lifted first
};

struct Layout {
  std::vector<LoopAxis> loops;  ///< tangent_in is the weight of a loop in flat indices, tangent_out the array of these
  Index planes = 1;
  std::vector<AxisLayout> axes;
  Index lanes = 1;
  Index lane_in_stride = 1, lane_out_stride = 1;
  bool in_is_direct = true, out_is_direct = true;  ///< rows lie in memory as they are folded; else tiles are copied
  RowMethod method = RowMethod::lanes;
  int halvings = 0;                          ///< times that neighbours in a row are joined before the method begins
  Index row_kernel = 1, row_stride = 1;      ///< of the last axis after that
  std::unique_ptr<const Blocks> row_blocks;  ///< of long windows at stride 1
  int lanes_from = 0;          ///< axes from here on are folded with planes as lanes; the number of axes if none is
  bool divides_first = false;  ///< gradients are divided as they are read; else results as they are written
  bool one_divisor = true;
  double divisor = 1;

  // Positions of extremes.
  Index lane_index_stride = 1;
  Index lane_inner = 1, lane_cells = 1, lane_cell_stride = 0;  ///< an axis that is pooled cell by cell may be lanes
  std::vector<int> by_cell_stride;                             ///< axes, largest weight in flat indices first
  bool taps_are_unique = false;                                ///< no two taps are as many cells behind tap 0
  bool has_empty_windows = false;
  Index max_position = 0;  ///< of a cell in the box of a tile
  int cut_axis = -1;       ///< axis whose cells are folded piece by piece; -1 if a box is small
  Index cut_cells = 0;

  Index planes_per_tile = 1;
  Index lanes_per_tile = 1;
  Index strips_per_tile = 1;  ///< parts of a row that one tile folds side by side, if it has few rows
  Index tile_count = 0;

  Index chunk = 0;         ///< elements of a row that are folded at a time
  Index row_pitch = 0;     ///< working elements from row to row
  Index row_capacity = 0;  ///< rows of a tile
  Index segment = 0;       ///< taps of a single window that are folded at a time; a power of two
  Index lane_group = 0;    ///< planes that become lanes together
  Index tree_pitch = 0, level_elements = 0, identity_elements = 0;
  Index along_capacity = 0;
  std::size_t along_at = 0, origins_at = 0, scan_rows_at = 0, pieces_at = 0;
  std::size_t identity_at = 0, zeros_at = 0, levels_at = 0, trees_at = 0, stage_at[2] = {0, 0}, whole_at = 0,
              rows_at = 0, lanes_at = 0, folded_at = 0, lifted_at = 0, stored_at = 0, pointers_at = 0, counts_at = 0,
              packed_in_at = 0, packed_out_at = 0, bytes = 0;

  int last() const { return static_cast<int>(axes.size()) - 1; }
  bool folds_planes_as_lanes() const { return lanes_from < static_cast<int>(axes.size()); }
};

/// Tiles along the last axis. Strips that one tile folds together have the same number of outputs.
Index strip_groups(const Layout& layout);

/// The layout of a pool whose canonical rows are given.
std::unique_ptr<const Layout> make_layout(const Rows& rows, const KernelChoice& choice, const ElementTraits& traits,
                                          Direction direction);

}  // namespace ndpool::general
