// A pool prepared for one shape and set of strides, with the implementation of every map chosen.
#pragma once

#include "kernels/kernels.hpp"

#include <ndpool/plan_options.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ndpool {

struct Implementation;
struct PlanData;
struct MapArrays;

/// A pool prepared for one shape and set of strides. Immutable, so threads may share it; running it allocates nothing
/// once a thread has the scratch it keeps.
class KernelPlan {
 public:
  using ArrayStrides = ndpool::ArrayStrides;

  /// Null if the reference runs every map. Throws std::invalid_argument if the implementation that `options`, or else
  /// NDPOOL_FORCE_IMPLEMENTATION, names accepts this problem in none of its maps; the sentence lists those that do.
  /// `result` is the scalar of the result if it is not that of the input; such plans have the forward map alone.
  static std::shared_ptr<const KernelPlan> make(ScalarKind kind, const KernelChoice& choice, const Geometry& geometry,
                                                const ArrayStrides& strides, const PlanOptions& options = {},
                                                ScalarKind result = ScalarKind::none);
  /// The same with the first implementations that accept the problem, whatever the environment names: for plans that
  /// run a part of another.
  static std::shared_ptr<const KernelPlan> make_unforced(ScalarKind kind, const KernelChoice& choice,
                                                         const Geometry& geometry, const ArrayStrides& strides);
  /// A plan for maps by indices, whose strides are those of `out`; the arrays of values or tangents have the strides of
  /// the tangents. It needs no scratch that grows with the rows, so it exists for nearly every geometry.
  static std::shared_ptr<const KernelPlan> make_for_indices(ScalarKind kind, const Geometry& geometry,
                                                            const ArrayStrides& strides);

  /// True if a compiled implementation runs the map; the maps below need one.
  bool has(MapKind map) const { return chosen_[static_cast<int>(map)] != nullptr; }
  /// The name of the implementation that runs the map.
  std::string_view implementation(MapKind map) const;
  /// The names of all that accept the problem, in the order of the list; "reference" is the last.
  std::vector<std::string_view> implementations(MapKind map) const;

  /// Reads `in`, writes `out`. False if `progress` stopped it; so in all maps.
  bool forward(const void* in, void* out, const ProgressCallback& progress = {}) const;

  /// True if the tap numbers of a window fit an index of this kind.
  bool fits(IndexKind kind) const;
  /// Also writes the index of the winner of each window, with the strides of tangent_out.
  bool forward_with_indices(const void* in, void* out, void* indices, IndexKind kind,
                            const ProgressCallback& progress = {}) const;

  bool jvp(const void* in, const void* tangent_in, void* tangent_out, const ProgressCallback& progress = {}) const;
  bool vjp(const void* in, const void* tangent_out, void* tangent_in, const ProgressCallback& progress = {}) const;

  /// True if every index names a cell, as the maps below need it, or none.
  bool check_indices(const void* indices, IndexKind kind) const;
  bool jvp_from_indices(const void* indices, IndexKind kind, const void* tangent_in, void* tangent_out,
                        const ProgressCallback& progress = {}) const;
  bool vjp_from_indices(const void* indices, IndexKind kind, const void* tangent_out, void* tangent_in,
                        const ProgressCallback& progress = {}) const;
  /// Max unpooling: `cells`, of input shape, gets the last value that flat indices name for each, or 0; and its VJP.
  bool place(const void* indices, const void* values, void* cells, const ProgressCallback& progress = {}) const;
  bool place_vjp(const void* indices, const void* cells, void* values, const ProgressCallback& progress = {}) const;

  /// Scratch that each thread keeps for this plan: that of its largest map.
  std::size_t scratch_bytes() const;
  /// Scratch of one map; 0 if the reference runs it.
  std::size_t scratch_bytes(MapKind map) const;

  MapSummary summary(MapKind map) const;

  KernelPlan(const KernelPlan&) = delete;
  KernelPlan& operator=(const KernelPlan&) = delete;
  ~KernelPlan();

 private:
  explicit KernelPlan(std::unique_ptr<const PlanData> data);
  bool run(MapKind map, const MapArrays& arrays, const ProgressCallback& progress) const;

  std::unique_ptr<const PlanData> data_;
  const Implementation* chosen_[map_kinds] = {};  ///< null where the reference runs the map
};

}  // namespace ndpool
