// A plan chooses kernels, and runs them tile by tile.
#include "float_planes.hpp"
#include "kernels/analytic.hpp"
#include "kernels/divisors.hpp"
#include "kernels/large.hpp"
#include "kernels/scratch.hpp"
#include "kernels/separate.hpp"
#include "kernels/table.hpp"
#include "plan/general_plan.hpp"
#include "rows.hpp"
#include "tap_planes.hpp"
#include "tiles.hpp"

#include <ndpool/kernel_plan.hpp>
#include <ndpool/part.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
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
  const std::size_t bytes = fold_scratch_bytes(rows) + large_scratch_bytes(rows);
  return packed == nullptr ? bytes : std::max(bytes, packed->bytes + fold_scratch_bytes(packed->rows));
}

/// The VJP of a sum or average as a pool of gradients, where it is one. It divides at the end, other ways divide each
/// gradient: which of them an average takes must not depend on whether a part of an array has the edges of the whole.
struct TransposedSum {
  TransposedSum(ScalarKind kind, const KernelChoice& of_choice, const Rows& of_rows) : choice(of_choice) {
    if (choice.averages && choice.average.divisor == AverageOptions::no_divisor) {
      if (!choice.average.count_include_pad || !has_one_divisor(of_rows, choice.average)) return;
      choice.average.divisor = of_rows.tap_count;
    }
    exists = of_rows.transpose(rows) && is_modest(row_pixels(rows), rows.inner.extent) &&
             fold_scratch_bytes(rows) <= most_scratch;
    if (exists) packed = make_packed_planes(rows, traits_of(kind).size);
  }
  const PackedPlanes* packed_planes() const { return packed.planes > 0 ? &packed : nullptr; }
  std::size_t bytes() const { return exists ? values_bytes(rows, packed_planes()) : 0; }

  bool exists = false;
  KernelChoice choice;
  Rows rows;
  PackedPlanes packed;
};

/// Derivatives go to all taps that tie, not to a winner.
bool shares_ties(const KernelChoice& choice) { return choice.ties == Ties::all || choice.ties == Ties::split; }

/// Tap numbers have the size of the elements, and a table of them must stay small.
Index most_winner_taps(ScalarKind kind) { return traits_of(kind).size == 1 ? 0xFF : 0xFFFF; }

/// Runs `kernel(rows, arrays, begin, end, scratch)` on all rows: on `unit` rows at least, or on planes of short floats
/// as floats.
template <class RunKernel>
bool run_map(const Rows& rows, ScalarKind kind, bool as_floats, Index unit, std::size_t scratch, const Watch& watch,
             const Arrays& arrays, const Roles& roles, const RunKernel& kernel, Index tile_scale = 1) {
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

/// Of smooth max or Lp.
const AnalyticPair& analytic_kernels(ScalarKind kind, const KernelChoice& choice) {
  const AnalyticFamilies& families = kernels().analytic->of[static_cast<int>(wide_kind(kind))];
  if (choice.combine == Combine::smooth_max) return families.smooth_max;
  return std::isinf(choice.parameter) ? families.largest_magnitude : families.lp;
}

/// Tiles of values: whole groups of planes where these are packed.
Tiling values_tiling(const Rows& rows, const PackedPlanes* packed) {
  return tiling_of(rows, packed == nullptr ? 1 : packed->planes * rows.rows_per_plane);
}

/// Outputs of a row that are made at a time: all, unless there are so few rows that threads would be left without work.
Index outputs_per_part(const Rows& rows, const PackedPlanes* packed) {
  constexpr Index enough_rows = 8, unit = 64;
  const Axis& axis = rows.horizontal.window;
  if (packed != nullptr || rows.row_count >= enough_rows || !has_free_parts(axis)) return axis.output;
  const double row_bytes = 4.0 * static_cast<double>(axis.input) * static_cast<double>(rows.inner.extent);
  const auto parts = static_cast<Index>(row_bytes / tile_bytes(row_bytes * static_cast<double>(rows.row_count)));
  const Index outputs = parts > 1 ? (axis.output / parts + unit) / unit * unit : axis.output;
  // A part begins at a window that begins before the end of the input; all but the last of some odd geometries do.
  return (axis.output - 1) / outputs * outputs < part_begins(axis) ? outputs : axis.output;
}

bool run_values(ScalarKind kind, const Rows& rows, const KernelChoice& choice, const PackedPlanes* packed,
                const Tiling& tiling, std::size_t bytes, const void* in, void* out, const Watch& watch) {
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
/// The same for rows that are not those of the plan.
bool run_values(ScalarKind kind, const Rows& rows, const KernelChoice& choice, const PackedPlanes* packed,
                const void* in, void* out, const Watch& watch) {
  return run_values(kind, rows, choice, packed, values_tiling(rows, packed), values_bytes(rows, packed), in, out,
                    watch);
}

/// What a map needs beyond its own scratch.
std::size_t wide_bytes(ScalarKind kind, const Rows& rows) {
  return traits_of(kind).is_short ? FloatPlanes::bytes(rows) : 0;
}

}  // namespace

KernelPlan::KernelPlan(ScalarKind kind, const KernelChoice& choice, std::unique_ptr<const Rows> rows)
    : kind_(kind), choice_(choice), rows_(std::move(rows)) {}
KernelPlan::~KernelPlan() = default;

namespace {

/// True if the row kernels can run this pool: they keep whole rows, whose sums must be exact, and have no identities for
/// windows without an input element.
bool rows_accept(ScalarKind kind, const KernelChoice& choice, const Geometry& geometry, Rows& rows) {
  if (kind >= ScalarKind::kind_u32 || geometry.empty_window()) return false;
  if (choice.combine == Combine::sum && !(sum_is_exact(kind, geometry.tap_count()) && divisor_fits(choice.average)))
    return false;
  if (choice.combine == Combine::sum && kind == ScalarKind::kind_i64) rows.accumulator_bytes = 16;
  const auto keeps_too_much = [&] {
    return !is_modest(row_pixels(rows), rows.inner.extent) || fold_scratch_bytes(rows) > most_scratch;
  };
  if (keeps_too_much()) rows = rows.with_rows_of_lanes(most_lanes);
  if (keeps_too_much() || is_mostly_padding(geometry)) return false;
  return !is_analytic(choice.combine) || analytic_scratch_bytes(rows) + wide_bytes(kind, rows) <= most_scratch;
}

bool is_forced(const char* name) {
  const char* forced = std::getenv("NDPOOL_FORCE_IMPLEMENTATION");
  return forced != nullptr && std::strcmp(forced, name) == 0;
}

}  // namespace

std::shared_ptr<const KernelPlan> KernelPlan::make(ScalarKind kind, const KernelChoice& choice,
                                                   const Geometry& geometry, const ArrayStrides& strides) {
  if (kind == ScalarKind::none || choice.combine == Combine::none) return nullptr;
  if (is_analytic(choice.combine) && !traits_of(kind).is_real) return nullptr;
  if (element_count(geometry.output_shape()) == 0) return nullptr;
  auto rows = std::make_unique<Rows>(make_rows(geometry, strides));
  std::unique_ptr<const GeneralPlan> general = is_analytic(choice.combine) || is_forced("rows") ? nullptr : GeneralPlan::make(kind, choice, *rows);
  const bool has_rows = rows_accept(kind, choice, geometry, *rows);
  if (!has_rows && general == nullptr) return nullptr;
  std::shared_ptr<KernelPlan> plan(new KernelPlan(kind, choice, std::move(rows)));
  if (general != nullptr && (!has_rows || is_forced("general"))) plan->general_ = std::move(general);
  plan->has_rows_ = has_rows;
  if (!has_rows || is_analytic(choice.combine)) return plan;
  if (const PackedPlanes packed = make_packed_planes(*plan->rows_, traits_of(kind).size); packed.planes > 0)
    plan->packed_ = std::make_unique<const PackedPlanes>(packed);
  plan->values_tile_ = values_tiling(*plan->rows_, plan->packed_.get()).tile;
  plan->values_bytes_ = values_bytes(*plan->rows_, plan->packed_.get());
  return plan;
}

std::size_t KernelPlan::scratch_bytes() const {
  if (!has_rows_) return general_->scratch_bytes();
  const std::size_t wide = wide_bytes(kind_, *rows_);
  if (is_analytic(choice_.combine)) return analytic_scratch_bytes(*rows_) + wide;
  std::size_t bytes = values_bytes_;
  if (choice_.combine == Combine::sum) {
    if (has_derivatives())
      bytes = std::max(
          {bytes, TransposedSum(kind_, choice_, *rows_).bytes(), spread_rows(rows_->with_whole_axes_merged()).bytes()});
    return bytes;
  }
  if (has_winners()) {
    const std::size_t taps = has_derivatives() && TapPlanes::fit(*rows_) ? TapPlanes::bytes(*rows_) : 0;
    bytes = std::max(bytes, winners_bytes(*rows_) + taps + wide);
  }
  if (has_derivatives() && shares_ties(choice_)) bytes = std::max(bytes, ties_bytes(*rows_) + wide);
  return bytes;
}

bool KernelPlan::run_analytic(WinnerUse use, const void* in, void* tangent_in, void* tangent_out,
                              const Watch& watch) const {
  const TangentKernel kernel = analytic_kernels(kind_, choice_).derivatives;
  const bool is_vjp = use == WinnerUse::vjp;
  return run_map(
      *rows_, kind_, traits_of(kind_).is_short, is_vjp ? rows_->rows_per_plane : 1, analytic_scratch_bytes(*rows_),
      watch, {in, nullptr, tangent_in, tangent_out}, is_vjp ? of_vjp : of_jvp,
      [&](const Rows& rows, const Arrays& a, Index begin, Index end, void* scratch) {
        kernel({rows, choice_, use, IndexKind::flat, a.in, nullptr, a.tangent_in, a.tangent_out, begin, end, scratch});
      });
}

bool KernelPlan::forward(const void* in, void* out, const Watch& watch) const {
  if (general_ != nullptr) return general_->run(in, out, watch);
  if (is_analytic(choice_.combine))
    return run_map(
        *rows_, kind_, traits_of(kind_).is_short, 1, analytic_scratch_bytes(*rows_), watch, {in, out, nullptr, nullptr},
        {.in = Role::read, .out = Role::written},
        [&](const Rows& rows, const Arrays& a, Index begin, Index end, void* scratch) {
          analytic_kernels(kind_, choice_).values({rows, choice_, a.in, a.out, begin, end, scratch, nullptr});
        });
  return run_values(kind_, *rows_, choice_, packed_.get(), {rows_->row_count, values_tile_}, values_bytes_, in, out,
                    watch);
}

bool KernelPlan::fits(IndexKind kind) const {
  switch (kind) {
    case IndexKind::u8: return rows_->tap_count <= 0xFF;
    case IndexKind::u16: return rows_->tap_count <= 0xFFFF;
    case IndexKind::u32: return rows_->tap_count <= 0xFFFFFFFF;
    case IndexKind::flat: return true;
  }
  return false;
}

bool KernelPlan::has_winners() const {
  return has_rows_ && static_cast<int>(choice_.combine) < static_cast<int>(Combine::sum) &&
         rows_->tap_count <= most_winner_taps(kind_) &&
         winners_bytes(*rows_) + wide_bytes(kind_, *rows_) <= most_scratch;
}

bool KernelPlan::has_derivatives() const {
  if (!has_rows_) return false;
  if (is_analytic(choice_.combine)) return analytic_kernels(kind_, choice_).derivatives != nullptr;
  if (!traits_of(kind_).is_real) return false;
  if (choice_.combine == Combine::sum) return spread_rows(rows_->with_whole_axes_merged()).bytes() <= most_scratch;
  return shares_ties(choice_) ? ties_bytes(*rows_) + wide_bytes(kind_, *rows_) <= most_scratch : has_winners();
}

bool KernelPlan::run_winners(WinnerUse use, IndexKind kind, const void* in, void* out, void* tangent_in,
                             void* tangent_out, const Watch& watch) const {
  const bool by_ties = use != WinnerUse::indices && shares_ties(choice_);
  const WinnerKernels& family = by_ties ? *kernels().ties : *kernels().winners;
  const TangentKernel kernel = family.of[static_cast<int>(wide_kind(kind_))][static_cast<int>(choice_.combine)];
  const Roles of_indices{
      .in = Role::read, .out = Role::written, .tangent_out = Role::other, .other_size = index_size(kind)};
  const Roles roles = use == WinnerUse::indices ? of_indices : use == WinnerUse::jvp ? of_jvp : of_vjp;
  const bool by_taps = use == WinnerUse::vjp && !by_ties && TapPlanes::fit(*rows_);
  const std::size_t scratch_bytes = by_ties ? ties_bytes(*rows_) : winners_bytes(*rows_);
  return run_map(*rows_, kind_, traits_of(kind_).is_short, use == WinnerUse::vjp ? rows_->rows_per_plane : 1,
                 scratch_bytes + (by_taps ? TapPlanes::bytes(*rows_) : 0), watch, {in, out, tangent_in, tangent_out},
                 roles, [&](const Rows& rows, const Arrays& a, Index begin, Index end, void* scratch) {
                   if (by_taps)
                     return TapPlanes(rows, choice_, wide_kind(kind_), traits_of(wide_kind(kind_)).size)(a, begin, end,
                                                                                                         scratch);
                   kernel({rows, choice_, use, kind, a.in, a.out, a.tangent_in, a.tangent_out, begin, end, scratch});
                 });
}

bool KernelPlan::forward_with_indices(const void* in, void* out, void* indices, IndexKind kind,
                                      const Watch& watch) const {
  return run_winners(WinnerUse::indices, kind, in, out, nullptr, indices, watch);
}

bool KernelPlan::jvp(const void* in, const void* tangent_in, void* tangent_out, const Watch& watch) const {
  if (is_analytic(choice_.combine))
    return run_analytic(WinnerUse::jvp, in, const_cast<void*>(tangent_in), tangent_out, watch);
  if (choice_.combine != Combine::sum)
    return run_winners(WinnerUse::jvp, IndexKind::flat, in, nullptr, const_cast<void*>(tangent_in), tangent_out, watch);
  // A linear map is its own derivative: the same rows, with the tangents in place of the values.
  const Rows tangents = rows_->of_tangents();
  const PackedPlanes packed = make_packed_planes(tangents, traits_of(kind_).size);
  return run_values(kind_, tangents, choice_, packed.planes > 0 ? &packed : nullptr, tangent_in, tangent_out, watch);
}

bool KernelPlan::vjp(const void* in, const void* tangent_out, void* tangent_in, const Watch& watch) const {
  if (is_analytic(choice_.combine))
    return run_analytic(WinnerUse::vjp, in, tangent_in, const_cast<void*>(tangent_out), watch);
  if (choice_.combine != Combine::sum)
    return run_winners(WinnerUse::vjp, IndexKind::flat, in, nullptr, tangent_in, const_cast<void*>(tangent_out), watch);
  if (const TransposedSum sum(kind_, choice_, *rows_); sum.exists)
    return run_values(kind_, sum.rows, sum.choice, sum.packed_planes(), tangent_out, tangent_in, watch);
  const TangentKernel kernel = kernels().spread->of[static_cast<int>(kind_)];
  const Rows rows = rows_->with_whole_axes_merged();
  const bool by_outputs = !traits_of(kind_).is_short && windows_are_separate(rows);
  const Tiling tiling = by_outputs ? tiling_of(rows, 1) : input_tiling_of(rows);
  return run_tiles(tiling, spread_rows(rows).bytes(), watch, [&](Index begin, Index end, void* scratch) {
    kernel({rows, choice_, WinnerUse::vjp, IndexKind::flat, in, nullptr, tangent_in, const_cast<void*>(tangent_out),
            begin, end, scratch});
  });
}

std::shared_ptr<const KernelPlan> KernelPlan::make_for_indices(ScalarKind kind, const Geometry& geometry,
                                                               const ArrayStrides& strides) {
  if (kind == ScalarKind::none || geometry.empty_window() || element_count(geometry.output_shape()) == 0)
    return nullptr;
  auto rows = std::make_unique<const Rows>(make_rows(geometry, strides));
  if (index_scratch_bytes(*rows) + wide_bytes(kind, *rows) > most_scratch) return nullptr;
  return std::shared_ptr<const KernelPlan>(new KernelPlan(kind, {}, std::move(rows)));
}

bool KernelPlan::run_indices(IndexUse use, IndexKind kind, const void* indices, void* like_in, void* like_out,
                             const Watch& watch) const {
  // Gradients of short floats are summed as floats; all else only moves elements.
  const bool as_floats = use == IndexUse::vjp && traits_of(kind_).is_short;
  const IndexKernel kernel = kernels().indices->of[static_cast<int>(as_floats ? wide_kind(kind_) : kind_)];
  const bool by_rows = use == IndexUse::check || use == IndexUse::jvp;
  std::atomic<bool> fine = true;
  const std::size_t bytes =
      use == IndexUse::place_vjp ? static_cast<std::size_t>(plane_cells(*rows_)) : index_scratch_bytes(*rows_);
  const bool finished = run_map(
      *rows_, kind_, as_floats, by_rows ? 1 : rows_->rows_per_plane, bytes, watch,
      {nullptr, const_cast<void*>(indices), like_in, like_out},
      {.out = Role::other, .tangent_in = Role::written, .tangent_out = Role::read, .other_size = index_size(kind)},
      [&](const Rows& rows, const Arrays& a, Index begin, Index end, void* scratch) {
        if (!kernel({rows, use, kind, a.out, a.tangent_in, a.tangent_out, begin, end, scratch})) fine = false;
      },
      4);  // the kernels prepare more than others do
  return finished && fine;
}

bool KernelPlan::check_indices(const void* indices, IndexKind kind) const {
  return run_indices(IndexUse::check, kind, indices, nullptr, nullptr, {});
}

bool KernelPlan::jvp_from_indices(const void* indices, IndexKind kind, const void* tangent_in, void* tangent_out,
                                  const Watch& watch) const {
  return run_indices(IndexUse::jvp, kind, indices, const_cast<void*>(tangent_in), tangent_out, watch);
}

bool KernelPlan::vjp_from_indices(const void* indices, IndexKind kind, const void* tangent_out, void* tangent_in,
                                  const Watch& watch) const {
  return run_indices(IndexUse::vjp, kind, indices, tangent_in, const_cast<void*>(tangent_out), watch);
}

bool KernelPlan::place(const void* indices, const void* values, void* cells, const Watch& watch) const {
  return run_indices(IndexUse::place, IndexKind::flat, indices, cells, const_cast<void*>(values), watch);
}

bool KernelPlan::place_vjp(const void* indices, const void* cells, void* values, const Watch& watch) const {
  return run_indices(IndexUse::place_vjp, IndexKind::flat, indices, const_cast<void*>(cells), values, watch);
}

}  // namespace ndpool
