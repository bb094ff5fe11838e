// The general engine for sums that need 128 bits and for pairs of doubles, which have no vectors: compiled as plain
// code.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/general/wide_sums.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/general/engine-inl.h"
#include "kernels/general/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

NDPOOL_GENERAL_TABLE(general_wide_sums, NDPOOL_GENERAL_WIDE_SUMS)

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_GENERAL(general_wide_sums, wide_sums_for)

}  // namespace ndpool
#endif
