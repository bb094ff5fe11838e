// Runs the maps of a plan on the row kernels, tile by tile. What the list of implementations refers to.
#include "plan/map_runs.hpp"

#include "kernels/forward/divisors.hpp"
#include "kernels/scratch.hpp"
#include "kernels/vjp/separate.hpp"
#include "plan/float_planes.hpp"
#include "plan/split_plan.hpp"
#include "plan/tap_planes.hpp"
#include "plan/tiles.hpp"

#include <ndpool/part.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace ndpool {

namespace {

/// What the plan has to know of a scalar.
struct ScalarTraits {
  std::size_t size;
  bool is_real;
  bool is_short;  ///< short floats have kernels of their own for values and sums; the rest is done as floats
};
constexpr ScalarTraits scalar_traits[] = {
#define NDPOOL_ROW(name, type) {sizeof(type), !std::is_integral_v<type>, !std::is_arithmetic_v<type>},
    NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
};
const ScalarTraits& traits_of(ScalarKind kind) { return scalar_traits[static_cast<int>(kind)]; }

/// Sums must be exact in the accumulator that the kernels use: 32 bits for 8- and 16-bit integers, 64 for 32-bit ones,
/// 128 for 64-bit ones.
bool sum_is_exact(ScalarKind kind, Index taps) {
  const ScalarTraits& traits = traits_of(kind);
  if (traits.is_real) return true;
  constexpr Index most_taps[] = {0, Index{1} << 23, Index{1} << 15, 0, Index{1} << 31, 0, 0, 0, Index{1} << 62};
  return taps < most_taps[traits.size];
}

/// Divisors are used as 32-bit numbers where sums are.
bool divisor_fits(const AverageOptions& average) {
  return average.divisor == AverageOptions::no_divisor ||
         std::abs(average.divisor) <= std::numeric_limits<std::int32_t>::max();
}

/// Temporary rows of a few megabytes are fine; beyond that the spec, which needs none, takes over.
bool is_modest(Index pixels, Index lanes) {
  constexpr Index most_elements = Index{1} << 20;
  Index elements = 0;
  return !__builtin_mul_overflow(pixels, lanes, &elements) && elements <= most_elements;
}

/// Rows of lanes alone are no longer than what a cache holds besides their sum.
constexpr Index most_lanes = Index{1} << 14;

constexpr std::size_t most_scratch = std::size_t{16} << 20;

/// The work of a kernel follows the taps of a window, that of the spec only those on the input.
bool is_mostly_padding(const Geometry& geometry) {
  for (int a = 0; a < geometry.rank; ++a)
    if (geometry.axes[a].kernel > 2 * geometry.axes[a].input + 64) return true;
  return false;
}

/// Scratch for values, with planes packed or not.
std::size_t values_bytes(const Rows& rows, const PackedPlanes* packed) {
  const std::size_t bytes = fold_scratch_bytes(rows);
  return packed == nullptr ? bytes : std::max(bytes, packed->bytes + fold_scratch_bytes(packed->rows));
}

/// Derivatives go to all taps that tie, not to a winner.
bool shares_ties(const KernelChoice& choice) { return choice.ties == Ties::all || choice.ties == Ties::split; }

/// Tap numbers have the size of the elements, and a table of them must stay small.
Index most_winner_taps(ScalarKind kind) { return traits_of(kind).size == 1 ? 0xFF : 0xFFFF; }

/// Runs `kernel(rows, arrays, begin, end, scratch)` on all rows: on `unit` rows at least, or on planes of short floats
/// as floats.
template <class RunKernel>
bool run_map(const Rows& rows, ScalarKind kind, bool as_floats, Index unit, std::size_t scratch,
             const ProgressCallback& watch, const Arrays& arrays, const Roles& roles, const RunKernel& kernel,
             Index tile_scale = 1) {
  if (!as_floats)
    return run_tiles(tiling_of(rows, unit, tile_scale), scratch, watch,
                     [&](Index begin, Index end, void* memory) { kernel(rows, arrays, begin, end, memory); });
  const FloatPlanes planes(rows, kind, arrays, roles);
  return run_tiles(tiling_of(rows, rows.rows_per_plane), FloatPlanes::bytes(rows) + scratch, watch,
                   [&](Index begin, Index end, void* memory) {
                     planes(begin, end, memory, [&](const Rows& wide, const Arrays& of_plane, void* rest) {
                       kernel(wide, of_plane, 0, wide.row_count, rest);
                     });
                   });
}

/// The scalar whose kernels do what short floats have none for.
ScalarKind wide_kind(ScalarKind kind) { return traits_of(kind).is_short ? ScalarKind::kind_f32 : kind; }

/// Tiles of values: whole groups of planes where these are packed.
Tiling values_tiling(const Rows& rows, const PackedPlanes* packed) {
  return tiling_of(rows, packed == nullptr ? 1 : packed->planes * rows.rows_per_plane);
}

/// Outputs of a row that are made at a time: all, unless there are so few rows that threads would be left without work.
Index outputs_per_part(const Rows& rows, const PackedPlanes* packed) {
  constexpr Index enough_rows = 8, unit = 64;
  const Axis& axis = rows.horizontal.window;
  if (packed != nullptr || rows.row_count >= enough_rows || axis.adaptive) return axis.output;
  const double row_bytes = 4.0 * static_cast<double>(axis.input) * static_cast<double>(rows.inner.extent);
  const auto parts = static_cast<Index>(row_bytes / tile_bytes(row_bytes * static_cast<double>(rows.row_count)));
  const Index outputs = parts > 1 ? (axis.output / parts + unit) / unit * unit : axis.output;
  // A part begins at a window that begins before the end of the input; all but the last of some odd geometries do.
  return (axis.output - 1) / outputs * outputs < part_begins(axis) ? outputs : axis.output;
}

bool run_values(ScalarKind kind, const Rows& rows, const KernelChoice& choice, const PackedPlanes* packed,
                const Tiling& tiling, std::size_t bytes, const void* in, void* out, const ProgressCallback& watch) {
  const Kernel kernel = kernels().forward(kind, choice.combine);
  const Index all = rows.horizontal.window.output, outputs = outputs_per_part(rows, packed);
  if (outputs == all)
    return run_tiles(tiling, bytes, watch, [&](Index begin, Index end, void* scratch) {
      kernel({rows, choice, in, out, begin, end, scratch, packed});
    });
  const Index parts = (all + outputs - 1) / outputs;
  const auto size = static_cast<Index>(traits_of(kind).size);
  const auto run_part = [&](Index number, void* scratch) {
    const Index row = number / parts, first = number % parts * outputs;
    Range cells;
    const Rows part = rows.part({first, std::min(first + outputs, all)}, cells);
    kernel({part, choice, static_cast<const char*>(in) + cells.begin * rows.horizontal.stride.in * size,
            static_cast<char*>(out) + first * rows.horizontal.stride.out * size, row, row + 1, scratch, nullptr});
  };
  return run_tiles({rows.row_count * parts, 1}, bytes, watch, [&](Index begin, Index end, void* scratch) {
    for (Index number = begin; number < end; ++number) run_part(number, scratch);
  });
}
/// What a map needs beyond its own scratch.
std::size_t wide_bytes(ScalarKind kind, const Rows& rows) {
  return traits_of(kind).is_short ? FloatPlanes::bytes(rows) : 0;
}

}  // namespace

std::size_t size_of(ScalarKind kind) { return traits_of(kind).size; }
bool is_floating(ScalarKind kind) { return traits_of(kind).is_real; }

namespace {

/// True if the row kernels can run this pool: they keep whole rows, whose sums must be exact, and have no identities
/// for windows without an input element. Cuts rows of many lanes that would be too long to keep.
bool fit_rows(ScalarKind kind, const KernelChoice& choice, const Geometry& geometry, Rows& rows) {
  if (kind >= ScalarKind::kind_u32 || geometry.empty_window()) return false;
  if (choice.combine == Combine::sum && !(sum_is_exact(kind, geometry.tap_count()) && divisor_fits(choice.average)))
    return false;
  if (choice.combine == Combine::sum && kind == ScalarKind::kind_i64) rows.accumulator_bytes = 16;
  const auto keeps_too_much = [&] {
    return !is_modest(row_pixels(rows), rows.inner.extent) || fold_scratch_bytes(rows) > most_scratch;
  };
  if (keeps_too_much()) rows = rows.with_rows_of_lanes(most_lanes);
  return !keeps_too_much() && !is_mostly_padding(geometry);
}

/// True if both pairs of arrays, those of values and those of tangents, have the same strides.
bool has_tangents_like_values(const Rows& rows) {
  const auto is_alike = [](const Strides& stride) {
    return stride.in == stride.tangent_in && stride.out == stride.tangent_out;
  };
  for (int i = 0; i < rows.loop_count; ++i)
    if (!is_alike(rows.loops[i].stride)) return false;
  for (int v = 0; v < rows.vertical_count; ++v)
    if (!is_alike(rows.vertical[v].stride)) return false;
  return is_alike(rows.horizontal.stride) && is_alike(rows.inner.stride);
}

bool is_extreme(const PlanData& plan) {
  return plan.choice.combine == Combine::max || plan.choice.combine == Combine::min;
}
bool is_sum(const PlanData& plan) { return plan.choice.combine == Combine::sum; }
bool is_real(const PlanData& plan) { return traits_of(plan.kind).is_real; }

}  // namespace

std::unique_ptr<const PlanData> make_plan_data(ScalarKind kind, ScalarKind result, const KernelChoice& choice,
                                               const Geometry& geometry, const ArrayStrides& strides) {
  if (kind == ScalarKind::none || result == ScalarKind::none || choice.combine == Combine::none) return nullptr;
  if (is_analytic(choice.combine) && !traits_of(kind).is_real) return nullptr;
  if (element_count(geometry.output_shape()) == 0) return nullptr;
  auto data = std::make_unique<PlanData>();
  data->kind = kind;
  data->result = result;
  data->choice = choice;
  auto rows = std::make_unique<Rows>(make_rows(geometry, strides));
  if (result != kind) {
    data->rows = std::move(rows);
    add_mixed_plan(*data, static_cast<bool>(geometry.empty_window()));
    return data;
  }
  data->general = GeneralPlan::make(kind, choice, *rows);
  data->split = SplitPlan::make(kind, choice, *rows, data->general.get());
  if (data->general != nullptr && is_sum(*data) && is_real(*data))
    data->general_jvp =
        has_tangents_like_values(*rows) ? data->general : GeneralPlan::make(kind, choice, rows->of_tangents());
  if (is_extreme(*data)) {
    data->general_argmax = GeneralPlan::make_argmax(kind, choice, *rows);
    if (is_real(*data) && !shares_ties(choice)) {
      data->argmax_jvp = ArgmaxPlan::make(kind, choice, *rows, MapKind::jvp);
      data->argmax_vjp = ArgmaxPlan::make(kind, choice, *rows, MapKind::vjp);
    }
    if (is_real(*data) && shares_ties(choice)) add_tie_plans(*data, *rows);
  }
  if (is_sum(*data) && is_real(*data))
    data->general_vjp = GeneralPlan::make(kind, choice, *rows, general::Direction::transposed);
  add_index_layout(*data, *rows);
  data->rows = std::move(rows);
  if (is_analytic(choice.combine)) {
    add_analytic_plans(*data);
    return data;
  }
  rows = std::make_unique<Rows>(*data->rows);
  data->rows_fit = fit_rows(kind, choice, geometry, *rows);
  data->rows = std::move(rows);
  if (data->rows_fit) {
    if (const PackedPlanes packed = make_packed_planes(*data->rows, traits_of(kind).size); packed.planes > 0)
      data->packed = std::make_unique<const PackedPlanes>(packed);
    data->values_tile = values_tiling(*data->rows, data->packed.get()).tile;
    data->values_bytes = values_bytes(*data->rows, data->packed.get());
  }
  if (accepts_winner_derivatives(*data) && TapPlanes::fit(*data->rows))
    data->plane = TapPlanes::make_layout(*data->rows, traits_of(kind).is_short);
  return data;
}

// ---- values by the row kernels
bool accepts_rows(const PlanData& plan) { return plan.rows_fit; }
Needs needs_of_rows(const PlanData& plan) {
  const Index parts = outputs_per_part(*plan.rows, plan.packed.get());
  const Tiling tiling{plan.rows->row_count, plan.values_tile};
  const Index outputs = plan.rows->horizontal.window.output;
  return {plan.values_bytes, parts == outputs ? tiling.tiles() : tiling.rows * ((outputs + parts - 1) / parts)};
}
bool run_rows(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return run_values(plan.kind, *plan.rows, plan.choice, plan.packed.get(), {plan.rows->row_count, plan.values_tile},
                    plan.values_bytes, arrays.in, arrays.out, watch);
}

// ---- max and min by their winners
bool accepts_winners(const PlanData& plan) {
  return plan.rows_fit && is_extreme(plan) && plan.rows->tap_count <= most_winner_taps(plan.kind) &&
         winners_bytes(*plan.rows) + wide_bytes(plan.kind, *plan.rows) <= most_scratch;
}
bool accepts_winner_derivatives(const PlanData& plan) {
  return is_real(plan) && !traits_of(plan.kind).is_short && !shares_ties(plan.choice) && accepts_winners(plan);
}
namespace {
/// `unit` is what run_map is given; short floats are tiles of whole planes.
Index tiles_of_map(const PlanData& plan, Index unit) {
  return tiling_of(*plan.rows, traits_of(plan.kind).is_short ? plan.rows->rows_per_plane : unit).tiles();
}
/// Taps of a plane, and what their use needs; winners are found before.
std::size_t scratch_of_taps(const PlanData& plan) {
  if (plan.plane == nullptr) return 0;
  return TapPlanes::bytes(*plan.rows) +
         indices::scratch_bytes(*plan.plane, indices::IndexMap::add, wide_kind(plan.kind));
}
}  // namespace
Needs needs_of_winners(const PlanData& plan) {
  return {winners_bytes(*plan.rows) + wide_bytes(plan.kind, *plan.rows), tiles_of_map(plan, 1)};
}
Needs needs_of_winner_vjp(const PlanData& plan) {
  return {needs_of_winners(plan).scratch_bytes + scratch_of_taps(plan), tiles_of_map(plan, plan.rows->rows_per_plane)};
}
namespace {
bool run_extremes(const PlanData& plan, WinnerUse use, const MapArrays& arrays, const ProgressCallback& watch) {
  const ScalarKind wide = wide_kind(plan.kind);
  const TangentKernel kernel = kernels().winners->of[static_cast<int>(wide)][static_cast<int>(plan.choice.combine)];
  const Roles of_indices{.in = Role::read,
                         .out = Role::written,
                         .tangent_out = Role::other,
                         .other_size = static_cast<std::size_t>(index_size(arrays.index_kind))};
  const Roles roles = use == WinnerUse::indices ? of_indices : use == WinnerUse::jvp ? of_jvp : of_vjp;
  const bool by_taps = use == WinnerUse::vjp && plan.plane != nullptr;
  return run_map(
      *plan.rows, plan.kind, traits_of(plan.kind).is_short, use == WinnerUse::vjp ? plan.rows->rows_per_plane : 1,
      winners_bytes(*plan.rows) + (by_taps ? scratch_of_taps(plan) : 0), watch,
      {arrays.in, arrays.out, arrays.tangent_in, arrays.tangent_out}, roles,
      [&](const Rows& rows, const Arrays& a, Index begin, Index end, void* scratch) {
        if (by_taps)
          return TapPlanes(rows, *plan.plane, plan.choice, wide, traits_of(wide).size)(a, begin, end, scratch);
        kernel(
            {rows, plan.choice, use, arrays.index_kind, a.in, a.out, a.tangent_in, a.tangent_out, begin, end, scratch});
      });
}
}  // namespace
bool run_winner_indices(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return run_extremes(plan, WinnerUse::indices, arrays, watch);
}
bool run_winner_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return run_extremes(plan, WinnerUse::jvp, arrays, watch);
}
bool run_winner_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return run_extremes(plan, WinnerUse::vjp, arrays, watch);
}

// ---- derivatives of sums and averages: linear maps are their own derivative
bool accepts_rows_jvp(const PlanData& plan) { return accepts_rows(plan) && is_sum(plan) && is_real(plan); }
bool accepts_disjoint(const PlanData& plan) {
  return accepts_rows_jvp(plan) && !traits_of(plan.kind).is_short &&
         windows_are_separate(plan.rows->with_whole_axes_merged()) &&
         needs_of_disjoint(plan).scratch_bytes <= most_scratch;
}
Needs needs_of_disjoint(const PlanData& plan) {
  const Rows rows = plan.rows->with_whole_axes_merged();
  return {spread_rows(rows).bytes(), tiling_of(rows, 1).tiles()};
}
bool run_disjoint(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  const TangentKernel kernel = kernels().spread->of[static_cast<int>(plan.kind)];
  const Rows rows = plan.rows->with_whole_axes_merged();
  return run_tiles(tiling_of(rows, 1), spread_rows(rows).bytes(), watch, [&](Index begin, Index end, void* scratch) {
    kernel({rows, plan.choice, WinnerUse::vjp, IndexKind::flat, arrays.in, nullptr, arrays.tangent_in,
            arrays.tangent_out, begin, end, scratch});
  });
}

// ---- the general engine
namespace {
Needs needs_of(const GeneralPlan& plan) { return {plan.scratch_bytes(), plan.layout().tile_count}; }
}  // namespace
bool accepts_split(const PlanData& plan) { return plan.split != nullptr; }
Needs needs_of_split(const PlanData& plan) { return {plan.split->scratch_bytes(), plan.split->tile_count()}; }
bool run_split(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.split->run(arrays.in, arrays.out, watch);
}

bool accepts_general(const PlanData& plan) { return plan.general != nullptr; }
Needs needs_of_general(const PlanData& plan) { return needs_of(*plan.general); }
bool run_general(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.general->run(arrays.in, arrays.out, watch);
}
bool accepts_general_argmax(const PlanData& plan) { return plan.general_argmax != nullptr; }
Needs needs_of_general_argmax(const PlanData& plan) { return needs_of(*plan.general_argmax); }
bool run_general_argmax(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.general_argmax->run_argmax(arrays.in, arrays.out, arrays.tangent_out, arrays.index_kind, watch);
}
bool accepts_argmax_jvp(const PlanData& plan) { return plan.argmax_jvp != nullptr; }
bool accepts_argmax_vjp(const PlanData& plan) { return plan.argmax_vjp != nullptr; }
Needs needs_of_argmax_jvp(const PlanData& plan) {
  return {plan.argmax_jvp->scratch_bytes(), plan.argmax_jvp->tile_count()};
}
Needs needs_of_argmax_vjp(const PlanData& plan) {
  return {plan.argmax_vjp->scratch_bytes(), plan.argmax_vjp->tile_count()};
}
bool run_argmax_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.argmax_jvp->run(arrays, watch);
}
bool run_argmax_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.argmax_vjp->run(arrays, watch);
}
bool accepts_general_jvp(const PlanData& plan) { return plan.general_jvp != nullptr; }
Needs needs_of_general_jvp(const PlanData& plan) { return needs_of(*plan.general_jvp); }
bool run_general_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.general_jvp->run(arrays.tangent_in, arrays.tangent_out, watch);
}

bool accepts_general_vjp(const PlanData& plan) { return plan.general_vjp != nullptr; }
Needs needs_of_general_vjp(const PlanData& plan) { return needs_of(*plan.general_vjp); }
bool run_general_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.general_vjp->run(arrays.tangent_out, arrays.tangent_in, watch);
}

}  // namespace ndpool
