// The general engine for extremes of 64 bits with their positions, and of bytes and 16 bits in large boxes, compiled
// once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/general/far_positions.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/general/engine-inl.h"
#include "kernels/general/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

NDPOOL_GENERAL_TABLE(general_far_positions, NDPOOL_GENERAL_FAR_POSITIONS)

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_GENERAL(general_far_positions, far_positions_for)

}  // namespace ndpool
#endif
