#include "out_of_core/axis_passes.hpp"

#include <bit>

namespace ndpool::cli {

namespace {

/// What one axis is pooled from: elements and, behind the first axis, the indices that they have brought along.
struct Source {
  Elements elements;
  std::optional<Array> indices;
  Index weight = 0;  ///< of a cell of the axis in a flat index

  Source part(const Box& cells) const {
    const auto shifted = [elements = elements, cells](Box box, const Array& to) {
      for (std::size_t a = 0; a < box.size(); ++a) box[a].begin += cells[a].begin, box[a].end += cells[a].begin;
      elements(box, to);
    };
    return {shifted, indices ? std::optional(cut(*indices, cells)) : std::nullopt, weight};
  }
};

struct Result {
  Array values;
  std::optional<Array> indices;
};

/// Pools one axis, the others being batches.
class AxisPass {
 public:
  AxisPass(const Passes& passes, int axis, const MemoryGuard& guard, Progress& progress)
      : passes_(passes),
        axis_(axis),
        pool_(Pool::Description{}, passes.reduction),
        bytes_(tile_bytes(guard.bound()) / 2),  // the other half is for what elements are made of
        guard_(guard),
        progress_(progress) {}

  Passed make(const Geometry& geometry, const Source& source) const {
    Passed next{std::make_unique<TemporaryArray>(passes_.work, geometry.output_shape()), {}};
    Result result{next.values->array(), {}};
    if (passes_.with_indices) {
      next.indices = std::make_unique<TemporaryArray>(Dtype::i64, geometry.output_shape());
      result.indices = next.indices->array();
    }
    run(geometry, source, result);
    return next;
  }

 private:
  void run(Geometry geometry, const Source& source, const Result& result) const {
    for (int a = 0; a < geometry.rank; ++a) geometry.cell_stride[a] = geometry.tap_stride[a] = a == axis_ ? 1 : 0;
    const Shape shape = geometry.input_shape();
    const Array like{passes_.work, shape, packed_strides(shape), nullptr};
    const Tiling tiling(Map::forward, geometry, {like, {}, result.values, result.indices}, bytes_);
    const auto tiles = static_cast<double>(tiling.count());
    for (Index i = 0; i < tiling.count(); ++i) {
      progress_.stage(static_cast<double>(i) / tiles, static_cast<double>(i + 1) / tiles);
      const Box box = tiling.box(i);
      Geometry part = geometry;
      Box cells;
      for (int a = 0; a < geometry.rank; ++a) cells.push_back(take_part(part, a, box[static_cast<std::size_t>(a)]));
      Result outputs{cut(result.values, box), {}};
      if (result.indices) outputs.indices = cut(*result.indices, box);
      tile(part, source.part(cells), outputs);
      if (outputs.indices)
        shift_indices(*outputs.indices, cells[static_cast<std::size_t>(axis_)].begin * source.weight);
      guard_.trim(guard_.bound() / 2);
    }
  }

  Index bytes_of(const Shape& shape) const { return element_count(shape) * item_size(passes_.work); }

  void tile(const Geometry& part, const Source& source, const Result& outputs) const {
    if (bytes_of(part.input_shape()) > static_cast<Index>(bytes_) && part.axes[axis_].output == 1)
      return long_window(part, source, outputs);
    const OwnArray cells(passes_.work, part.input_shape());
    source.elements(whole(part), cells.array());
    const bool finished = with_dtype(passes_.work, [&]<class W>() {
      const View<const W> x = cells.array().view<const W>();
      if (!outputs.indices) return pool_.over(part).forward(x, outputs.values.view<W>(), progress_.callback());
      return pool_.over(part).forward(x, outputs.values.view<W>(), outputs.indices->view<Index>(),
                                      progress_.callback());
    });
    stop_if_interrupted(finished);
    if (outputs.indices) bring_along(source, *outputs.indices);
  }

  /// One window that is longer than a tile: first pieces of it, then these. Where the reference splits a window it
  /// splits it at powers of two, so that pieces of such a length make the same sum.
  void long_window(Geometry part, Source source, const Result& outputs) const {
    Axis& window = part.axes[axis_];
    Index begin = 0;
    if (!std::holds_alternative<reduction::Sum>(passes_.reduction)) {  // only sums depend on where the taps split
      Box cells = whole(part);
      cells[static_cast<std::size_t>(axis_)] = drop_padding(window);
      source = source.part(cells);
      begin = cells[static_cast<std::size_t>(axis_)].begin;
    }
    Geometry pieces = part;
    pieces.axes[axis_] = pieces_of(window, longest_piece(window));
    const Passed made = make(pieces, source);
    Source joined{elements_of(made.values->array(), guard_), {}, 0};
    if (made.indices) joined.indices = made.indices->array();
    require(adaptive_axis(pieces.axes[axis_].output, 1, axis_, window));
    run(part, joined, outputs);
    if (outputs.indices) shift_indices(*outputs.indices, begin * source.weight);
  }

  /// Taps, a power of two, that reach over no more cells than fit a tile.
  Index longest_piece(const Axis& window) const {
    const auto cells = static_cast<Index>(bytes_) / item_size(passes_.work);
    return static_cast<Index>(std::bit_floor(static_cast<std::size_t>(std::max<Index>(1, cells / window.dilation))));
  }

  static Box whole(const Geometry& geometry) {
    Box all;
    for (const Index extent : geometry.input_shape()) all.push_back({0, extent});
    return all;
  }

  /// Cells of this axis become flat indices: with what the axes before have found there.
  void bring_along(const Source& source, const Array& indices) const {
    const View<Index> found = indices.view<Index>(), before = source.indices ? source.indices->view<Index>() : found;
    spec::for_each_position(indices.shape, [&](Shape at) {
      Index& index = found[at];
      if (index < 0) return;
      at[axis_] = index;
      index = index * source.weight + (source.indices ? before[at] : 0);
    });
  }

  const Passes& passes_;
  int axis_;
  Pool pool_;
  std::size_t bytes_;
  const MemoryGuard& guard_;
  Progress& progress_;
};

}  // namespace

Elements elements_of(const Array& array, const MemoryGuard& guard) {
  return [array, &guard](const Box& cells, const Array& to) {
    with_dtype(array.dtype, [&]<class T>() {
      with_dtype(to.dtype, [&]<class W>() {
        if constexpr (std::same_as<T, W> || std::same_as<W, float> || std::same_as<W, double>)
          transform_elements<T, W>(cut(array, cells), to, guard, [](const T& value) { return static_cast<W>(value); });
      });
    });
  };
}

Passed Passes::run(const Geometry& geometry, const Elements& elements, const MemoryGuard& guard,
                   Progress& progress) const {
  Geometry now = geometry;
  std::vector<int> order;
  for (int a = 0; a < geometry.rank; ++a) {
    now.axes[a] = batch_axis(geometry.axes[a].input);
    // The spec folds the first axis first. Winners are found from the last one on, so that of equal ones that of the
    // first cell on the first axis is left: the first in row-major order.
    if (geometry.axes[a].pooled) order.insert(with_indices ? order.begin() : order.end(), a);
  }
  Passed last;
  Source source{elements, {}, 0};
  for (const int a : order) {
    now.axes[a] = geometry.axes[a];
    source.weight = geometry.cell_stride[a];
    Passed next = AxisPass(*this, a, guard, progress).make(now, source);
    now.axes[a] = batch_axis(geometry.axes[a].output);
    last = std::move(next);
    source.elements = elements_of(last.values->array(), guard);
    if (last.indices) source.indices = last.indices->array();
  }
  return last;
}

}  // namespace ndpool::cli
