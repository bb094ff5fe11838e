// What can be asked of a plan, and what can be asked about it.
#pragma once

#include <ndpool/api.h>
#include <ndpool/extents.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ndpool {

/// The maps that a plan chooses an implementation for.
enum class MapKind : unsigned char {
  forward,               ///< y = R(x)
  forward_with_indices,  ///< also the index of each window's first extreme
  jvp,                   ///< dy = R'(x) dx
  vjp,                   ///< gx = R'(x)^T gy
  jvp_from_indices,      ///< the JVP of max and min, by given indices instead of x
  vjp_from_indices,      ///< the VJP of max and min, by given indices instead of x
  unpool,                ///< max unpooling, and its JVP
  unpool_vjp,            ///< the VJP of max unpooling
};
/// How many kinds of maps there are.
inline constexpr int map_kinds = static_cast<int>(MapKind::unpool_vjp) + 1;
/// "forward", "vjp", ...: the name of the enumerator. A literal; allocates nothing.
[[nodiscard]] NDPOOL_API std::string_view name_of(MapKind map);

/// What a caller may ask of a plan.
struct PlanOptions {
  /// The name of the implementation to run, in all maps that have it; empty for the first that accepts the problem.
  /// "reference" runs every map by the reference.
  std::string implementation = {};
  /// Strides of the results (y, dy, gy, indices), in elements; packed if left empty.
  Shape result_strides = {};
};

/// How a plan runs one map.
struct MapSummary {
  std::string_view implementation = "reference";                  ///< the one that runs
  std::vector<std::string_view> implementations = {"reference"};  ///< all that accept the problem, first choice first
  std::size_t scratch_bytes = 0;                                  ///< of each thread
  Index tiles = 1;                                                ///< pieces that threads can share
};

}  // namespace ndpool
