// The general engine for maxima and minima of floats, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/general/float_extremes.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/general/engine-inl.h"
#include "kernels/general/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

NDPOOL_GENERAL_TABLE(general_float_extremes, NDPOOL_GENERAL_FLOAT_EXTREMES)

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_GENERAL(general_float_extremes, float_extremes_for)

}  // namespace ndpool
#endif
