// Windows that are larger than a tile may be, such as that of a global pool over a whole file.
#pragma once

#include "array.hpp"
#include "mapping.hpp"
#include "progress.hpp"

namespace ndpool::cli {

/// Pools axis by axis, the first one first, as the spec does: an axis that is not pooled yet can be cut anywhere. What
/// is between two axes is kept in a file without a name, in a scalar that holds it exactly, so that the bits are those
/// of the pool itself. False, with nothing done, where no scalar does that: the pool itself has the answer, with more
/// memory. Throws a Problem if interrupted.
bool forward_by_axes(const Pool& pool, const Geometry& geometry, const Array& x, const Array& y,
                     const MemoryGuard& guard, Progress& progress);

}  // namespace ndpool::cli
