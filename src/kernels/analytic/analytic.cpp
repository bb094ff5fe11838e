// Smooth max and Lp: one slice of them for every scalar and every type of sums, compiled once for every instruction
// set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/analytic/analytic.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/analytic/magnitudes-inl.h"
#include "kernels/analytic/slice-inl.h"
#include "kernels/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class S>
constexpr analytic::SliceFamilies slice_families() {
  using namespace analytic;
  if constexpr (std::is_integral_v<S>) {
    return {};
  } else {
    SliceFamilies families;
    constexpr int floats = static_cast<int>(SliceTypes::floats), wide = static_cast<int>(SliceTypes::wide_sums);
    constexpr int doubles = static_cast<int>(SliceTypes::doubles);
    if constexpr (!std::is_same_v<S, double>) {
      families.smooth_max[floats] = run_slice<SmoothMaxPowers<float, float>, S>;
      families.smooth_max[wide] = run_slice<SmoothMaxPowers<float, double>, S>;
      families.lp[floats] = run_slice<LpPowers<float, float>, S>;
      families.lp[wide] = run_slice<LpPowers<float, double>, S>;
    } else {
      families.smooth_max[doubles] = run_slice<SmoothMaxPowers<double, double>, S>;
    }
    families.lp[doubles] = run_slice<LpPowers<double, double>, S>;
    using Number = std::conditional_t<std::is_same_v<S, double>, double, float>;
    families.magnitudes = run_magnitudes<Number, S>;
    return families;
  }
}

const ndpool::analytic::SliceKernels* slice_kernels() {
#define NDPOOL_ROW(name, type) slice_families<type>(),
  static constexpr ndpool::analytic::SliceKernels kernels = {HWY_TARGET, {NDPOOL_ALL_SCALARS(NDPOOL_ROW)}};
#undef NDPOOL_ROW
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

HWY_EXPORT(slice_kernels);

const analytic::SliceKernels* analytic::slice_kernels_for(std::int64_t target) {
  return best_for<SliceKernels>(HWY_DISPATCH_TABLE(slice_kernels), target);
}

}  // namespace ndpool
#endif
