// The maps by indices that a caller gives: derivatives of max and min, unpooling, and the check before any of them.
#include "plan/index_runs.hpp"
#include "kernels/vjp/separate.hpp"
#include "plan/map_runs.hpp"
#include "plan/tiles.hpp"

#include <atomic>

namespace ndpool {

namespace {

using indices::Form;
using indices::IndexMap;
using indices::Layout;
using indices::MapJob;

Form form_of(IndexKind kind) {
  switch (kind) {
    case IndexKind::u8: return Form::tap8;
    case IndexKind::u16: return Form::tap16;
    case IndexKind::u32: return Form::tap32;
    case IndexKind::flat: return Form::flat64;
  }
  return Form::flat64;
}

MapJob job_of(const Layout& layout, IndexMap map, ScalarKind kind, const MapArrays& arrays) {
  return {.layout = layout,
          .map = map,
          .form = form_of(arrays.index_kind),
          .kind = kind,
          .indices = arrays.out,
          .cells = arrays.tangent_in,
          .values = arrays.tangent_out};
}

Index tile_count(const Layout& layout, IndexMap map) {
  return indices::is_by_cells(map) ? layout.by_cells.count : layout.by_outputs.count;
}

/// True if every tile was; the first that is not ends the others. `finished` is false if `progress` stopped the run.
bool run_all(const MapJob& job, const ProgressCallback& progress, bool& finished) {
  std::atomic<bool> fine = true;
  finished = run_tiles({tile_count(job.layout, job.map), 1}, indices::scratch_bytes(job.layout, job.map, job.kind),
                       progress, [&](Index begin, Index end, void* scratch) {
                         for (Index tile = begin; tile < end; ++tile) {
                           if (!fine.load(std::memory_order_relaxed)) return;
                           if (!indices::run_tile(job, tile, scratch)) fine = false;
                         }
                       });
  return fine;
}

}  // namespace

/// Hazard and retry: flat indices may lie outside of their windows, where another slab would have to look for them. If
/// one does, every slab looks at all outputs of its plane.
bool run_index_map(MapJob job, const ProgressCallback& progress) {
  bool finished = false;
  if (run_all(job, progress, finished) || !finished) return finished;
  job.all_outputs = true;
  run_all(job, progress, finished);
  return finished;
}

void add_index_layout(PlanData& plan, const Rows& rows) {
  const bool is_extreme = plan.choice.combine == Combine::max || plan.choice.combine == Combine::min;
  if (is_extreme && is_floating(plan.kind))
    plan.indices = std::make_unique<const Layout>(indices::make_layout(rows, false));
}

std::unique_ptr<const PlanData> make_index_data(ScalarKind kind, const Geometry& geometry,
                                                const ArrayStrides& strides) {
  if (kind == ScalarKind::none || element_count(geometry.output_shape()) == 0) return nullptr;
  auto data = std::make_unique<PlanData>();
  data->kind = kind;
  data->is_for_indices = true;
  data->rows = std::make_unique<const Rows>(make_rows(geometry, strides));
  data->indices = std::make_unique<const Layout>(indices::make_layout(*data->rows, false));
  data->unpool = std::make_unique<const Layout>(indices::make_layout(*data->rows, true));
  return data;
}

bool check_indices(const PlanData& plan, const MapArrays& arrays) {
  bool finished = false;
  return run_all(job_of(*plan.indices, IndexMap::check, plan.kind, arrays), {}, finished);
}

bool accepts_indices(const PlanData& plan) { return plan.indices != nullptr && is_floating(plan.kind); }
bool accepts_unpooling(const PlanData& plan) { return plan.unpool != nullptr; }

namespace {
Needs needs_of(const Layout& layout, IndexMap map, ScalarKind kind) {
  return {indices::scratch_bytes(layout, map, kind), tile_count(layout, map)};
}
}  // namespace
Needs needs_of_index_jvp(const PlanData& plan) { return needs_of(*plan.indices, IndexMap::take, plan.kind); }
Needs needs_of_index_vjp(const PlanData& plan) { return needs_of(*plan.indices, IndexMap::add, plan.kind); }
Needs needs_of_unpool(const PlanData& plan) { return needs_of(*plan.unpool, IndexMap::put, plan.kind); }
Needs needs_of_unpool_vjp(const PlanData& plan) { return needs_of(*plan.unpool, IndexMap::take_last, plan.kind); }

bool run_index_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return run_index_map(job_of(*plan.indices, IndexMap::take, plan.kind, arrays), progress);
}
bool run_index_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return run_index_map(job_of(*plan.indices, IndexMap::add, plan.kind, arrays), progress);
}

bool accepts_disjoint_indices(const PlanData& plan) {
  const bool has_kernel = plan.kind == ScalarKind::kind_f32 || plan.kind == ScalarKind::kind_f64;
  if (!accepts_indices(plan) || !has_kernel) return false;
  const Rows& rows = *plan.rows;
  const Index neighbours = rows.inner.extent > 1 ? rows.inner.extent : rows.horizontal.window.output;
  constexpr std::size_t vector_bytes = 32;
  return static_cast<std::size_t>(neighbours) * size_of(plan.kind) >= vector_bytes && rows.out_is_packed() &&
         windows_are_separate(rows);
}
/// Tap numbers of more bytes, and flat indices outside of their windows, are left to the general way.
bool run_disjoint_indices(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  const bool flat = arrays.index_kind == IndexKind::flat;
  if (!flat && arrays.index_kind != IndexKind::u8) return run_index_vjp(plan, arrays, progress);
  const Rows& rows = *plan.rows;
  const auto kernel = kernels().disjoint->of[plan.kind == ScalarKind::kind_f64][flat];
  std::atomic<bool> fine = true;
  const bool finished =
      run_tiles(tiling_of(rows, rows.rows_per_plane, 4), 0, progress, [&](Index begin, Index end, void*) {
        if (fine && !kernel({rows, arrays.out, arrays.tangent_out, arrays.tangent_in, begin, end})) fine = false;
      });
  return !finished || fine ? finished : run_index_vjp(plan, arrays, progress);
}

bool run_unpool(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return run_index_map(job_of(*plan.unpool, IndexMap::put, plan.kind, arrays), progress);
}
bool run_unpool_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  bool finished = false;
  run_all(job_of(*plan.unpool, IndexMap::zero, plan.kind, arrays), {}, finished);
  return run_index_map(job_of(*plan.unpool, IndexMap::take_last, plan.kind, arrays), progress);
}

}  // namespace ndpool
