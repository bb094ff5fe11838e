#include "out_of_core/tiles.hpp"

#include "out_of_core/large_derivatives.hpp"
#include "out_of_core/pieces.hpp"

#include <algorithm>
#include <limits>

namespace ndpool::cli {

namespace {

/// Has the system bring the pages of a mapped array, in a few calls instead of a fault for each.
void fetch(const Array& array) {
  if (element_count(array.shape) == 0) return;
  const Index item = item_size(array.dtype);
  const Blocks blocks(array);
  std::vector<Index> position(blocks.axes.size(), 0);
  // Blocks between which there is less than a page are in pages that follow one another.
  constexpr Index page = 4096;
  Index begin = 0, end = 0;
  bool is_first = true;
  const auto read = [&] { read_ahead(array.data + begin, static_cast<std::size_t>(end - begin)); };
  for (;;) {
    Index offset = 0;
    for (std::size_t i = 0; i < position.size(); ++i) offset += position[i] * array.strides[blocks.axes[i]] * item;
    const Index behind = offset + blocks.length * item;
    const bool joins = !is_first && offset >= begin && offset <= end + page;
    if (!is_first && !joins) read();
    is_first = false;
    begin = joins ? begin : offset;
    end = joins ? std::max(end, behind) : behind;
    std::size_t i = 0;
    while (i < position.size() && ++position[i] == array.shape[blocks.axes[i]]) position[i++] = 0;
    if (i == position.size()) return read();
  }
}

/// Elements of a mapped array as the kernels read them: copied if they are not, or lie far apart in many pieces.
class Readable {
 public:
  Readable(const Array& array, const MemoryGuard& guard) : array_(array) {
    const bool scattered = is_scattered(array, guard);
    // One huge window is better fetched bit by bit.
    const bool is_huge = element_count(array.shape) * item_size(array.dtype) > static_cast<Index>(largest_tile);
    if (!scattered && !is_huge) fetch(array);
    if (array.encoding == Encoding::native && (!scattered || is_huge)) return;
    array_ = copy_.emplace(array.dtype, array.shape).array();
    for_each_piece(array, array_, guard, copy_elements);
  }
  template <class T>
  View<const T> view() const {
    return array_.view<const T>();
  }

 private:
  std::optional<OwnArray> copy_;
  Array array_;
};

/// One tile of a map.
class Tile {
 public:
  Tile(const Pool& pool, const Geometry& whole, const Operands& operands, const Box& box, const MemoryGuard& guard)
      : pool_(pool), part_(whole), x_(operands.x), whole_(whole), all_(operands), box_(box), guard_(guard) {}

  bool forward(const ProgressCallback& callback) {
    Array y = cut(all_.result, box_);
    cut_cells();
    const Readable x(x_, guard_);
    return with_dtype(x_.dtype, [&]<class T>() {
      if (!all_.indices) return pool().forward(x.view<T>(), y.view<T>(), callback);
      const Array indices = cut(*all_.indices, box_);
      if (!pool().forward(x.view<T>(), y.view<T>(), indices.view<Index>(), callback)) return false;
      shift_indices(indices, flat_offset_);
      return true;
    });
  }

  bool jvp(const ProgressCallback& callback) {
    Array dy = cut(all_.result, box_);
    cut_cells();
    const Readable x(x_, guard_), dx(cut(*all_.tangent, cells_), guard_);
    return with_dtype(x_.dtype,
                      [&]<class T>() { return pool().jvp(x.view<T>(), dx.view<T>(), dy.view<T>(), callback); });
  }

  /// The box holds cells of gx. Outputs near its edges reach beyond it: their cells are made too, and left out.
  bool vjp(const ProgressCallback& callback) {
    const Array gx = cut(all_.result, box_);
    Array gy = *all_.tangent;
    const Box cells = box_;
    for (int a = 0; a < whole_.rank; ++a) {
      box_[index(a)] = outputs_over(whole_.axes[a], cells[index(a)]);
      if (box_[index(a)].begin >= box_[index(a)].end) {  // no window reaches these cells
        copy_elements(OwnArray(gx.dtype, gx.shape).array(), gx);
        return true;
      }
      gy = gy.cut(a, box_[index(a)]);
    }
    cut_cells();
    const Readable x(x_, guard_), gradients(gy, guard_);
    OwnArray made(gx.dtype, x_.shape);
    const bool finished = with_dtype(x_.dtype, [&]<class T>() {
      return pool().vjp(x.view<T>(), gradients.view<T>(), made.array().view<T>(), callback);
    });
    if (!finished) return false;
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

  void cut_cells() {
    for (int a = 0; a < whole_.rank; ++a) {
      cells_.push_back(take_part(part_, a, box_[index(a)]));
      flat_offset_ += cells_.back().begin * whole_.cell_stride[a];
    }
    x_ = cut(x_, cells_);
  }
  Pool pool() const { return pool_.over(part_); }

  const Pool& pool_;
  Geometry part_;
  Array x_;
  const Geometry& whole_;
  const Operands& all_;
  Box box_;
  Box cells_;
  const MemoryGuard& guard_;
  Index flat_offset_ = 0;
};

/// Runs a map whose windows are larger than a tile. False, with nothing done, if that is no use.
bool run_by_axes(Map map, const Pool& pool, const Geometry& geometry, const Operands& operands,
                 const MemoryGuard& guard, Progress& progress) {
  if (map != Map::forward) return derive_by_axes(map, pool, geometry, operands, guard, progress);
  forward_by_axes(pool, geometry, operands.x, operands.result, operands.indices, guard, progress);
  return true;
}

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

bool run_tile(Map map, const Pool& pool, const Geometry& geometry, const Operands& operands, const Box& box,
              const MemoryGuard& guard, const ProgressCallback& callback) {
  Tile tile(pool, geometry, operands, box, guard);
  switch (map) {
    case Map::forward: return tile.forward(callback);
    case Map::jvp: return tile.jvp(callback);
    case Map::vjp: return tile.vjp(callback);
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

  Tiling tiling(map, geometry, operands, tile_bytes(guard.bound()));
  // What windows that overlap add to a cell of a gradient depends on their order: the bound must not choose it.
  const bool fits = map == Map::vjp ? Tiling(map, geometry, operands, tile_bytes(min_memory)).fits() : tiling.fits();
  if (!fits) {
    if (run_by_axes(map, pool, geometry, operands, guard, progress)) return;
    // Tiles would be made of the same cells again and again: all of it at once.
    tiling = Tiling(map, geometry, operands, std::numeric_limits<std::size_t>::max());
  }
  const auto tiles = static_cast<double>(tiling.count());
  for (Index i = 0; i < tiling.count(); ++i) {
    progress.stage(static_cast<double>(i) / tiles, static_cast<double>(i + 1) / tiles);
    const bool finished = run_tile(map, pool, geometry, operands, tiling.box(i), guard, progress.callback());
    stop_if_interrupted(finished);
    guard.trim(guard.bound() / 2);
  }
}

}  // namespace ndpool::cli
