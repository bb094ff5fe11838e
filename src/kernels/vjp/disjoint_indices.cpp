// VJP by given indices of small disjoint windows: every cell is written once, with its gradient or 0.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vjp/disjoint_indices.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/vjp/separate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class T, class I>
bool add_to_disjoint(const DisjointJob& job) {
  using Shares = IndexShares<T, I>;
  const Shares shares(job.rows, static_cast<const T*>(job.gy), static_cast<const I*>(job.indices));
  return SeparateWindows<T, Shares>(job.rows, static_cast<T*>(job.gx), shares)(job.first_row, job.last_row);
}

const DisjointKernels* disjoint_kernels() {
  static constexpr DisjointKernels kernels = {
      HWY_TARGET,
      {{add_to_disjoint<float, std::uint8_t>, add_to_disjoint<float, Index>},
       {add_to_disjoint<double, std::uint8_t>, add_to_disjoint<double, Index>}}};
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(disjoint_kernels, add_disjoint_kernels, disjoint)

}  // namespace ndpool
#endif
