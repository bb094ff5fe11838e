// Runs of the maps by indices on all threads.
#pragma once

#include "kernels/indices/maps.hpp"

namespace ndpool {

/// Runs one map by indices, and once more for flat indices that lie outside of their windows. False if `progress`
/// stopped it.
bool run_index_map(indices::MapJob job, const ProgressCallback& progress);

}  // namespace ndpool
