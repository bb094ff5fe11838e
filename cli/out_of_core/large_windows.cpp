#include "out_of_core/large_windows.hpp"

#include <bit>
#include <cmath>

namespace ndpool::cli {

namespace {

/// The scalar in which short floats are computed.
Dtype wide(Dtype dtype) { return dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

/// Lp with p = infinity is max of the magnitudes.
bool takes_magnitudes(const Pool& pool) {
  const auto* lp = std::get_if<reduction::Lp>(&pool.reduction());
  return lp != nullptr && lp->p == std::numeric_limits<double>::infinity();
}

/// Makes y of what the passes have left: `state(at, counts)` is the state of the reducer.
template <class T, class Reducer, class State>
void finish(const Geometry& geometry, const Reducer& reducer, const View<T>& y, State state) {
  spec::for_each_position(geometry.output_shape(), [&](const Shape& at) {
    const TapCounts counts = spec::WindowAt<max_rank>(geometry, at).counts();
    y[at] = static_cast<T>(reducer.value(reducer.finish(state(at, counts), counts)));
  });
}

/// Whole numbers, summed as doubles, which are exact below 2^53: as many of their bits at a time as that allows.
template <std::integral T, class Reducer>
void sum_integers(const Geometry& geometry, const Reducer& reducer, const Array& x, const View<T>& y,
                  const MemoryGuard& guard, Progress& progress) {
  const int bits = 53 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(geometry.tap_count())));
  const Passes passes{reduction::Sum{}, Dtype::f64};
  std::vector<Passed> limbs;
  for (int shift = 0; shift < 8 * static_cast<int>(sizeof(T)); shift += bits) {
    const bool highest = shift + bits >= 8 * static_cast<int>(sizeof(T));
    const Elements elements = [&](const Box& cells, const Array& to) {
      transform_elements<T, double>(cut(x, cells), to, guard, [=](const T& value) {
        const spec::Wide rest = spec::Wide(value) >> shift;  // keeps the sign
        return static_cast<double>(highest ? rest : rest & ((spec::Wide(1) << bits) - 1));
      });
    };
    limbs.push_back(passes.run(geometry, elements, guard, progress));
  }
  std::vector<View<const double>> sums;
  sums.reserve(limbs.size());
  for (const Passed& limb : limbs) sums.push_back(limb.values->view<const double>());
  finish(geometry, reducer, y, [&](const Shape& at, TapCounts) {
    spec::Wide sum = 0;
    for (std::size_t i = sums.size(); i-- > 0;) sum = (sum << bits) + static_cast<spec::Wide>(sums[i][at]);
    return static_cast<typename Reducer::State>(sum);
  });
}

}  // namespace

Passes passes_of(const Pool& pool, Dtype dtype) {
  // A window without a cell on one axis has none at all; that it may have none has been checked.
  return std::visit(
      [&]<class R>(R reducer) -> Passes {
        if constexpr (std::same_as<R, reduction::Sum> || std::same_as<R, reduction::Average>) {
          return {reduction::Sum{}, wide(dtype)};
        } else {
          reducer.options.empty = Empty::identity;
          if constexpr (std::same_as<R, reduction::SmoothMax>) reducer.options.pad_mode = PadMode::ignore;
          if (takes_magnitudes(pool)) return {reduction::Max{{.empty = Empty::identity}}, dtype};
          const bool is_extreme = std::same_as<R, reduction::Max> || std::same_as<R, reduction::Min>;
          return {reducer, is_extreme ? dtype : wide(dtype)};
        }
      },
      pool.reduction());
}

Elements elements_for(const Pool& pool, const Array& x, const MemoryGuard& guard) {
  if (!takes_magnitudes(pool)) return elements_of(x, guard);
  return [x, &guard](const Box& cells, const Array& to) {
    with_dtype(x.dtype, [&]<class T>() {
      transform_elements<T, T>(cut(x, cells), to, guard, [](const T& value) { return spec::magnitude(value); });
    });
  };
}

void forward_by_axes(const Pool& pool, const Geometry& geometry, const Array& x, const Array& y,
                     const std::optional<Array>& indices, const MemoryGuard& guard, Progress& progress) {
  with_dtype(x.dtype, [&]<class T>() {
    const View<T> result = y.view<T>();
    const auto run = [&]<class Reducer>(const Reducer& reducer) {
      if constexpr (std::integral<T> && Sums<Reducer>) {
        sum_integers(geometry, reducer, x, result, guard, progress);
      } else {
        Passes passes = passes_of(pool, x.dtype);
        passes.with_indices = indices.has_value();
        const Passed made = passes.run(geometry, elements_for(pool, x, guard), guard, progress);
        if (indices) copy_elements(made.indices->array(), *indices);
        const auto values = made.values->view<const PassedValue<Reducer>>();
        if constexpr (Sums<Reducer>)
          finish(geometry, reducer, result, [&](const Shape& at, TapCounts) { return values[at]; });
        else if constexpr (Smooth<Reducer>)
          finish(geometry, reducer, result, [&](const Shape& at, TapCounts counts) {
            return typename Reducer::State{values[at], 1, counts.real == 0};
          });
        else
          spec::for_each_position(y.shape, [&](const Shape& at) { result[at] = static_cast<T>(values[at]); });
      }
    };
    std::visit([&](const auto& reduction) { reduction.template with<T>(run); }, pool.reduction());
  });
}

}  // namespace ndpool::cli
