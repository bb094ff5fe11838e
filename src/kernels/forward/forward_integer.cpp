// Values of integers, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/forward/forward_integer.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/forward/forward-inl.h"
#include "kernels/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#define NDPOOL_ROW(name, type) forward_row<type, std::is_integral_v<type> && sizeof(type) < 8>(),
NDPOOL_KERNEL_TABLE(ForwardKernels, forward_integer_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(forward_integer_kernels, add_forward_integer_kernels, forward_integer)

}  // namespace ndpool
#endif
