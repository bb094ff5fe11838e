// What a layer does with cells at the end of an axis that are too few for one more window.
#pragma once

#include <ndpool/geometry.hpp>

namespace ndpool {

enum class Edges : unsigned char {
  drop,   ///< leave them out, silently
  error,  ///< refuse such a shape: the stride must divide length + padding - span of the window
  ceil,   ///< one more window, which hangs over the end
};

/// The cells behind the last window of an axis. Gaps between windows are none of them.
struct Rest {
  Index cells = 0;    ///< padding included: (length + padding - span of the window) modulo the stride
  Index input = 0;    ///< without padding
  Index padding = 0;  ///< what one more window needs; 0 if that window would see no input element
};

constexpr Rest rest_of(const Axis& axis) {
  if (axis.adaptive) return {};
  const Index cells = axis.lo + axis.input + axis.hi - axis.span(axis.output);
  if (cells <= 0) return {};  // the last window ends where the padding does, or hangs over it
  // The first comparison keeps the start of the next window within 64 bits.
  const bool next_sees_input =
      axis.stride < axis.input - axis.start(axis.output - 1) && axis.taps(axis.output).count > 0;
  return {cells, detail::smaller(axis.input, detail::larger(0, cells - axis.hi)),
          next_sees_input ? axis.stride - cells : 0};
}

/// A fault that names the first axis with such cells, how many they are, and the padding that makes a window of them.
template <int Capacity>
constexpr Fault check_edges(const BasicGeometry<Capacity>& geometry) {
  for (int a = 0; a < geometry.rank; ++a) {
    const Axis& axis = geometry.axes[a];
    if (const Rest rest = rest_of(axis); rest.cells > 0)
      return {Code::edges_dropped,
              Argument::kernel,
              a,
              {axis.kernel, axis.stride, rest.cells, axis.lo + axis.input + axis.hi, rest.padding}};
  }
  return {};
}

}  // namespace ndpool
