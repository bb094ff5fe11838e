#include "large_windows.hpp"

#include "new_file.hpp"
#include "problem.hpp"
#include "tiles.hpp"

#include <algorithm>
#include <memory>

namespace ndpool::cli {

namespace {

/// An array in a file without a name.
class TemporaryArray {
 public:
  TemporaryArray(Dtype dtype, const Shape& shape) : file_("-") {
    const auto bytes = static_cast<std::size_t>(element_count(shape) * item_size(dtype));
    file_.reserve(bytes);
    mapping_ = Mapping(file_.descriptor(), bytes, true, "a temporary file");
    array_ = {dtype, shape, packed_strides(shape), mapping_.data()};
  }
  const Array& array() const { return array_; }

 private:
  NewFile file_;
  Mapping mapping_;
  Array array_;
};

bool has_padding(const Geometry& geometry) {
  return std::any_of(geometry.axes, geometry.axes + geometry.rank,
                     [](const Axis& axis) { return axis.lo > 0 || axis.hi > 0; });
}

/// The reducer that makes one axis after another, and the scalar it works in.
struct Chain {
  bool possible = false;
  Pool::Reduction reduction = reduction::Sum{};
  Dtype work = Dtype::f32;
};

/// Sums and averages: whole numbers stay exact in a double up to 2^53.
template <class T>
Chain chain_of_sums(const Geometry& geometry) {
  if constexpr (!std::integral<T>) {
    return {true, reduction::Sum{}, sizeof(T) == 8 ? Dtype::f64 : Dtype::f32};
  } else {
    const double largest = std::max(static_cast<double>(std::numeric_limits<T>::max()),
                                    -static_cast<double>(std::numeric_limits<T>::lowest()));
    return {largest * static_cast<double>(geometry.tap_count()) <= 0x1p53, reduction::Sum{}, Dtype::f64};
  }
}

template <class T>
Chain chain_of(const Pool& pool, const Geometry& geometry, Dtype dtype) {
  return std::visit(
      [&]<class R>(const R& reducer) -> Chain {
        if constexpr (std::same_as<R, reduction::Max> || std::same_as<R, reduction::Min>) {
          return {true, reducer, dtype};
        } else if constexpr (std::same_as<R, reduction::Sum> || std::same_as<R, reduction::Average>) {
          return chain_of_sums<T>(geometry);
        } else if constexpr (std::integral<T>) {
          return {};
        } else {
          // A padded zero stands for as many taps as the axes before it have: a chain would count it once.
          if constexpr (std::same_as<R, reduction::SmoothMax>)
            if (reducer.options.pad_mode == PadMode::zero && has_padding(geometry)) return {};
          return {true, reducer, sizeof(T) == 8 ? Dtype::f64 : Dtype::f32};
        }
      },
      pool.reduction());
}

/// The elements of a part of a file, in another scalar that holds them. Its pieces lie far apart, and the system brings
/// more of each than was asked for: the pages are given back every few pieces.
OwnArray converted(const Array& array, Dtype to, const MemoryGuard& guard) {
  constexpr Index pieces = 8;
  OwnArray result(to, array.shape);
  with_dtype(array.dtype, [&]<class T>() {
    with_dtype(to, [&]<class W>() {
      W* next = result.array().view<W>().data();
      for (Index i = 0; i < array.shape[0]; i += pieces) {
        const OwnArray native(array.cut(0, {i, std::min(i + pieces, array.shape[0])}));
        const T* from = native.array().view<T>().data();
        next = std::transform(from, from + element_count(native.array().shape), next,
                              [](const T& value) { return static_cast<W>(value); });
        guard.trim(guard.bound() / 2);
      }
    });
  });
  return result;
}

/// Pools one axis, the others being batches, from the scalar of x to that of y.
void pool_axis(const Pool& pool, const Geometry& geometry, const Array& x, const Array& y, const MemoryGuard& guard,
               Progress& progress) {
  const std::size_t bytes = tile_bytes(guard.bound());
  const auto from = static_cast<std::size_t>(item_size(x.dtype)), to = static_cast<std::size_t>(item_size(y.dtype));
  const Tiling tiling(Map::forward, geometry, {x, {}, y, {}}, bytes * from / (from + to));
  for (Index i = 0; i < tiling.count(); ++i) {
    const std::vector<Range> box = tiling.box(i);
    progress.stage(static_cast<double>(i) / static_cast<double>(tiling.count()),
                   static_cast<double>(i + 1) / static_cast<double>(tiling.count()));
    Geometry part = geometry;
    Array cells = x, outputs = y;
    for (int a = 0; a < geometry.rank; ++a) {
      const Range range = box[static_cast<std::size_t>(a)];
      cells = cells.cut(a, take_part(part, a, range));
      outputs = outputs.cut(a, range);
    }
    const OwnArray copy = converted(cells, y.dtype, guard);
    const bool finished = with_dtype(y.dtype, [&]<class W>() {
      return pool.over(part).forward(copy.array().view<const W>(), outputs.view<W>(), progress.watch());
    });
    if (!finished || is_interrupted()) throw Problem("interrupted");
    guard.trim(guard.bound() / 2);
  }
}

/// What the reducer makes of the values that the last axis has left.
template <class T, class W>
void finish(const Pool& pool, const Geometry& geometry, const View<const W>& from, const View<T>& to) {
  spec::for_each_position(geometry.output_shape(), [&](const Shape& at) {
    const W value = from[at];
    if (const auto* average = std::get_if<reduction::Average>(&pool.reduction())) {
      const spec::Average<T> reducer{{}, average->options};
      const auto sum = static_cast<typename spec::Average<T>::State>(value);
      to[at] = reducer.value(reducer.finish(sum, spec::WindowAt<max_rank>(geometry, at).counts()));
    } else if (std::holds_alternative<reduction::Sum>(pool.reduction())) {
      to[at] = spec::narrow<T>(static_cast<spec::Accumulator<T>>(value));
    } else {
      to[at] = static_cast<T>(value);
    }
  });
}

}  // namespace

bool forward_by_axes(const Pool& pool, const Geometry& geometry, const Array& x, const Array& y,
                     const MemoryGuard& guard, Progress& progress) {
  const Chain chain = with_dtype(x.dtype, [&]<class T>() { return chain_of<T>(pool, geometry, x.dtype); });
  if (!chain.possible) return false;
  const Pool one(Pool::Description{}, chain.reduction);

  Array from = x;
  std::unique_ptr<TemporaryArray> kept;
  Geometry now = geometry;
  for (int a = 0; a < geometry.rank; ++a) now.axes[a] = batch_axis(geometry.axes[a].input);
  for (int a = 0; a < geometry.rank; ++a) {
    if (!geometry.axes[a].pooled) continue;
    now.axes[a] = geometry.axes[a];
    auto next = std::make_unique<TemporaryArray>(chain.work, now.output_shape());
    pool_axis(one, now, from, next->array(), guard, progress);
    now.axes[a] = batch_axis(geometry.axes[a].output);
    kept = std::move(next);
    from = kept->array();
  }
  with_dtype(x.dtype, [&]<class T>() {
    with_dtype(chain.work, [&]<class W>() { finish(pool, geometry, from.view<const W>(), y.view<T>()); });
  });
  return true;
}

}  // namespace ndpool::cli
