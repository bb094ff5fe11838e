// Windows that are made of several parts: each part folds to a state of the reducer, states of one window combine, and
// the last one finishes to the value. States are accumulators: nothing is rounded or clamped before the end. The number
// of a tap is its flat index in the whole, which says of equal extremes which is first.
#pragma once

#include <ndpool/part.hpp>
#include <ndpool/pool.hpp>

#include <cstring>
#include <memory>
#include <vector>

namespace ndpool::partial {

/// Some outputs of a pool and the cells of a chunk: a range for each axis.
struct Box {
  std::vector<Range> outputs;  ///< of the whole
  std::vector<Range> cells;    ///< of the whole; x has just these

  /// Lengths of the outputs.
  Shape output_shape() const { return shape_of(outputs); }
  /// Lengths of the cells: the shape of x.
  Shape cell_shape() const { return shape_of(cells); }

 private:
  static Shape shape_of(const std::vector<Range>& ranges) {
    Shape shape;
    for (const Range& range : ranges) shape.push_back(range.end - range.begin);
    return shape;
  }
};

/// States in memory that need not be aligned, one for each output in row-major order.
template <class State>
class States {
 public:
  /// The states that begin at an address.
  explicit States(std::byte* bytes) : bytes_(bytes) {}
  /// The state of output i.
  State operator[](Index i) const {
    State state;
    std::memcpy(&state, bytes_ + i * size, sizeof(State));
    return state;
  }
  /// Replaces the state of output i.
  void set(Index i, const State& state) const { std::memcpy(bytes_ + i * size, &state, sizeof(State)); }

 private:
  static constexpr Index size = sizeof(State);
  std::byte* bytes_;
};

namespace detail {

inline Shape moved(const Shape& at, const std::vector<Range>& by) {
  Shape position = at;
  for (int a = 0; a < at.size(); ++a) position[a] += by[static_cast<std::size_t>(a)].begin;
  return position;
}

/// The taps of an output of the whole that are in the cells of a box, as positions in it.
inline spec::WindowAt<max_rank> window_in(const Geometry& whole, const Box& box, const Shape& output) {
  spec::WindowAt<max_rank> window(whole, output);
  for (int a = 0; a < whole.rank; ++a) {
    const Progression seen = cells_seen(whole.axes[a], output[a], box.cells[static_cast<std::size_t>(a)]);
    window.taps[a] = {seen.first, seen.count, seen.step, 0, seen.count, 0};
  }
  return window;
}

/// The flat index of a position in the cells of a box.
inline Index flat_in(const Geometry& whole, const Box& box, const Shape& position) {
  Index flat = 0;
  for (int a = 0; a < whole.rank; ++a)
    flat += whole.cell_stride[a] * (position[a] + box.cells[static_cast<std::size_t>(a)].begin);
  return flat;
}

inline TapCounts counts_of(const Geometry& whole, const Shape& output) {
  return spec::WindowAt<max_rank>(whole, output).counts();
}

/// Calls visit(number, output of the whole) for the outputs of a box.
template <class Visit>
void for_each_output(const Box& box, Visit visit) {
  Index number = 0;
  spec::for_each_position(box.output_shape(), [&](const Shape& at) { visit(number++, moved(at, box.outputs)); });
}

/// What a kernel makes of a whole window in the accumulator, as a state, where there is one; `V` is the kernel's
/// result.
template <class Reducer>
struct ByKernel {
  static constexpr bool serves = false;
};
template <class T>
requires(!std::integral<T> || sizeof(T) < 8) struct ByKernel<spec::Sum<T>> {
  static constexpr bool serves = true;
  using Value = std::conditional_t<std::integral<T>, std::int64_t, spec::Accumulator<T>>;
  static Pool::Reduction reduction(const spec::Sum<T>&) { return reduction::Sum{}; }
  static auto state(const Value& sum, Index) { return static_cast<typename spec::Sum<T>::State>(sum); }
};
template <class T>
requires(!std::integral<T> || sizeof(T) < 8) struct ByKernel<spec::Average<T>> : ByKernel<spec::Sum<T>> {
  static Pool::Reduction reduction(const spec::Average<T>&) { return reduction::Sum{}; }
};
template <class Reducer, class Reduction>
struct ExtremeByKernel {
  static constexpr bool serves = true;
  using Value = typename Reducer::Scalar;
  static Pool::Reduction reduction(const Reducer& reducer) { return Reduction{reducer.options}; }
  static auto state(const Value& value, Index flat) { return typename Reducer::State{value, flat, 1}; }
};
template <class T>
struct ByKernel<spec::Max<T>> : ExtremeByKernel<spec::Max<T>, reduction::Max> {};
template <class T>
struct ByKernel<spec::Min<T>> : ExtremeByKernel<spec::Min<T>, reduction::Min> {};

/// The cells of x that one output of the pooled axes sees, with all batches of the box; false if there are none.
template <class X>
bool cells_of_window(const Geometry& whole, const Box& box, const Shape& output, const View<const X>& x,
                     View<const X>& cells) {
  Shape shape = x.shape(), strides = x.strides();
  const X* data = x.data();
  for (int a = 0; a < whole.rank; ++a) {
    if (!whole.axes[a].pooled) continue;
    const Progression seen = cells_seen(whole.axes[a], output[a], box.cells[static_cast<std::size_t>(a)]);
    if (seen.count == 0) return false;
    data += seen.first * strides[a];
    shape[a] = seen.count;
    strides[a] *= seen.step;
  }
  cells = View<const X>(data, shape, strides);
  return true;
}

}  // namespace detail

/// The state of every output of the box over the cells of the box that it sees; `x` holds the elements of these cells.
/// Batch axes of outputs and cells must agree.
template <class Reducer, class X>
void fold(const Geometry& whole, const Reducer& reducer, const Box& box, const View<const X>& x,
          const States<typename Reducer::State>& states) {
  using State = typename Reducer::State;
  detail::for_each_output(box, [&](Index number, const Shape& output) {
    const auto window = detail::window_in(whole, box, output);
    states.set(number, spec::fold_window(
                           window, State(reducer.identity()),
                           [&](const spec::Tap<max_rank>& tap) -> State {
                             return reducer.lift(x[tap.position], detail::flat_in(whole, box, tap.position));
                           },
                           [&](const State& a, const State& b) -> State { return reducer.combine(a, b); }));
  });
}

/// The same, with the kernels of whole windows where these keep all that a state needs.
template <class Reducer, class X>
void fold_by_kernels(const Geometry& whole, const Reducer& reducer, const Box& box, const View<const X>& x,
                     const States<typename Reducer::State>& states) {
  using Kernel = detail::ByKernel<Reducer>;
  if constexpr (!Kernel::serves) {
    fold(whole, reducer, box, x, states);
  } else {
    if constexpr (requires { reducer.options.ties; })
      if (reducer.options.ties == Ties::split) return fold(whole, reducer, box, x, states);  // counts them
    using Value = typename Kernel::Value;
    constexpr bool has_winner = requires(typename Reducer::State state) { state.ties; };
    Shape axes, windows, batches = box.output_shape();
    for (int a = 0; a < whole.rank; ++a) {
      windows.push_back(whole.axes[a].pooled ? batches[a] : 1);
      if (!whole.axes[a].pooled) continue;
      axes.push_back(a);
      batches[a] = 1;
    }
    const Shape strides = packed_strides(box.output_shape()), packed = packed_strides(batches);
    const auto count = static_cast<std::size_t>(element_count(batches));
    const auto values = std::make_unique<Value[]>(count);
    std::vector<Index> winners(has_winner ? count : 0);
    const ndpool::Pool::Reduction reduction = Kernel::reduction(reducer);
    bool has_kernels = true;
    spec::for_each_position(windows, [&](const Shape& at) {
      if (!has_kernels) return;
      Index first = 0;
      for (int a = 0; a < whole.rank; ++a) first += at[a] * strides[a];
      const Shape output = detail::moved(at, box.outputs);
      View<const X> cells;
      const bool sees = detail::cells_of_window(whole, box, output, x, cells);
      if (sees) {
        const Pool pool(Global{.axes = axes, .keepdims = true}, reduction);
        const auto maps = ndpool::detail::CompiledMaps::make(reduction, dtype_of<X>(), dtype_of<Value>(),
                                                             pool.geometry(cells.shape()),
                                                             {cells.strides(), packed, cells.strides(), packed});
        has_kernels = maps.has(has_winner ? MapKind::forward_with_indices : MapKind::forward);
        if (!has_kernels) return;
        if constexpr (has_winner)
          maps.forward_with_indices(cells.data(), values.get(), winners.data(), Dtype::i64, {});
        else
          maps.forward(cells.data(), values.get(), {});
      }
      Index batch = 0;
      spec::for_each_position(batches, [&](const Shape& lane) {
        Index number = first;
        for (int a = 0; a < whole.rank; ++a) number += lane[a] * strides[a];
        const auto i = static_cast<std::size_t>(batch++);
        if (!sees) return states.set(number, reducer.identity());
        Index flat = 0;
        if constexpr (has_winner) {
          Index rest = winners[i];
          for (int a = whole.rank - 1; a >= 0; --a) {
            if (!whole.axes[a].pooled) continue;
            const Progression seen = cells_seen(whole.axes[a], output[a], box.cells[static_cast<std::size_t>(a)]);
            const Index cell = seen.first + rest % seen.count * seen.step;
            flat += (cell + box.cells[static_cast<std::size_t>(a)].begin) * whole.cell_stride[a];
            rest /= seen.count;
          }
        }
        states.set(number, Kernel::state(values[i], flat));
      });
    });
    if (!has_kernels) fold(whole, reducer, box, x, states);
  }
}

/// `into` = the states of both parts of each window.
template <class Reducer>
void combine(const Reducer& reducer, Index count, const States<typename Reducer::State>& a,
             const States<typename Reducer::State>& into) {
  for (Index i = 0; i < count; ++i) into.set(i, reducer.combine(into[i], a[i]));
}

/// The values of the outputs, and for max and min their flat indices if `indices` is not null.
template <class Reducer, class Y>
void finish(const Geometry& whole, const Reducer& reducer, const Box& box,
            const States<typename Reducer::State>& states, Y* y, Index* indices) {
  detail::for_each_output(box, [&](Index number, const Shape& output) {
    const auto summary = reducer.finish(states[number], detail::counts_of(whole, output));
    y[number] = reducer.value(summary);
    if constexpr (requires { reducer.winner(summary); })
      if (indices != nullptr) indices[number] = reducer.winner(summary);
  });
}

/// The sums of weight * dx over the cells of the box that each output sees; `states` are those of whole windows.
template <class Reducer, class X, class Number>
void fold_jvp(const Geometry& whole, const Reducer& reducer, const Box& box,
              const States<typename Reducer::State>& states, const View<const X>& x, const View<const X>& dx,
              Number* sums) {
  detail::for_each_output(box, [&](Index number, const Shape& output) {
    const auto summary = reducer.finish(states[number], detail::counts_of(whole, output));
    sums[number] = spec::fold_window(
        detail::window_in(whole, box, output), Number(0),
        [&](const spec::Tap<max_rank>& tap) -> Number {
          const auto weight = reducer.weight(summary, x[tap.position], detail::flat_in(whole, box, tap.position));
          if (weight == decltype(weight)(0)) return Number(0);
          return static_cast<Number>(weight) * static_cast<Number>(dx[tap.position]);
        },
        [](const Number& a, const Number& b) -> Number { return a + b; });
  });
}

/// dy of these sums, when those of all parts are added.
template <class Reducer, class Number, class DY>
void finish_jvp(const Geometry& whole, const Reducer& reducer, const Box& box,
                const States<typename Reducer::State>& states, const Number* sums, DY* dy) {
  detail::for_each_output(box, [&](Index number, const Shape& output) {
    const TapCounts counts = detail::counts_of(whole, output);
    const auto summary = reducer.finish(states[number], counts);
    dy[number] =
        counts.real == 0 ? DY(0) : static_cast<DY>(Number(sums[number] / static_cast<Number>(reducer.scale(summary))));
  });
}

/// gx of the cells of the box: the outputs of the box must be all that see one of them. `gx` holds accumulators.
template <class Reducer, class X, class Number>
void vjp(const Geometry& whole, const Reducer& reducer, const Box& box, const States<typename Reducer::State>& states,
         const View<const X>& x, const View<const X>& gy, const View<Number>& gx) {
  spec::for_each_position(gx.shape(), [&](const Shape& at) { gx[at] = Number(0); });
  Index number = 0;
  spec::for_each_position(box.output_shape(), [&](const Shape& at) {
    const Shape output = detail::moved(at, box.outputs);
    const auto window = detail::window_in(whole, box, output);
    const auto summary = reducer.finish(states[number++], detail::counts_of(whole, output));
    if (window.counts().real == 0) return;
    const Number share = static_cast<Number>(gy[at]) / static_cast<Number>(reducer.scale(summary));
    spec::for_each_tap(window, [&](const spec::Tap<max_rank>& tap) {
      const auto weight = reducer.weight(summary, x[tap.position], detail::flat_in(whole, box, tap.position));
      if (!(weight == decltype(weight)(0))) gx[tap.position] += static_cast<Number>(weight) * share;
    });
  });
}

}  // namespace ndpool::partial
