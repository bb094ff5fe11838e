// The general engine for maxima and minima of integers, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/general/integer_extremes.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/general/engine-inl.h"
#include "kernels/general/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

NDPOOL_GENERAL_TABLE(general_integer_extremes, NDPOOL_GENERAL_INTEGER_EXTREMES)

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_GENERAL(general_integer_extremes, integer_extremes_for)

}  // namespace ndpool
#endif
