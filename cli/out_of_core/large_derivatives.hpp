// Derivatives of windows that are larger than a tile may be.
#pragma once

#include "out_of_core/large_windows.hpp"

namespace ndpool::cli {

/// dy of a JVP or gx of a VJP: first what the weights depend on, axis by axis, then the weights. False, with nothing
/// done, where windows overlap so much that the pool itself, with more memory, is by far faster. Throws Interrupted
/// at a signal.
bool derive_by_axes(Map map, const Pool& pool, const Geometry& geometry, const Operands& operands,
                    const MemoryGuard& guard, Progress& progress);

}  // namespace ndpool::cli
