// Arrays that lie in memory in any way a view allows: misaligned, reversed, permuted, with gaps, broadcast.
#pragma once

#include "support/array.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace ndpool::testing {

/// Where the elements of an array are in a block of memory, in elements.
struct Layout {
  Index elements = 0;  ///< of the block
  Index offset = 0;    ///< of the element at position 0 of every axis
  Shape strides;
};

inline Layout packed_layout(const Shape& shape) { return {element_count(shape), 0, packed_strides(shape)}; }

/// A random layout; only what is read may be broadcast.
inline Layout draw_layout(const Shape& shape, std::mt19937_64& random, bool may_broadcast) {
  const auto sometimes = [&](std::uint64_t one_in) { return random() % one_in == 0; };
  const auto up_to = [&](std::uint64_t most) { return static_cast<Index>(random() % (most + 1)); };
  std::vector<int> order(static_cast<std::size_t>(shape.size()));
  std::iota(order.rbegin(), order.rend(), 0);  // innermost first
  if (sometimes(3)) std::shuffle(order.begin(), order.end(), random);
  const bool gaps = sometimes(3), reversed = sometimes(3), broadcast = may_broadcast && sometimes(6);
  Layout layout{1, 0, Shape::filled(shape.size(), 1)};
  for (const int axis : order) {
    const Index reach = std::max<Index>(shape[axis] - 1, 0);
    if (broadcast && sometimes(2)) {
      layout.strides[axis] = 0;
      continue;
    }
    const Index stride = gaps ? layout.elements * (1 + up_to(1)) + up_to(3) : layout.elements;
    const bool backwards = reversed && sometimes(2);
    layout.strides[axis] = backwards ? -stride : stride;
    if (backwards) layout.offset += stride * reach;
    layout.elements += stride * reach;
  }
  // A block that ends with the array lets the address sanitizer see the first byte beyond it.
  const Index before = sometimes(2) ? 0 : up_to(9), behind = sometimes(2) ? 0 : up_to(9);
  layout.offset += before;
  layout.elements += before + behind;
  return layout;
}

/// A block of memory filled with a pattern, and a view of an array in it.
template <class T>
class Placed {
 public:
  Placed(const Shape& shape, const Layout& layout)
      : elements_(static_cast<std::size_t>(layout.elements)),
        memory_(new T[elements_]),
        view(memory_.get() + layout.offset, shape, layout.strides) {
    std::memset(static_cast<void*>(memory_.get()), pattern, elements_ * sizeof(T));
  }
  /// Holds `values`; of elements that share memory the last one counts.
  Placed(const Array<T>& values, const Layout& layout) : Placed(values.shape(), layout) {
    Index i = 0;
    spec::for_each_position(view.shape(), [&](const Shape& at) { view[at] = values[i++]; });
  }

  View<const T> read() const { return view; }

  Array<T> packed() const {
    Array<T> copy(view.shape());
    Index i = 0;
    spec::for_each_position(view.shape(), [&](const Shape& at) { copy[i++] = view[at]; });
    return copy;
  }

  /// True if every byte that is not of the view still has the pattern.
  bool is_untouched_around() const {
    std::vector<bool> is_inside(elements_);
    spec::for_each_position(
        view.shape(), [&](const Shape& at) { is_inside[static_cast<std::size_t>(&view[at] - memory_.get())] = true; });
    const auto* bytes = reinterpret_cast<const unsigned char*>(memory_.get());
    for (std::size_t i = 0; i < elements_; ++i)
      for (std::size_t b = 0; !is_inside[i] && b < sizeof(T); ++b)
        if (bytes[i * sizeof(T) + b] != pattern) return false;
    return true;
  }

 private:
  static constexpr unsigned char pattern = 0xA5;
  std::size_t elements_;
  std::unique_ptr<T[]> memory_;

 public:
  View<T> view;
};

}  // namespace ndpool::testing
