#include "out_of_core/tiling.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ndpool::cli {

namespace {

double product(const std::vector<Index>& extents) {
  return std::accumulate(extents.begin(), extents.end(), 1.0,
                         [](double all, Index extent) { return all * static_cast<double>(extent); });
}

std::vector<Range> even_ranges(Index length, Index most, Index begins) {
  const Index parts = (length + most - 1) / most, step = (length + parts - 1) / parts;
  std::vector<Range> ranges;
  for (Index begin = 0; begin < length; begin = ranges.back().end)
    ranges.push_back({begin, begin + step < begins ? begin + step : length});
  return ranges;
}

}  // namespace

Array cut(Array array, const Box& box) {
  for (int a = 0; a < array.shape.size(); ++a) array = array.cut(a, box[static_cast<std::size_t>(a)]);
  return array;
}

void shift_indices(const Array& indices, Index by) {
  if (by == 0) return;
  const View<Index> view = indices.view<Index>();
  spec::for_each_position(indices.shape, [&](const Shape& at) {
    if (view[at] >= 0) view[at] += by;
  });
}

Tiling::Tiling(Map map, const Geometry& geometry, const Operands& operands, std::size_t bytes) {
  const int rank = geometry.rank;
  const bool by_cells = map == Map::vjp;
  const double item = item_size(operands.x.dtype);
  const auto copies = [](const Array& array) { return array.encoding == Encoding::native ? 1 : 2; };
  double of_cells = copies(operands.x) + (map == Map::jvp ? copies(*operands.tangent) : map == Map::vjp ? 4 : 0);
  double of_outputs = map == Map::vjp ? copies(*operands.tangent) : 1;
  of_cells *= item, of_outputs *= item;
  if (operands.indices) of_outputs += sizeof(Index);

  std::vector<Index> box(static_cast<std::size_t>(rank));
  for (int a = 0; a < rank; ++a)
    box[static_cast<std::size_t>(a)] = by_cells ? geometry.axes[a].input : geometry.axes[a].output;
  const auto needs = [&](const std::vector<Index>& extents) {
    std::vector<Index> cells = extents, outputs = extents;
    for (int a = 0; a < rank; ++a) {
      const std::size_t i = static_cast<std::size_t>(a);
      if (by_cells) outputs[i] = most_outputs_over(geometry.axes[a], extents[i]);
      cells[i] = most_cells_under(geometry.axes[a], outputs[i]);
    }
    return of_cells * product(cells) + of_outputs * product(outputs);
  };

  order_.resize(box.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, std::greater(), [&](int a) { return operands.x.strides[a]; });
  for (const int a : order_) {
    Index& extent = box[static_cast<std::size_t>(a)];
    if (needs(box) <= static_cast<double>(bytes) || extent <= 1) continue;
    Index fits = 1, too_many = extent;
    while (too_many - fits > 1) {
      extent = fits + (too_many - fits) / 2;
      (needs(box) <= static_cast<double>(bytes) ? fits : too_many) = extent;
    }
    extent = fits;
  }
  fits_ = needs(box) <= static_cast<double>(bytes);
  for (int a = 0; a < rank; ++a) {
    const Axis& axis = geometry.axes[a];
    const Index length = by_cells ? axis.input : axis.output;
    ranges_.push_back(length == 0 ? std::vector<Range>{{0, 0}}
                                  : even_ranges(length, std::max<Index>(1, box[static_cast<std::size_t>(a)]),
                                                by_cells ? length : part_begins(axis)));
  }
}

Index Tiling::count() const {
  Index count = 1;
  for (const std::vector<Range>& ranges : ranges_) count *= static_cast<Index>(ranges.size());
  return count;
}

Box Tiling::box(Index number) const {
  Box box(ranges_.size());
  for (std::size_t i = order_.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order_[i]);
    const auto cuts = static_cast<Index>(ranges_[axis].size());
    box[axis] = ranges_[axis][static_cast<std::size_t>(number % cuts)];
    number /= cuts;
  }
  return box;
}

std::size_t tile_bytes(std::size_t memory) { return std::clamp(memory / 8, std::size_t{1} << 20, largest_tile); }

}  // namespace ndpool::cli
