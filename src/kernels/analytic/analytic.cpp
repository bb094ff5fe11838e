// Smooth max and Lp: values and derivatives from sums of powers, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/analytic/analytic.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/analytic/analytic_derivatives-inl.h"
#include "kernels/analytic/analytic_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class Powers>
void analytic_values(const Job& job) {
  AnalyticValues<Powers> values(job);
  values();
}

template <class Powers>
void analytic_derivatives(const TangentJob& job) {
  AnalyticDerivatives<Powers> derivatives(job);
  derivatives();
}

/// Short floats are pooled as floats (float_planes.hpp), so they need none of their own.
template <class T>
constexpr AnalyticFamilies analytic_families() {
  if constexpr (std::is_floating_point_v<T>)
    return {{analytic_values<SmoothMaxPowers<T>>, analytic_derivatives<SmoothMaxPowers<T>>},
            {analytic_values<LpPowers<T>>, analytic_derivatives<LpPowers<T>>},
            {analytic_values<Magnitudes<T>>, nullptr}};
  else
    return {};
}

#define NDPOOL_ROW(name, type) analytic_families<type>(),
NDPOOL_KERNEL_TABLE(AnalyticKernels, analytic_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(analytic_kernels, add_analytic_kernels, analytic)

}  // namespace ndpool
#endif
