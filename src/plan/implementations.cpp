#include "plan/implementations.hpp"

#include "kernels/forward/divisors.hpp"
#include "plan/map_runs.hpp"

namespace ndpool {

namespace {

/// Windows of up to 3 taps on an axis (4 if they are disjoint) that the row kernels hold in registers, on rows that
/// fill vectors: there they are 1.3 to 4 times as fast as the general engine (NDPOOL_FORCE_IMPLEMENTATION shows both).
bool is_small_window(const Axis& axis) {
  if (axis.adaptive || axis.dilation != 1) return false;
  return axis.kernel <= 3 || (axis.kernel == 4 && axis.stride == 4);
}
bool is_in_registers(const PlanData& plan, const Axis& row) {
  const Index lanes = plan.rows->inner.extent, size = static_cast<Index>(size_of(plan.kind));
  const bool is_sum = plan.choice.combine == Combine::sum, is_float = is_floating(plan.kind);
  if (lanes == 1) {
    if (row.output * size < 16) return false;
    if (row.kernel == row.stride) return row.kernel == 2 || (row.kernel == 4 && !is_sum) || (is_float && size >= 4);
    if (row.kernel == 3) return (row.stride == 1 || row.stride == 2) && !(is_sum && size == 2 && !is_float);
    return row.kernel == 2 && row.stride == 1 && size >= 4;
  }
  if (lanes == 3) return size == 4 && is_float && row.kernel == 3;
  return lanes * size >= 64 && row.kernel <= 3 && !(is_sum && !is_float && row.kernel == 3);
}
bool accepts_small_windows(const PlanData& plan) {
  if (!accepts_rows(plan) || plan.kind == ScalarKind::kind_i64) return false;
  const Rows& rows = *plan.rows;
  if (rows.vertical_count > 3 || !rows.in_is_packed() || !rows.out_is_packed()) return false;
  for (int v = 0; v < rows.vertical_count; ++v)
    if (!is_small_window(rows.vertical[v].window)) return false;
  if (rows.vertical_count > 1 && rows.horizontal.window.kernel != 2) return false;
  return is_small_window(rows.horizontal.window) && is_in_registers(plan, rows.horizontal.window);
}
/// Small windows whose values and taps stay in registers, 3 to 6 times as fast as the general engine, and numbers of 64
/// bits, which the engine combines one by one: 2 to 3 times.
bool accepts_register_argmax(const PlanData& plan) {
  if (!accepts_winners(plan)) return false;
  if (size_of(plan.kind) == 8) return plan.rows->rows_per_plane * plan.rows->horizontal.window.output > 4;
  const Rows& rows = *plan.rows;
  if (rows.vertical_count > 3 || !rows.in_is_packed() || !rows.out_is_packed()) return false;
  for (int v = 0; v < rows.vertical_count; ++v)
    if (!is_small_window(rows.vertical[v].window)) return false;
  return is_small_window(rows.horizontal.window) && is_in_registers(plan, rows.horizontal.window);
}
/// Derivatives by the winners of the same windows: 1.5 to 4 times as fast as positions by the engine.
bool accepts_small_winners(const PlanData& plan) {
  return accepts_winner_derivatives(plan) && accepts_register_argmax(plan);
}
/// Whole planes of up to 8x8 floats, folded eight at a time: 5 times as fast as turning planes to lanes.
bool accepts_whole_planes(const PlanData& plan) {
  const Rows& rows = *plan.rows;
  if (!accepts_rows(plan) || plan.kind != ScalarKind::kind_f32 || rows.vertical_count != 1 || rows.inner.extent != 1)
    return false;
  return is_whole(rows.horizontal.window) && is_whole(rows.vertical[0].window) &&
         rows.horizontal.window.input * rows.vertical[0].window.input <= 64;
}

/// Disjoint windows of up to 4 taps on an axis, whose gradients write every cell once: 4 to 9 times as fast as sums
/// over the transposed windows.
bool accepts_small_disjoint(const PlanData& plan) {
  if (!accepts_disjoint(plan)) return false;
  const Rows& rows = *plan.rows;
  const auto is_small = [](const Axis& axis) {
    return is_small_window(axis) && axis.stride >= axis.kernel && axis.stride <= 4;
  };
  for (int v = 0; v < rows.vertical_count; ++v)
    if (!is_small(rows.vertical[v].window)) return false;
  const Index lanes = rows.inner.extent, size = static_cast<Index>(size_of(plan.kind));
  if (lanes > 1 ? lanes * size < 64 : rows.horizontal.window.input * size < 16) return false;
  return is_small(rows.horizontal.window);
}

constexpr Implementation list[] = {
    // Values.
    {"whole_planes", MapKind::forward, accepts_whole_planes, needs_of_rows, run_rows},
    {"small_windows", MapKind::forward, accepts_small_windows, needs_of_rows, run_rows},
    {"analytic", MapKind::forward, accepts_analytic, needs_of_analytic, run_analytic},
    {"split", MapKind::forward, accepts_split, needs_of_split, run_split},
    {"general", MapKind::forward, accepts_general, needs_of_general, run_general},
    {"mixed", MapKind::forward, accepts_mixed, needs_of_mixed, run_mixed},
    // Values and winners.
    {"argmax", MapKind::forward_with_indices, accepts_register_argmax, needs_of_winners, run_winner_indices},
    {"general", MapKind::forward_with_indices, accepts_general_argmax, needs_of_general_argmax, run_general_argmax},
    // JVPs.
    {"argmax", MapKind::jvp, accepts_small_winners, needs_of_winners, run_winner_jvp},
    {"general", MapKind::jvp, accepts_argmax_jvp, needs_of_argmax_jvp, run_argmax_jvp},
    {"general", MapKind::jvp, accepts_tie_jvp, needs_of_tie_jvp, run_tie_jvp},
    {"general", MapKind::jvp, accepts_general_jvp, needs_of_general_jvp, run_general_jvp},
    {"analytic", MapKind::jvp, accepts_analytic_jvp, needs_of_analytic_jvp, run_analytic_jvp},
    // VJPs.
    {"argmax", MapKind::vjp, accepts_small_winners, needs_of_winner_vjp, run_winner_vjp},
    {"general", MapKind::vjp, accepts_argmax_vjp, needs_of_argmax_vjp, run_argmax_vjp},
    {"general", MapKind::vjp, accepts_tie_vjp, needs_of_tie_vjp, run_tie_vjp},
    {"disjoint", MapKind::vjp, accepts_small_disjoint, needs_of_disjoint, run_disjoint},
    {"general", MapKind::vjp, accepts_general_vjp, needs_of_general_vjp, run_general_vjp},
    {"analytic", MapKind::vjp, accepts_analytic_vjp, needs_of_analytic_vjp, run_analytic_vjp},
    // Maps by given indices. Disjoint windows whose cells are written once: 2 to 4 times as fast as adding to zeros.
    {"indices", MapKind::jvp_from_indices, accepts_indices, needs_of_index_jvp, run_index_jvp},
    {"disjoint", MapKind::vjp_from_indices, accepts_disjoint_indices, needs_of_index_vjp, run_disjoint_indices},
    {"indices", MapKind::vjp_from_indices, accepts_indices, needs_of_index_vjp, run_index_vjp},
    {"indices", MapKind::unpool, accepts_unpooling, needs_of_unpool, run_unpool},
    {"indices", MapKind::unpool_vjp, accepts_unpooling, needs_of_unpool_vjp, run_unpool_vjp},
};

}  // namespace

std::span<const Implementation> implementations() { return list; }

}  // namespace ndpool
