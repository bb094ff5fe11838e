// The list of implementations: what runs a map of a pool, and what each accepts. The first that accepts a problem is
// chosen when its plan is made; the reference comes last.
#pragma once

#include "kernels/indices/layout.hpp"
#include "plan/argmax_plan.hpp"

#include "plan/kernel_plan.hpp"

#include <span>

namespace ndpool {

class SlicedPlan;
class SplitPlan;

/// What is known of a pool when its plan is made.
struct PlanData {
  ScalarKind kind = ScalarKind::none, result = ScalarKind::none;
  KernelChoice choice = {};
  std::unique_ptr<const Rows> rows;  ///< canonical; cut to rows of lanes where the row kernels would keep too much
  bool rows_fit = false;             ///< the row kernels can keep the rows that they fold
  bool is_for_indices = false;       ///< made for the maps by given indices alone
  std::unique_ptr<const indices::Layout> indices;  ///< of the maps by given indices; null if there are no winners
  std::unique_ptr<const indices::Layout> unpool;   ///< of unpooling, whose windows are bins
  std::unique_ptr<const indices::Layout> plane;    ///< of the VJP of the row kernels, which finds taps plane by plane
  std::unique_ptr<const PackedPlanes> packed;      ///< of the row kernels; null where planes are pooled one by one
  Index values_tile = 0;                           ///< rows of a tile, and scratch, of the row kernels
  std::size_t values_bytes = 0;
  std::shared_ptr<const GeneralPlan> general;      ///< null where the engine does not serve
  std::shared_ptr<const SplitPlan> split;          ///< of few large windows
  std::shared_ptr<const GeneralPlan> general_jvp;  ///< the same with the tangents in place of the values, for sums
  std::shared_ptr<const ArgmaxPlan> argmax_jvp, argmax_vjp;  ///< of max and min by their first extremes
  std::shared_ptr<const GeneralPlan> general_argmax;         ///< of max and min
  std::shared_ptr<const GeneralPlan> general_vjp;            ///< sums over the transposed windows
  /// Smooth max and Lp; null where they do not serve.
  std::shared_ptr<const SlicedPlan> analytic, analytic_jvp, analytic_vjp;
  std::shared_ptr<const SlicedPlan> tie_jvp, tie_vjp;  ///< of max and min with ties `all` or `split`
  std::shared_ptr<const SlicedPlan> mixed;  ///< of results of another type than the input; then all others are null
};

/// The arrays of a map, as canonical rows name them; indices take the place of `out` or of `tangent_out`.
struct MapArrays {
  const void* in = nullptr;
  void* out = nullptr;
  void* tangent_in = nullptr;
  void* tangent_out = nullptr;
  IndexKind index_kind = IndexKind::flat;
};

/// What a run takes.
struct Needs {
  std::size_t scratch_bytes = 0;  ///< of each thread
  Index tiles = 1;                ///< pieces that threads can share
};

struct Implementation {
  const char* name;
  MapKind map;
  bool (*accepts)(const PlanData&);
  Needs (*needs)(const PlanData&);
  bool (*run)(const PlanData&, const MapArrays&, const ProgressCallback&);
};

std::span<const Implementation> implementations();

/// All that is known of a pool of scalars `kind` with results of type `result`, for the list to be asked; null if no
/// implementation could serve it.
std::unique_ptr<const PlanData> make_plan_data(ScalarKind kind, ScalarKind result, const KernelChoice& choice,
                                               const Geometry& geometry, const ArrayStrides& strides);

}  // namespace ndpool
