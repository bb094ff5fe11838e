// The general engine for sums of integers of 16 and 32 bits, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/general/integer_sums.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/general/engine-inl.h"
#include "kernels/general/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

NDPOOL_GENERAL_TABLE(general_integer_sums, NDPOOL_GENERAL_INTEGER_SUMS)

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_GENERAL(general_integer_sums, integer_sums_for)

}  // namespace ndpool
#endif
