#include "tiles.hpp"

#include "large_windows.hpp"
#include "problem.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ndpool::cli {

namespace {

constexpr std::size_t largest_tile = std::size_t{64} << 20;

/// The most cells that a part with so many outputs can have on an axis.
Index cells_of(const Axis& axis, Index outputs) {
  if (!axis.pooled) return outputs;
  if (axis.adaptive) return outputs == 1 ? axis.kernel : axis.input;
  return std::min(axis.input, axis.span(outputs));
}

/// The most outputs that reach over so many neighbouring cells.
Index outputs_of(const Axis& axis, Index cells) {
  if (!axis.pooled || cells == axis.input) return cells == axis.input ? axis.output : cells;
  return std::min(axis.output, (cells - 1 + (axis.kernel - 1) * axis.dilation) / axis.stride + 1);
}

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

/// Elements as the kernels read them: copied if they are not.
class Readable {
 public:
  explicit Readable(const Array& array) : array_(array) {
    if (array.encoding != Encoding::native) array_ = copy_.emplace(array).array();
  }
  template <class T>
  View<const T> view() const {
    return array_.view<const T>();
  }

 private:
  std::optional<OwnArray> copy_;
  Array array_;
};

/// Has the system bring the pages of a mapped array, in a few calls instead of a fault for each.
void fetch(const Array& array) {
  // Blocks of neighbours in memory: axes are taken in, the closest first, as long as nothing is between their cells.
  std::vector<int> axes;
  for (int a = 0; a < array.shape.size(); ++a)
    if (array.shape[a] > 1) axes.push_back(a);
  if (element_count(array.shape) == 0) return;
  std::ranges::stable_sort(axes, std::less(), [&](int a) { return array.strides[a]; });
  const Index item = item_size(array.dtype);
  Index block = 1;
  std::size_t taken = 0;
  while (taken < axes.size() && array.strides[axes[taken]] == block) block *= array.shape[axes[taken++]];
  std::vector<Index> position(axes.size(), 0);
  for (;;) {
    Index offset = 0;
    for (std::size_t i = taken; i < axes.size(); ++i) offset += position[i] * array.strides[axes[i]];
    read_ahead(array.data + offset * item, static_cast<std::size_t>(block * item));
    std::size_t i = taken;
    while (i < axes.size() && ++position[i] == array.shape[axes[i]]) position[i++] = 0;
    if (i == axes.size()) return;
  }
}

/// A tile that is one huge window is better fetched bit by bit.
void fetch_if_it_fits(const Array& array) {
  if (static_cast<std::size_t>(element_count(array.shape) * item_size(array.dtype)) <= largest_tile) fetch(array);
}

/// One tile of a map.
class Tile {
 public:
  Tile(const Pool& pool, const Geometry& whole, const Operands& operands, const std::vector<Range>& box)
      : pool_(pool), part_(whole), x_(operands.x), whole_(whole), all_(operands), box_(box) {}

  bool forward(const Watch& watch) {
    Array y = cut_outputs(all_.result);
    cut_cells();
    fetch_if_it_fits(x_);
    const Readable x(x_);
    return with_dtype(x_.dtype, [&]<class T>() {
      if (!all_.indices) return pool().forward(x.view<T>(), y.view<T>(), watch);
      const View<Index> indices = cut_outputs(*all_.indices).view<Index>();
      const bool finished = pool().forward(x.view<T>(), y.view<T>(), indices, watch);
      if (finished && flat_offset_ != 0)
        spec::for_each_position(indices.shape(), [&](const Shape& at) {
          if (indices[at] >= 0) indices[at] += flat_offset_;
        });
      return finished;
    });
  }

  bool jvp(const Watch& watch) {
    Array dy = cut_outputs(all_.result);
    cut_cells();
    fetch_if_it_fits(x_);
    fetch_if_it_fits(cells_of_part(*all_.tangent));
    const Readable x(x_), dx(cells_of_part(*all_.tangent));
    return with_real([&]<class T>() { return pool().jvp(x.view<T>(), dx.view<T>(), dy.view<T>(), watch); });
  }

  /// The box holds cells of gx. Outputs near its edges reach beyond it: their cells are made too, and left out.
  bool vjp(const Watch& watch) {
    Array gx = all_.result, gy = *all_.tangent;
    for (int a = 0; a < whole_.rank; ++a) gx = gx.cut(a, box_[index(a)]);
    const std::vector<Range> cells = box_;
    for (int a = 0; a < whole_.rank; ++a) {
      box_[index(a)] = outputs_over(whole_.axes[a], cells[index(a)]);
      if (box_[index(a)].begin >= box_[index(a)].end) {  // no window reaches these cells
        copy_elements(OwnArray(gx.dtype, gx.shape).array(), gx);
        return true;
      }
      gy = gy.cut(a, box_[index(a)]);
    }
    cut_cells();
    fetch_if_it_fits(x_);
    fetch_if_it_fits(gy);
    const Readable x(x_), gradients(gy);
    OwnArray made(gx.dtype, x_.shape);
    if (!with_real(
            [&]<class T>() { return pool().vjp(x.view<T>(), gradients.view<T>(), made.array().view<T>(), watch); }))
      return false;
    Array own = made.array();
    OwnArray unseen(gx.dtype, gx.shape);
    Array kept = unseen.array();
    for (int a = 0; a < whole_.rank; ++a) {
      const Range wanted = cells[index(a)], have = cells_[index(a)];
      const Range both{std::max(wanted.begin, have.begin), std::max(std::min(wanted.end, have.end), wanted.begin)};
      if (both.begin >= both.end) {
        copy_elements(unseen.array(), gx);
        return true;
      }
      own = own.cut(a, {both.begin - have.begin, both.end - have.begin});
      kept = kept.cut(a, {both.begin - wanted.begin, both.end - wanted.begin});
    }
    copy_elements(own, kept);
    copy_elements(unseen.array(), gx);
    return true;
  }

 private:
  static std::size_t index(int axis) { return static_cast<std::size_t>(axis); }

  Array cut_outputs(Array array) const {
    for (int a = 0; a < whole_.rank; ++a) array = array.cut(a, box_[index(a)]);
    return array;
  }
  Array cells_of_part(Array array) const {
    for (int a = 0; a < whole_.rank; ++a) array = array.cut(a, cells_[index(a)]);
    return array;
  }
  void cut_cells() {
    for (int a = 0; a < whole_.rank; ++a) {
      cells_.push_back(take_part(part_, a, box_[index(a)]));
      flat_offset_ += cells_.back().begin * whole_.cell_stride[a];
    }
    x_ = cells_of_part(x_);
  }
  Pool pool() const { return pool_.over(part_); }

  template <class F>
  bool with_real(F f) const {
    return with_dtype(x_.dtype, [&]<class T>() -> bool {
      if constexpr (spec::Differentiable<T>)
        return f.template operator()<T>();
      else
        throw WrongArguments(std::string("arrays of ") + name_of(x_.dtype) +
                             " have no derivatives; only those of floats have");
    });
  }

  const Pool& pool_;
  Geometry part_;
  Array x_;
  const Geometry& whole_;
  const Operands& all_;
  std::vector<Range> box_;
  std::vector<Range> cells_;
  Index flat_offset_ = 0;
};

/// Puts back the axes of length 1 that a global pool has dropped.
Array with_all_axes(const Array& array, const Geometry& geometry) {
  if (array.shape.size() == geometry.rank) return array;
  Array all = array;
  all.shape = geometry.output_shape();
  all.strides = all.shape;
  for (int a = 0, next = 0; a < geometry.rank; ++a)
    all.strides[a] = geometry.axes[a].pooled ? 1 : array.strides[next++];
  return all;
}

}  // namespace

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
      if (by_cells) outputs[i] = outputs_of(geometry.axes[a], extents[i]);
      cells[i] = cells_of(geometry.axes[a], outputs[i]);
    }
    return of_cells * product(cells) + of_outputs * product(outputs);
  };

  order_.resize(box.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, std::greater(), [&](int a) { return operands.x.strides[a]; });
  for (const int a : order_) {
    Index& extent = box[static_cast<std::size_t>(a)];
    const Axis& axis = geometry.axes[a];
    if (needs(box) <= static_cast<double>(bytes) || extent <= 1) continue;
    if (!has_free_parts(axis)) {
      if (!by_cells) extent = 1;
      continue;
    }
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

std::vector<Range> Tiling::box(Index number) const {
  std::vector<Range> box(ranges_.size());
  for (std::size_t i = order_.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order_[i]);
    const auto cuts = static_cast<Index>(ranges_[axis].size());
    box[axis] = ranges_[axis][static_cast<std::size_t>(number % cuts)];
    number /= cuts;
  }
  return box;
}

std::size_t tile_bytes(std::size_t memory) { return std::clamp(memory / 8, std::size_t{1} << 20, largest_tile); }

bool run_tile(Map map, const Pool& pool, const Geometry& geometry, const Operands& operands,
              const std::vector<Range>& box, const Watch& watch) {
  Tile tile(pool, geometry, operands, box);
  switch (map) {
    case Map::forward: return tile.forward(watch);
    case Map::jvp: return tile.jvp(watch);
    case Map::vjp: return tile.vjp(watch);
  }
  __builtin_unreachable();
}

void run_tiled(Map map, const Pool& pool, const Operands& given, const MemoryGuard& guard, Progress& progress) {
  const Geometry geometry = pool.geometry(given.x.shape);
  Operands operands = given;
  if (map == Map::vjp)
    operands.tangent = with_all_axes(*given.tangent, geometry);
  else
    operands.result = with_all_axes(given.result, geometry);
  if (given.indices) operands.indices = with_all_axes(*given.indices, geometry);
  if (element_count(operands.result.shape) == 0) return;

  const Tiling tiling(map, geometry, operands, tile_bytes(guard.bound()));
  if (!tiling.fits() && map == Map::forward && !operands.indices &&
      forward_by_axes(pool, geometry, operands.x, operands.result, guard, progress))
    return;
  const auto tiles = static_cast<double>(tiling.count());
  for (Index i = 0; i < tiling.count(); ++i) {
    progress.stage(static_cast<double>(i) / tiles, static_cast<double>(i + 1) / tiles);
    const bool finished = run_tile(map, pool, geometry, operands, tiling.box(i), progress.watch());
    if (!finished || is_interrupted()) throw Problem("interrupted");
    guard.trim(guard.bound() / 2);
  }
}

}  // namespace ndpool::cli
