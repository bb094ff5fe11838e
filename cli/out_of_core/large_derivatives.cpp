#include "out_of_core/large_derivatives.hpp"

#include <algorithm>

namespace ndpool::cli {

namespace {

/// Each cell is in at most two windows of an axis.
bool overlap_little(const Geometry& geometry) {
  return std::all_of(geometry.axes, geometry.axes + geometry.rank,
                     [](const Axis& axis) { return most_outputs_over(axis, 1) <= 2; });
}

template <class T>
T element(const Array& array, const Shape& at) {
  T value{};
  Array one = array;
  for (int a = 0; a < at.size(); ++a) one = one.cut(a, {at[a], at[a] + 1});
  copy_elements(one, {array.dtype, one.shape, one.strides, reinterpret_cast<char*>(&value)});
  return value;
}

/// A position in a box, in the whole.
Shape moved(Shape at, const Box& box) {
  for (int a = 0; a < at.size(); ++a) at[a] += box[static_cast<std::size_t>(a)].begin;
  return at;
}

/// Calls use(output, part of x, part of to) for all windows that have taps in a box of cells, `x` and `to`, with just
/// the cells under these taps. What windows that overlap do to a cell is added up, the first axis first, as sums are.
template <class Number, class Use>
void for_each_window(const Geometry& geometry, const Box& cells, const Array& x, const Array& to, const Use& use,
                     Shape& output, int axis) {
  if (axis < 0) return use(output, x, to);
  const Range reach = cells[static_cast<std::size_t>(axis)];
  const Range outputs = outputs_over(geometry.axes[axis], reach);
  for (Index o = outputs.begin; o < outputs.end; ++o) {
    const Progression seen = cells_seen(geometry.axes[axis], o, reach);
    if (seen.count == 0) continue;
    output[axis] = o;
    const Array some_x = x.pick(axis, seen), some = to.pick(axis, seen);
    if (!windows_overlap(geometry.axes[axis])) {
      for_each_window<Number>(geometry, cells, some_x, some, use, output, axis - 1);
      continue;
    }
    const OwnArray own(some.dtype, some.shape);
    for_each_window<Number>(geometry, cells, some_x, own.array(), use, output, axis - 1);
    for_each_pair<const Number, Number>(own.array(), some, [](const Number& one, Number& sum) { sum += one; });
  }
}
template <class Number, class Use>
void for_each_window(const Geometry& geometry, const Box& cells, const Array& x, const Array& to, const Use& use) {
  Shape output = Shape::filled(geometry.rank, 0);
  for_each_window<Number>(geometry, cells, x, to, use, output, geometry.rank - 1);
}

/// Tiles of the cells of an array, each with `use(cells, sums)`: what it adds to `sums`, zeros at first, is the result.
template <class T, class Number, class Use>
void make_cells(const Geometry& geometry, const Operands& operands, const MemoryGuard& guard, Progress& progress,
                const Use& use) {
  constexpr Dtype dtype = std::same_as<Number, double> ? Dtype::f64 : Dtype::f32;
  Geometry alone = geometry;
  for (int a = 0; a < geometry.rank; ++a) alone.axes[a] = batch_axis(geometry.axes[a].input);
  // A cell, its sum and the sums of windows that overlap, each twice for short floats.
  const Tiling tiling(Map::forward, alone, operands, tile_bytes(guard.bound()) / 4);
  const auto tiles = static_cast<double>(tiling.count());
  for (Index i = 0; i < tiling.count(); ++i) {
    progress.stage(static_cast<double>(i) / tiles, static_cast<double>(i + 1) / tiles);
    stop_if_interrupted();
    const Box box = tiling.box(i);
    const Array gx = cut(operands.result, box);
    const OwnArray sums(dtype, gx.shape);
    use(box, sums.array());
    for_each_pair<const Number, T>(sums.array(), gx, [](const Number& sum, T& cell) { cell = spec::narrow<T>(sum); });
    guard.trim(guard.bound() / 2);
  }
}

/// Ties `first`: the winner of a window has all of its derivative.
template <class T, class Reducer>
class FirstWinners {
 public:
  using Number = spec::Accumulator<T>;

  FirstWinners(const Pool& pool, const Reducer& reducer, const Geometry& geometry, const Operands& operands,
               const MemoryGuard& guard, Progress& progress)
      : reducer_(reducer), geometry_(geometry), operands_(operands), guard_(guard), progress_(progress) {
    Passes passes = passes_of(pool, operands.x.dtype);
    passes.with_indices = true;
    indices_ = std::move(passes.run(geometry, elements_for(pool, operands.x, guard), guard, progress).indices);
  }

  void jvp() const {
    const View<const Index> indices = indices_->view<const Index>();
    const View<T> dy = operands_.result.view<T>();
    spec::for_each_position(geometry_.output_shape(), [&](const Shape& at) {
      dy[at] = indices[at] < 0
                   ? T(0)
                   : spec::narrow<T>(share(at, indices[at], element_of(*operands_.tangent, at, indices[at])));
    });
  }

  void vjp() const {
    const View<const Index> indices = indices_->view<const Index>();
    make_cells<T, Number>(geometry_, operands_, guard_, progress_, [&](const Box& cells, const Array& sums) {
      const View<Number> in_box = sums.view<Number>();
      Box outputs;
      Shape extents;
      for (int a = 0; a < geometry_.rank; ++a) {
        outputs.push_back(outputs_over(geometry_.axes[a], cells[static_cast<std::size_t>(a)]));
        extents.push_back(std::max<Index>(0, outputs.back().end - outputs.back().begin));
      }
      spec::for_each_position(extents, [&](const Shape& number) {
        const Shape at = moved(number, outputs);
        if (indices[at] < 0) return;
        Shape cell = geometry_.cell_from_flat(at, indices[at]);
        for (int a = 0; a < geometry_.rank; ++a) {
          const Range reach = cells[static_cast<std::size_t>(a)];
          if (cell[a] < reach.begin || cell[a] >= reach.end) return;
          cell[a] -= reach.begin;
        }
        in_box[cell] += share(at, indices[at], element<T>(*operands_.tangent, at));
      });
    });
  }

 private:
  T element_of(const Array& array, const Shape& output, Index index) const {
    return element<T>(array, geometry_.cell_from_flat(output, index));
  }

  Number share(const Shape& output, Index index, const T& tangent) const {
    const typename Reducer::Summary winner{T(0), 0, 1};
    return reducer_.weight(winner, element_of(operands_.x, output, index), 0) * static_cast<Number>(tangent);
  }

  const Reducer& reducer_;
  const Geometry& geometry_;
  const Operands& operands_;
  const MemoryGuard& guard_;
  Progress& progress_;
  std::unique_ptr<TemporaryArray> indices_;
};

/// The weights of all other reducers depend on a cell and on its window alone.
template <class T, class Reducer>
class Weights {
 public:
  using Number = spec::Accumulator<T>;
  using Summary = typename Reducer::Summary;

  Weights(const Pool& pool, const Reducer& reducer, const Geometry& geometry, const Operands& operands,
          const MemoryGuard& guard, Progress& progress)
      : reducer_(reducer), geometry_(geometry), operands_(operands), guard_(guard), progress_(progress) {
    if constexpr (!Sums<Reducer>) {
      made_ = passes_of(pool, operands.x.dtype).run(geometry, elements_for(pool, operands.x, guard), guard, progress);
      values_ = made_.values->view<const PassedValue<Reducer>>();
      bool divides = Smooth<Reducer>;
      if constexpr (Extremes<Reducer>) divides = reducer.options.ties == Ties::split;
      if (!divides) return;
      // Weights are made of the rounded value: what they are divided by is what they add up to.
      auto sums = std::make_unique<TemporaryArray>(Dtype::f64, geometry.output_shape());
      const View<double> view = sums->view<double>();
      sum_weights<double>({}, [&](const Shape& at, double sum) { view[at] = sum; });
      sums_ = std::move(sums);
    }
  }

  void jvp() const {
    const View<T> dy = operands_.result.view<T>();
    sum_weights<Number>(operands_.tangent, [&](const Shape& at, const Number& sum) {
      const TapCounts counts = spec::WindowAt<max_rank>(geometry_, at).counts();
      const Number scale = static_cast<Number>(reducer_.scale(summary(at)));
      dy[at] = counts.real == 0 ? T(0) : spec::narrow<T>(Number(sum / scale));
    });
  }

  void vjp() const {
    make_cells<T, Number>(geometry_, operands_, guard_, progress_, [&](const Box& cells, const Array& sums) {
      const OwnArray x = x_of(cells, sums.shape);
      for_each_window<Number>(
          geometry_, cells, x.array(), sums, [&](const Shape& at, const Array& xs, const Array& to) {
            const Summary window = summary(at);
            const Number share =
                static_cast<Number>(element<T>(*operands_.tangent, at)) / static_cast<Number>(reducer_.scale(window));
            for_each_pair<const T, Number>(xs, to, [&](const T& cell, Number& sum) {
              const auto weight = reducer_.weight(window, cell, 0);
              if (!(weight == decltype(weight)(0))) sum += Number(static_cast<Number>(weight) * share);
            });
          });
    });
  }

 private:
  /// The cells of x; linear weights do not depend on them.
  OwnArray x_of(const Box& cells, const Shape& shape) const {
    OwnArray x(operands_.x.dtype, shape);
    if constexpr (!Sums<Reducer>) elements_of(operands_.x, guard_)(cells, x.array());
    return x;
  }

  Summary summary(const Shape& at) const {
    const double sum = sums_ ? sums_->view<const double>()[at] : 1;
    const TapCounts counts = spec::WindowAt<max_rank>(geometry_, at).counts();
    if constexpr (Sums<Reducer>)
      return reducer_.finish(typename Reducer::State(0), counts);
    else if constexpr (Extremes<Reducer>)
      return {values_[at], -1, static_cast<Index>(sum)};
    else if constexpr (Smooth<Reducer>)  // padding that counts as zero is in the sum when all weights are
      return sums_ ? reducer_.finish({values_[at], static_cast<Number>(sum), false}, counts)
                   : Summary{values_[at], Number(1), false};
    else
      return {values_[at]};
  }

  /// Calls use(output, sum) with the sums of weights, or of weights times tangents.
  template <class W, class Use>
  void sum_weights(const std::optional<Array>& tangent, const Use& use) const {
    Shape parts;
    for (int a = 0; a < geometry_.rank; ++a)
      parts.push_back(windows_overlap(geometry_.axes[a]) ? part_begins(geometry_.axes[a]) : 1);
    // A cell that two windows see has two weights: such windows are taken one by one.
    spec::for_each_position(parts, [&](const Shape& number) {
      Box outputs, cells;
      Geometry part = geometry_;
      for (int a = 0; a < geometry_.rank; ++a) {
        const bool overlaps = windows_overlap(geometry_.axes[a]);
        outputs.push_back(overlaps ? Range{number[a], number[a] + 1} : Range{0, geometry_.axes[a].output});
        cells.push_back(take_part(part, a, outputs.back()));
      }
      const Elements weighted = [&](Box box, const Array& to) {
        fill_weighted<W>(part, outputs, cells, box, tangent, to);
      };
      const Passes passes{reduction::Sum{}, std::same_as<W, double> ? Dtype::f64 : Dtype::f32};
      const Passed made = passes.run(part, weighted, guard_, progress_);
      spec::for_each_position(part.output_shape(), [&](const Shape& at) {
        use(moved(at, outputs), made.values->template view<const W>()[at]);
      });
    });
  }

  /// The elements that are summed, for a box of the cells of a part.
  template <class W>
  void fill_weighted(const Geometry& part, const Box& outputs, const Box& cells, const Box& box,
                     const std::optional<Array>& tangent, const Array& to) const {
    Box in_array = box;
    for (std::size_t a = 0; a < box.size(); ++a)
      in_array[a] = {box[a].begin + cells[a].begin, box[a].end + cells[a].begin};
    if (tangent)
      elements_of(*tangent, guard_)(in_array, to);
    else
      std::fill_n(to.view<W>().data(), element_count(to.shape), W(1));
    const OwnArray x = x_of(in_array, to.shape);
    for_each_window<W>(part, box, x.array(), to, [&](const Shape& at, const Array& xs, const Array& products) {
      const Summary window = summary(moved(at, outputs));
      for_each_pair<const T, W>(xs, products, [&](const T& cell, W& product) {
        const auto weight = reducer_.weight(window, cell, 0);
        product = weight == decltype(weight)(0) ? W(0) : W(static_cast<W>(weight) * product);
      });
    });
  }

  const Reducer& reducer_;
  const Geometry& geometry_;
  const Operands& operands_;
  const MemoryGuard& guard_;
  Progress& progress_;
  Passed made_;
  View<const PassedValue<Reducer>> values_;
  std::unique_ptr<TemporaryArray> sums_;
};

}  // namespace

bool derive_by_axes(Map map, const Pool& pool, const Geometry& geometry, const Operands& operands,
                    const MemoryGuard& guard, Progress& progress) {
  bool done = true;
  const auto run = [&](const auto& derivative) { map == Map::jvp ? derivative.jvp() : derivative.vjp(); };
  with_dtype(operands.x.dtype, [&]<class T>() {
    if constexpr (spec::Differentiable<T>) {
      const auto derive = [&]<class Reducer>(const Reducer& reducer) {
        if constexpr (Sums<Reducer>)
          if (map == Map::jvp)
            return forward_by_axes(pool, geometry, *operands.tangent, operands.result, {}, guard, progress);
        if constexpr (Extremes<Reducer>)
          if (reducer.options.ties != Ties::all && reducer.options.ties != Ties::split)
            return run(FirstWinners<T, Reducer>(pool, reducer, geometry, operands, guard, progress));
        if (overlap_little(geometry))
          run(Weights<T, Reducer>(pool, reducer, geometry, operands, guard, progress));
        else
          done = false;
      };
      std::visit([&](const auto& reduction) { reduction.template with<T>(derive); }, pool.reduction());
    }
  });
  return done;
}

}  // namespace ndpool::cli
