// The instruction sets that the kernels are compiled for.
#pragma once

#include <ndpool/api.h>
#include <string>
#include <vector>

namespace ndpool {

/// Names of the instruction sets that this machine can run kernels for, best first. The best is used, unless the
/// environment variable NDPOOL_FORCE_TARGET or `force_target` chooses another. Thread-safe; allocates the list.
[[nodiscard]] NDPOOL_API std::vector<std::string> targets();

/// The instruction set in use. Thread-safe. Throws if NDPOOL_FORCE_TARGET names none of targets().
[[nodiscard]] NDPOOL_API std::string target();

/// Uses the kernels of one instruction set from now on; an empty name means the best. Throws if `name` is not one of
/// targets(). Meant for tests and measurements: other threads must not run or plan pools meanwhile.
NDPOOL_API void force_target(const std::string& name);

}  // namespace ndpool
