// Per-target code: one slice of Lp with p = infinity: the maximum of magnitudes, whose derivatives are those of max
// times the signs. No include guard of the usual kind: see lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_MAGNITUDES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_MAGNITUDES_INL_H_
#undef NDPOOL_ANALYTIC_MAGNITUDES_INL_H_
#else
#define NDPOOL_ANALYTIC_MAGNITUDES_INL_H_
#endif

#include "kernels/analytic/copies-inl.h"
#include "kernels/analytic/lanes-inl.h"

#include "plan/kernel_plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

/// v times the sign of x: 0 where x is 0, whatever v is; a NaN has the sign 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V with_sign_of(D d, V x, V v) {
  const V flipped = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(v), v);
  return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), flipped);
}

/// Values of a slice by the thread that has it; derivatives of slices one after the other, by plans of max that use all
/// threads.
template <class T, class S>
void run_magnitudes(const SliceJob& job) {
  const Slice& slice = job.slice;
  const hn::ScalableTag<T> d;
  char* memory = job.scratch;
  const auto take = [&memory](Index count) {
    T* const start = reinterpret_cast<T*>(memory);
    memory += slice_box_bytes(count);
    return start;
  };
  T *const number_box = take(slice.cells), *const sizes = take(slice.cells);
  T *const largest = take(slice.outputs), *const result_box = take(slice.outputs);
  const T* const x = loaded<S>(slice.copy(SliceArray::in), job.in, number_box);
  for_vectors<T>(
      slice.cells, [d](const T* from, T* to) NDPOOL_ALWAYS_INLINE { hn::StoreU(hn::Abs(hn::LoadU(d, from)), d, to); },
      x, sizes);
  if (job.map == SliceMap::forward) {
    slice.sums->run_all(sizes, largest, job.engine_scratch);
    T* const values = place_for<S>(slice.copy(SliceArray::out), job.out, result_box);
    for_vectors<T>(  // a window without taps is 0
        slice.outputs,
        [d](const T* from, T* to) NDPOOL_ALWAYS_INLINE {
          const auto v = hn::LoadU(d, from);
          hn::StoreU(hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v), d, to);
        },
        static_cast<const T*>(largest), values);
    return store<S>(slice.copy(SliceArray::out), values, job.out);
  }
  T *const tangent_box = take(slice.cells), *const signed_tangents = take(slice.cells);
  const auto apply_signs = [&](const T* tangents, T* to) {
    for_vectors<T>(
        slice.cells,
        [d](const T* number, const T* v, T* result)
            NDPOOL_ALWAYS_INLINE { hn::StoreU(with_sign_of(d, hn::LoadU(d, number), hn::LoadU(d, v)), d, result); },
        x, tangents, to);
  };
  if (job.map == SliceMap::jvp) {
    apply_signs(loaded<S>(slice.copy(SliceArray::tangent_in), static_cast<const void*>(job.tangent_in), tangent_box),
                signed_tangents);
    T* const result = place_for<S>(slice.copy(SliceArray::tangent_out), job.tangent_out, result_box);
    slice.extremes->jvp(sizes, signed_tangents, result);
    return store<S>(slice.copy(SliceArray::tangent_out), result, job.tangent_out);
  }
  const T* const gradients =
      loaded<S>(slice.copy(SliceArray::tangent_out), static_cast<const void*>(job.tangent_out), result_box);
  slice.extremes->vjp(sizes, gradients, signed_tangents);
  T* const result = place_for<S>(slice.copy(SliceArray::gradient_in), job.tangent_in, tangent_box);
  apply_signs(signed_tangents, result);
  store<S>(slice.copy(SliceArray::gradient_in), result, job.tangent_in);
}

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_MAGNITUDES_INL_H_
