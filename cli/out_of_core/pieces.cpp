#include "out_of_core/pieces.hpp"

#include <algorithm>
#include <functional>

namespace ndpool::cli {

Blocks::Blocks(const Array& array) {
  for (int a = 0; a < array.shape.size(); ++a)
    if (array.shape[a] > 1) axes.push_back(a);
  std::ranges::stable_sort(axes, std::less(), [&](int a) { return array.strides[a]; });
  auto next = axes.begin();
  while (next != axes.end() && array.strides[*next] == length) length *= array.shape[*next++];
  axes.erase(axes.begin(), next);
}

std::vector<int> far_axes(const Array& array) {
  constexpr Index far = 1 << 16;  // what a fault brings where pages are small
  std::vector<int> axes = Blocks(array).axes;
  std::erase_if(axes, [&](int a) { return array.strides[a] * item_size(array.dtype) < far; });
  return axes;
}

Index max_pieces(const MemoryGuard& guard) {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  return static_cast<Index>(guard.bound() / 4 / large_page);
}

bool is_scattered(const Array& array, const MemoryGuard& guard) {
  Index pieces = 1;
  for (const int a : far_axes(array)) pieces *= array.shape[a];
  return pieces > max_pieces(guard);
}

}  // namespace ndpool::cli
