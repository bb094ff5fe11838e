// What a layer does with elements at the end of an axis that no window sees.
#pragma once

#include <ndpool/geometry.hpp>

namespace ndpool {

enum class Edges : unsigned char {
  drop,   ///< leave them out, silently
  error,  ///< refuse such a shape
  ceil,   ///< one more window, which hangs over the end
};

/// A fault that names the first axis with elements that are left out, how many they are, and the padding that keeps
/// them.
template <int Capacity>
constexpr Fault check_edges(const BasicGeometry<Capacity>& geometry) {
  for (int a = 0; a < geometry.rank; ++a) {
    const Axis& axis = geometry.axes[a];
    if (const Loss loss = axis.loss(); loss.cells > 0)
      return {
          Code::edges_dropped, Argument::kernel, a, {axis.kernel, axis.stride, loss.cells, axis.input, loss.padding}};
  }
  return {};
}

}  // namespace ndpool
