// Derivatives of max and min by their first extremes: the positions of some planes by the general engine, then a gather
// or a scatter by them. Chosen where no special case is.
#pragma once

#include "kernels/indices/layout.hpp"
#include "plan/general_plan.hpp"

#include "plan/kernel_plan.hpp"

namespace ndpool {

struct MapArrays;

class ArgmaxPlan {
 public:
  /// For MapKind::jvp or MapKind::vjp. Null if the engine does not serve the pool.
  static std::unique_ptr<const ArgmaxPlan> make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                MapKind map);

  /// False if `watch` stopped it.
  bool run(const MapArrays& arrays, const ProgressCallback& watch) const;

  /// Of each thread; the calling thread also keeps the positions of one slice.
  std::size_t scratch_bytes() const;

  /// Of all slices: threads share the tiles of one slice at a time.
  Index tile_count() const;

 private:
  ArgmaxPlan() = default;

  ScalarKind kind_ = ScalarKind::none;
  MapKind map_ = MapKind::jvp;
  std::vector<LoopAxis> slices_;  ///< loops whose positions are slices; the last one may take several steps at a time
  Index step_ = 1;                ///< of the last of these
  Index outputs_ = 1;             ///< of a slice
  Index slice_count_ = 1;
  std::unique_ptr<const GeneralPlan> positions_;
  indices::Layout layout_;
};

}  // namespace ndpool
