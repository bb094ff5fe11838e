// The general engine for extremes with their positions, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/general/positions.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/general/engine-inl.h"
#include "kernels/general/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

const ndpool::general::GeneralKernels* general_positions() {
  using namespace general;
  static const GeneralKernels kernels = [] {
    GeneralKernels some = {HWY_TARGET, {}};
#define NDPOOL_ROW(name, ...) some.of[static_cast<int>(ElementKind::name)] = run_general<__VA_ARGS__>;
    NDPOOL_GENERAL_POSITIONS(NDPOOL_ROW)
#undef NDPOOL_ROW
    return some;
  }();
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

HWY_EXPORT(general_positions);

const general::GeneralKernels* general::positions_for(std::int64_t target) {
  for (const auto& compiled : HWY_DISPATCH_TABLE(general_positions))
    if (compiled != nullptr)
      if (const general::GeneralKernels* kernels = (*compiled)(); kernels->target == target) return kernels;
  return nullptr;
}

}  // namespace ndpool
#endif
