// Planes of short floats as floats, and back: what the maps without kernels for short floats run on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/forward/widen.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/forward/rows-inl.h"
#include "kernels/simd/reduction-inl.h"
#include "kernels/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Calls use(offset) for every row of a plane, in order.
template <class Use>
void for_each_row(const WidenJob& job, int axis, Index offset, const Use& use) {
  if (axis == job.rows.vertical_count) return use(offset);
  const PooledAxis& vertical = job.rows.vertical[axis];
  const Index extent = job.has_input_shape ? vertical.window.input : vertical.window.output;
  for (Index i = 0; i < extent; ++i) for_each_row(job, axis + 1, offset + i * vertical.stride.*job.array, use);
}

/// Calls copy(short float, float) for all elements of a plane.
template <class T, class Copy>
void for_each_element(const WidenJob& job, const Copy& copy) {
  const Axis& axis = job.rows.horizontal.window;
  const Index pixels = job.has_input_shape ? axis.input : axis.output, lanes = job.rows.inner.extent;
  const Index step = job.rows.horizontal.stride.*job.array, lane_step = job.rows.inner.stride.*job.array;
  const bool is_packed = step == lanes && (lanes == 1 || lane_step == 1);
  float* wide = job.wide;
  for_each_row(job, 0, 0, [&](Index offset) {
    T* const narrow = static_cast<T*>(job.narrow) + offset;
    if (is_packed) {
      float* const to = wide;
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < pixels * lanes; ++i) copy(narrow[i], to[i]);
    } else {
      for (Index pixel = 0; pixel < pixels; ++pixel)
        for (Index lane = 0; lane < lanes; ++lane)
          copy(narrow[pixel * step + lane * lane_step], wide[pixel * lanes + lane]);
    }
    wide += pixels * lanes;
  });
}

template <class T>
void widen(const WidenJob& job) {
  using Sums = Reduction<T, Combine::sum, Nan::propagate>;
  if (job.back)
    for_each_element<T>(job, [](T& narrow, const float& wide) { narrow = Sums::lower(wide); });
  else
    for_each_element<T>(job, [](const T& narrow, float& wide) { wide = Sums::lift(narrow); });
}

template <class T>
constexpr WidenKernel widen_kernel() {
  if constexpr (is_real<T> && !std::is_floating_point_v<T>)
    return widen<T>;
  else
    return nullptr;
}

#define NDPOOL_ROW(name, type) widen_kernel<type>(),
NDPOOL_KERNEL_TABLE(WidenKernels, widen_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(widen_kernels, add_widen_kernels, widen)

}  // namespace ndpool
#endif
