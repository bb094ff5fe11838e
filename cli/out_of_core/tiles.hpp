// Pools arrays that are larger than memory may hold: tile by tile, each with just the cells that its windows see.
#pragma once

#include "io/mapping.hpp"
#include "out_of_core/tiling.hpp"
#include "report/progress.hpp"

namespace ndpool::cli {

/// Runs a map for one box of a tiling. The arrays have all axes. False if `callback` cancelled it.
bool run_tile(Map map, const Pool& pool, const Geometry& geometry, const Operands& operands, const Box& box,
              const MemoryGuard& guard, const ProgressCallback& callback);

/// Runs a map. The bits of the result do not depend on the bound of `guard`. Throws Interrupted at a signal.
void run_tiled(Map map, const Pool& pool, const Operands& operands, const MemoryGuard& guard, Progress& progress);

}  // namespace ndpool::cli
