// First and last stage of pools whose result has another type than the input, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mixed/convert.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/analytic/copies-inl.h"
#include "kernels/mixed/convert.hpp"
#include "kernels/table.hpp"

#include <ndpool/spec/result.hpp>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace mixed {

using namespace ndpool::mixed;  // what does not depend on the target

template <class X, class W>
const void* load(const analytic::CopyLayout& layout, const void* array, void* box) {
  return analytic::loaded<X>(layout, array, static_cast<W*>(box));
}

/// Results are always made in the box, also where the array could hold them in place: they are always copied.
template <class W, class Y>
void store(const analytic::CopyLayout& layout, const void* box, void* array, Rounding rounding) {
  constexpr bool by_runs =
      std::is_floating_point_v<Y> || (sizeof(Y) == 2 && !std::is_integral_v<Y> && std::is_same_v<W, float>);
  const W* const from = static_cast<const W*>(box);
  Y* const to = static_cast<Y*>(array);
  const auto converted = [rounding](W value) {
    if constexpr (by_runs)
      return analytic::number<Y>(value);
    else if constexpr (std::is_integral_v<Y> && std::is_floating_point_v<W>)
      return spec::round_to<Y>(value, rounding);
    else if constexpr (std::is_integral_v<Y>)
      return spec::clamp_to<Y>(static_cast<spec::Wide>(value));
    else
      return spec::convert<Y>(value);
  };
  analytic::copy_box(
      layout,
      [&](Index at, Index packed, Index count) {
        if constexpr (by_runs)
          analytic::convert_run(from + packed, to + at, count);
        else
          for (Index i = 0; i < count; ++i) to[at + i] = converted(from[packed + i]);
      },
      [&](Index at, Index packed) { to[at] = converted(from[packed]); });
}

template <class X>
constexpr void add_scalar(ConversionKernels& kernels, ScalarKind kind) {
  const auto scalar = static_cast<std::size_t>(kind);
  kernels.load[scalar][0] = load<X, float>;
  kernels.load[scalar][1] = load<X, double>;
  if constexpr (std::is_integral_v<X>) {
    kernels.load[scalar][2] = load<X, std::int64_t>;
    kernels.load[scalar][3] = load<X, std::uint64_t>;
  }
  kernels.store[0][scalar] = store<float, X>;
  kernels.store[1][scalar] = store<double, X>;
  kernels.store[2][scalar] = store<std::int64_t, X>;
  kernels.store[3][scalar] = store<std::uint64_t, X>;
}

}  // namespace mixed

const ndpool::mixed::ConversionKernels* conversion_kernels() {
  static constexpr ndpool::mixed::ConversionKernels kernels = [] {
    ndpool::mixed::ConversionKernels all;
    all.target = HWY_TARGET;
#define NDPOOL_ROW(name, type) mixed::add_scalar<type>(all, ScalarKind::kind_##name);
    NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
    return all;
  }();
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

HWY_EXPORT(conversion_kernels);

const mixed::ConversionKernels* mixed::conversions_for(std::int64_t target) {
  return best_for<ConversionKernels>(HWY_DISPATCH_TABLE(conversion_kernels), target);
}

}  // namespace ndpool
#endif
