// Cuts arrays into slices, and prepares one slice of each kind.
#include "plan/sliced_plan.hpp"

#include "plan/map_runs.hpp"

#include <ndpool/part.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace ndpool {

using analytic::CopyAxis;
using analytic::CopyLayout;
using analytic::Slice;
using analytic::SliceArray;
using analytic::SliceMap;

class SlicedPlanMaker {
 public:
  SlicedPlanMaker(ScalarKind kind, const KernelChoice& choice, const Rows& rows, SliceMap map)
      : kind_(kind), choice_(choice), rows_(rows), is_vjp_(map == SliceMap::vjp) {
    plan_->choice_ = choice;
    plan_->map_ = map;
    plan_->kind_ = kind;
    plan_->types_ = analytic::slice_types_of(kind, choice);
    is_magnitude_ = choice.combine == Combine::lp && std::isinf(choice.parameter);
    const bool is_double = is_magnitude_ ? kind == ScalarKind::kind_f64 : plan_->types_ != analytic::SliceTypes::floats;
    sums_ = is_double ? ScalarKind::kind_f64 : ScalarKind::kind_f32;
    sum_choice_.combine = Combine::sum;
  }
  /// Of a pool whose result has another type than the input.
  SlicedPlanMaker(ScalarKind kind, ScalarKind result, mixed::WorkKind work, bool folds_input,
                  const KernelChoice& choice, const Rows& rows)
      : kind_(kind), choice_(choice), rows_(rows), is_vjp_(false), sum_choice_(choice) {
    constexpr ScalarKind kinds[] = {ScalarKind::kind_f32, ScalarKind::kind_f64, ScalarKind::kind_i64,
                                    ScalarKind::kind_u64};
    sums_ = kinds[static_cast<int>(work)];
    plan_->folds_input_ = folds_input;
    if (folds_input) sums_ = kind;
    plan_->choice_ = choice;
    plan_->kind_ = kind;
    plan_->result_ = result;
    plan_->work_ = work;
    plan_->use_ = SlicedPlan::Use::mixed;
  }
  static SlicedPlanMaker of_ties(ScalarKind kind, const KernelChoice& choice, const Rows& rows, SliceMap map) {
    SlicedPlanMaker maker(kind, choice, rows, map);
    maker.plan_->use_ = SlicedPlan::Use::ties;
    maker.is_magnitude_ = false;
    maker.sums_ = kind == ScalarKind::kind_f64 ? ScalarKind::kind_f64 : ScalarKind::kind_f32;
    return maker;
  }

  std::unique_ptr<const SlicedPlan> make() {
    list_axes();
    choose_chunks();
    if (elements() > max_elements) return nullptr;
    for (std::size_t a = 0; a < axes_.size(); ++a) cut(a);
    Index kinds = 1;
    for (const SlicedPlan::Cut& cut : plan_->cuts_) {
      kinds *= cut.kinds;
      plan_->slice_count_ *= cut.count;
    }
    for (Index kind = 0; kind < kinds; ++kind) {
      auto slice = make_slice(kind);
      if (slice == nullptr) return nullptr;
      plan_->box_bytes_ = std::max(plan_->box_bytes_, box_bytes(*slice));
      for (const auto& sums : {slice->sums, slice->transposed_sums})
        if (sums != nullptr) plan_->engine_bytes_ = std::max(plan_->engine_bytes_, sums->scratch_bytes());
      plan_->slices_.push_back(std::move(slice));
    }
    return std::move(plan_);
  }

 private:
  /// One axis of the arrays, in the order of loops, pooled axes and lanes.
  struct Dimension {
    Index extent = 1;  ///< of axes that are only looped over
    bool is_pooled = false, is_lanes = false;
    Axis window;
    Strides stride;
    Index chunk = 1;          ///< outputs of a piece
    std::vector<Axis> kinds;  ///< of pooled axes: the windows of each kind of piece
    std::vector<SlicedPlan::Piece> of_kind;
    Index outputs() const { return is_pooled ? window.output : extent; }
  };
  static constexpr double max_elements = double{1 << 28};
  double budget() const {
    // Derivatives of p = infinity are made on all threads, slice by slice.
    if (is_magnitude_ && plan_->map_ != SliceMap::forward) return 1 << 20;
    constexpr double cache = 192 << 10;
    if (plan_->use_ == SlicedPlan::Use::ties) return cache / static_cast<double>(size_of(sums_)) / 4;
    return cache / static_cast<double>(size_of(sums_)) / (plan_->map_ == SliceMap::forward ? 1 : 2);
  }

  std::size_t box_bytes(const Slice& slice) const {
    return plan_->use_ == SlicedPlan::Use::ties ? ties::slice_bytes(slice) : analytic::slice_bytes(slice, plan_->map_);
  }

  void list_axes() {
    const auto loop = [&](const LoopAxis& axis, bool is_lanes) {
      Dimension dimension;
      dimension.extent = dimension.chunk = axis.extent;
      dimension.stride = axis.stride;
      dimension.is_lanes = is_lanes;
      axes_.push_back(dimension);
    };
    const auto pooled = [&](const PooledAxis& axis) {
      Dimension dimension;
      dimension.is_pooled = true;
      dimension.window = axis.window;
      dimension.stride = axis.stride;
      dimension.chunk = axis.window.output;
      axes_.push_back(dimension);
    };
    for (int i = 0; i < rows_.loop_count; ++i) loop(rows_.loops[i], false);
    for (int v = 0; v < rows_.vertical_count; ++v) pooled(rows_.vertical[v]);
    pooled(rows_.horizontal);
    if (rows_.inner.extent > 1) loop(rows_.inner, true);
  }

  // ---- how large pieces are

  double cells_under(const Dimension& axis, Index outputs) const {
    if (!axis.is_pooled) return static_cast<double>(outputs);
    const double whole = static_cast<double>(axis.window.input);
    if (outputs >= axis.window.output) return whole;
    if (axis.window.adaptive) return whole * static_cast<double>(outputs) / static_cast<double>(axis.window.output);
    return std::min(
        whole, static_cast<double>(outputs) * static_cast<double>(axis.window.stride) + (is_vjp_ ? 2 : 1) * halo(axis));
  }
  static double halo(const Dimension& axis) {
    return std::max(0.0, static_cast<double>(axis.window.kernel - 1) * static_cast<double>(axis.window.dilation) + 1 -
                             static_cast<double>(axis.window.stride));
  }
  /// Cells and outputs of a slice.
  double elements() const {
    double cells = 1, outputs = 1;
    for (const Dimension& axis : axes_) {
      cells *= cells_under(axis, axis.chunk);
      outputs *= static_cast<double>(axis.chunk);
    }
    return cells + outputs;
  }
  void choose_chunks() {
    for (Dimension& axis : axes_)
      if (!axis.is_pooled && !axis.is_lanes) shrink(axis, 1, 1);
    constexpr Index min_lanes = 64;
    if (axes_.back().is_lanes) shrink(axes_.back(), min_lanes, 16);
    for (Dimension& axis : axes_)
      if (axis.is_pooled) shrink(axis, min_outputs(axis), unit_of(axis));
  }
  /// The largest chunk of an axis with which slices fit, a multiple of `unit` of at least `least`.
  void shrink(Dimension& axis, Index least, Index unit) const {
    if (elements() <= budget() || axis.chunk <= least) return;
    const Index all = axis.chunk;
    const auto fits = [&](Index chunk) {
      axis.chunk = chunk;
      return elements() <= budget();
    };
    least = (least + unit - 1) / unit;
    Index low = least, high = all / unit;  // in units
    if (high <= low) {
      axis.chunk = all;
      return;
    }
    while (low < high) {
      const Index middle = low + (high - low + 1) / 2;
      if (fits(middle * unit))
        low = middle;
      else
        high = middle - 1;
    }
    // Pieces of nearly equal length.
    const Index pieces = (all + low * unit - 1) / (low * unit), even = ((all + pieces - 1) / pieces + unit - 1) / unit;
    axis.chunk = std::min(all, std::max(even, least) * unit);
  }
  /// Powers under two pieces are made twice, so these should be few.
  Index min_outputs(const Dimension& axis) const {
    if (axis.window.adaptive || axis.window.output == 1) return 1;
    const double twice = (is_vjp_ ? 4 : 2) * halo(axis) / static_cast<double>(axis.window.stride);
    return static_cast<Index>(std::min(twice + 1, static_cast<double>(axis.window.output)));
  }
  /// Bins can be cut where their pattern begins again; in a part that begins elsewhere, neighbours would share cells.
  static Index unit_of(const Dimension& axis) {
    if (!axis.window.adaptive) return 1;
    if (axis.window.pattern.bins > 0) return axis.window.output;
    return axis.window.output / detail::common_divisor(axis.window.input, axis.window.output);
  }

  // ---- pieces

  void cut(std::size_t a) {
    Dimension& axis = axes_[a];
    SlicedPlan::Cut cut;
    cut.stride = axis.stride;
    if (axis.is_pooled) {
      add_pieces(axis, cut);
    } else {
      cut.extent = axis.extent;
      cut.chunk = axis.chunk;
      cut.count = (axis.extent + axis.chunk - 1) / axis.chunk;
      cut.kinds = axis.extent % axis.chunk == 0 ? 1 : 2;
    }
    plan_->cuts_.push_back(std::move(cut));
  }
  void add_pieces(Dimension& axis, SlicedPlan::Cut& cut) {
    const Index outputs = axis.window.output, begins = axis.chunk < outputs ? part_begins(axis.window) : outputs;
    for (Index begin = 0, end = 0; begin < outputs; begin = end) {
      end = begin + axis.chunk < begins ? begin + axis.chunk : outputs;
      Axis window;
      SlicedPlan::Piece piece = begin == 0 && end == outputs ? whole_of(axis, window)
                                : axis.window.adaptive       ? bins_of(axis, {begin, end}, window)
                                : is_vjp_                    ? owner_of(axis, {begin, end}, window)
                                                             : part_under(axis, {begin, end}, window);
      piece.kind = kind_of(axis, piece, window);
      cut.pieces.push_back(piece);
    }
    cut.count = static_cast<Index>(cut.pieces.size());
    cut.kinds = static_cast<Index>(axis.kinds.size());
  }
  static SlicedPlan::Piece whole_of(const Dimension& axis, Axis& window) {
    window = axis.window;
    return {{0, window.input}, {0, window.output}, {0, window.input}, 0};
  }
  static SlicedPlan::Piece bins_of(const Dimension& axis, Range outputs, Axis& window) {
    const Index unit = unit_of(axis), cells = axis.window.input / (axis.window.output / unit);
    window = axis.window;
    window.output = outputs.end - outputs.begin;
    window.input = window.output / unit * cells;
    const Range under{outputs.begin / unit * cells, outputs.end / unit * cells};
    return {under, outputs, under, 0};
  }
  static SlicedPlan::Piece part_under(const Dimension& axis, Range outputs, Axis& window) {
    const AxisPart part = part_of(axis.window, outputs);
    window = part.axis;
    return {part.cells, outputs, part.cells, 0};
  }
  /// The cells from the first one under an output to that of the next piece, with all outputs that see them.
  static SlicedPlan::Piece owner_of(const Dimension& axis, Range outputs, Axis& window) {
    const Axis& whole = axis.window;
    const auto first_cell = [&](Index output) { return std::clamp<Index>(whole.start(output), 0, whole.input); };
    const Range owned{outputs.begin == 0 ? 0 : first_cell(outputs.begin),
                      outputs.end == whole.output ? whole.input : first_cell(outputs.end)};
    const Index before = (whole.kernel - 1) * whole.dilation / whole.stride;
    const Range seen{std::max<Index>(0, outputs.begin - before), outputs.end};
    const AxisPart part = part_of(whole, seen);
    Range cells{std::min(part.cells.begin, owned.begin), std::max(part.cells.end, owned.end)};
    if (seen.begin == 0) cells.begin = 0;
    window = part.axis;
    window.input = cells.end - cells.begin;
    window.lo = cells.begin - whole.start(seen.begin);
    return {cells, seen, owned, 0};
  }
  static Index kind_of(Dimension& axis, const SlicedPlan::Piece& piece, const Axis& window) {
    const auto length = [](const Range& range) { return range.end - range.begin; };
    for (std::size_t i = 0; i < axis.kinds.size(); ++i) {
      const Axis& known = axis.kinds[i];
      const SlicedPlan::Piece& other = axis.of_kind[i];
      // The end of the last piece may hang over; the others see no padding behind.
      if (known.input == window.input && known.output == window.output && known.lo == window.lo &&
          known.hi == window.hi && (piece.cells.end == axis.window.input) == (other.cells.end == axis.window.input) &&
          length(piece.owned) == length(other.owned) &&
          piece.owned.begin - piece.cells.begin == other.owned.begin - other.cells.begin)
        return static_cast<Index>(i);
    }
    axis.kinds.push_back(window);
    axis.of_kind.push_back(piece);
    return static_cast<Index>(axis.kinds.size()) - 1;
  }

  // ---- a slice of one kind

  /// The extents of one axis in a slice.
  struct Extents {
    Index cells = 1, outputs = 1, owned = 1, owned_at = 0;
    const Axis* window = nullptr;
    Index packed_cells = 1, packed_outputs = 1;  ///< strides of the packed boxes
  };
  std::unique_ptr<const Slice> make_slice(Index kind) {
    std::vector<Extents> extents(axes_.size());
    for (std::size_t a = axes_.size(); a-- > 0;) {
      const Dimension& axis = axes_[a];
      const SlicedPlan::Cut& cut = plan_->cuts_[a];
      const auto which = static_cast<std::size_t>(kind % cut.kinds);
      kind /= cut.kinds;
      Extents& extent = extents[a];
      if (axis.is_pooled) {
        const SlicedPlan::Piece& piece = axis.of_kind[which];
        extent.window = &axis.kinds[which];
        extent.cells = piece.cells.end - piece.cells.begin;
        extent.outputs = piece.outputs.end - piece.outputs.begin;
        extent.owned = piece.owned.end - piece.owned.begin;
        extent.owned_at = piece.owned.begin - piece.cells.begin;
      } else {
        extent.cells = extent.outputs = extent.owned = which == 0 ? cut.chunk : cut.extent % cut.chunk;
      }
    }
    auto slice = std::make_unique<Slice>();
    for (std::size_t a = axes_.size(); a-- > 0;) {
      extents[a].packed_cells = slice->cells;
      extents[a].packed_outputs = slice->outputs;
      slice->cells *= extents[a].cells;
      slice->outputs *= extents[a].outputs;
    }
    const auto copy = [&](SliceArray which, Index Strides::*array, bool of_cells, bool of_owned) {
      slice->copies[static_cast<int>(which)] = copy_layout(extents, array, of_cells, of_owned);
    };
    copy(SliceArray::in, &Strides::in, true, false);
    copy(SliceArray::tangent_in, &Strides::tangent_in, true, false);
    copy(SliceArray::gradient_in, &Strides::tangent_in, true, true);
    copy(SliceArray::out, &Strides::out, false, false);
    copy(SliceArray::tangent_out, &Strides::tangent_out, false, false);
    if (plan_->folds_input_) slice->copies[static_cast<int>(SliceArray::tangent_out)] = packed_layout(slice->outputs);
    list_folds(*slice, extents);
    if (plan_->use_ == SlicedPlan::Use::analytic) count_taps(*slice, extents);
    return make_plans(*slice, extents) ? std::move(slice) : nullptr;
  }
  CopyLayout copy_layout(const std::vector<Extents>& extents, Index Strides::*array, bool of_cells,
                         bool of_owned) const {
    CopyLayout layout;
    bool is_all = true;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const Extents& extent = extents[a];
      const Index packed = of_cells ? extent.packed_cells : extent.packed_outputs;
      const Index count = of_owned ? extent.owned : of_cells ? extent.cells : extent.outputs;
      if (of_owned) {
        layout.packed_offset += extent.owned_at * packed;
        is_all = is_all && extent.owned == extent.cells;
      }
      layout.count *= count;
      if (count == 1) continue;
      const Index stride = axes_[a].stride.*array;
      if (!layout.axes.empty()) {
        CopyAxis& before = layout.axes.back();
        if (before.stride == stride * count && before.packed_stride == packed * count) {
          before = {before.extent * count, stride, packed};
          continue;
        }
      }
      layout.axes.push_back({count, stride, packed});
    }
    turn_to_nearest(layout.axes);
    layout.is_packed = is_all && (layout.axes.empty() || (layout.axes.size() == 1 && layout.axes[0].stride == 1));
    return layout;
  }

  static CopyLayout packed_layout(Index count) {
    CopyLayout layout;
    layout.count = count;
    if (count > 1) layout.axes.push_back({count, 1, 1});
    return layout;
  }
  /// Where runs are not contiguous in both the array and the box, the axis that is nearest to contiguous in the array
  /// comes before the last one.
  static void turn_to_nearest(std::vector<CopyAxis>& axes) {
    if (axes.size() < 2 || (axes.back().stride == 1 && axes.back().packed_stride == 1)) return;
    std::size_t nearest = 0;
    for (std::size_t a = 0; a + 1 < axes.size(); ++a)
      if (std::abs(axes[a].stride) < std::abs(axes[nearest].stride)) nearest = a;
    std::swap(axes[nearest], axes[axes.size() - 2]);
  }

  void list_folds(Slice& slice, const std::vector<Extents>& extents) const {
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (!axes_[a].is_pooled) continue;
      analytic::SliceAxis axis;
      axis.windows = Windows::of(*extents[a].window);
      axis.transposed = Windows::transposed(*extents[a].window);
      axis.behind = extents[a].packed_cells;
      axis.transposed_behind = extents[a].packed_outputs;
      for (std::size_t b = 0; b < a; ++b) {
        axis.before *= extents[b].outputs;
        axis.transposed_before *= extents[b].cells;
      }
      slice.axes.push_back(axis);
    }
  }

  /// Padding that counts, and windows of a single tap.
  void count_taps(Slice& slice, const std::vector<Extents>& extents) const {
    double across = 1, along = 1, least = 1;
    bool is_padded = false;
    const bool adds_zeros = choice_.combine == Combine::smooth_max && choice_.pad_mode == PadMode::zero;
    for (const Extents& extent : extents) {
      if (extent.window == nullptr) continue;
      const Axis& window = *extent.window;
      across *= static_cast<double>(window.kernel);
      along *= static_cast<double>(Windows::transposed(window).max_taps());
      const Range full = window.adaptive ? Range{0, window.output} : window.full_outputs();
      Index fewest = window.adaptive ? window.bins().cells / window.bins().bins : window.kernel;
      for (Index o = 0; o < window.output; ++o) {
        if (!window.adaptive && o == full.begin && full.end > full.begin) o = full.end;
        if (o >= window.output || window.adaptive) break;
        const Taps taps = window.taps(o);
        is_padded = is_padded || (adds_zeros && taps.padded > 0);
        fewest = std::min(fewest, taps.count + (adds_zeros ? taps.padded : 0));
      }
      least *= static_cast<double>(std::max<Index>(fewest, 0));
    }
    slice.taps = std::max({across, along, 1.0});
    if (choice_.combine != Combine::smooth_max) return;
    const bool has_single = least <= 1 && plan_->map_ == SliceMap::forward;
    if (!is_padded && !has_single) return;
    if (is_padded) slice.zeros.resize(static_cast<std::size_t>(slice.outputs));
    if (has_single) slice.single.resize(static_cast<std::size_t>(slice.outputs), -1);
    Outputs outputs{slice, extents, adds_zeros};
    outputs.visit(0, 0, 1, 1, 0);
    if (std::all_of(slice.single.begin(), slice.single.end(), [](std::int32_t cell) { return cell < 0; }))
      slice.single.clear();
  }
  struct Outputs {
    Slice& slice;
    const std::vector<Extents>& extents;
    bool adds_zeros;
    void visit(std::size_t a, Index output, double real, double counted, Index cell) const {
      if (a == extents.size()) {
        const double zeros = adds_zeros ? counted - real : 0;
        if (!slice.zeros.empty()) slice.zeros[static_cast<std::size_t>(output)] = zeros;
        if (!slice.single.empty() && real == 1 && zeros == 0)
          slice.single[static_cast<std::size_t>(output)] = static_cast<std::int32_t>(cell);
        return;
      }
      const Extents& extent = extents[a];
      for (Index o = 0; o < extent.outputs; ++o) {
        const Taps taps = extent.window == nullptr ? Taps{o, 1, 1, 0, 1, 0} : extent.window->taps(o);
        visit(a + 1, output + o * extent.packed_outputs, real * static_cast<double>(taps.count),
              counted * static_cast<double>(taps.count + taps.padded), cell + taps.first * extent.packed_cells);
      }
    }
  };

  bool make_plans(Slice& slice, const std::vector<Extents>& extents) const {
    Rows rows;
    rows.row_count = 1;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const Extents& extent = extents[a];
      const Index in = plan_->folds_input_ ? axes_[a].stride.in : extent.packed_cells;
      const Strides stride{in, extent.packed_outputs, extent.packed_cells, extent.packed_outputs};
      if (axes_[a].is_lanes) {
        rows.inner = {extent.cells, stride};
      } else if (!axes_[a].is_pooled) {
        rows.loops[rows.loop_count++] = {extent.cells, stride};
        rows.row_count *= extent.cells;
      } else {
        PooledAxis pooled;
        pooled.window = *extent.window;
        pooled.stride = stride;
        rows.tap_count *= extent.window->kernel;
        const bool is_last = a + 1 == axes_.size() || axes_[a + 1].is_lanes;
        if (is_last)
          rows.horizontal = pooled;
        else
          rows.vertical[rows.vertical_count++] = pooled, rows.rows_per_plane *= extent.outputs;
      }
    }
    rows.row_count *= rows.rows_per_plane;
    if (plan_->use_ == SlicedPlan::Use::ties) return make_tie_plans(slice, rows);
    const KernelChoice max{.combine = Combine::max, .ties = choice_.ties};
    if (is_magnitude_ && plan_->map_ != SliceMap::forward)
      return (slice.extremes = extremes_of(sums_, max, extents)) != nullptr;
    slice.sums = GeneralPlan::make(sums_, is_magnitude_ ? max : sum_choice_, rows);
    if (is_vjp_) slice.transposed_sums = GeneralPlan::make(sums_, sum_choice_, rows, general::Direction::transposed);
    return slice.sums != nullptr && (!is_vjp_ || slice.transposed_sums != nullptr);
  }
  bool make_tie_plans(Slice& slice, const Rows& rows) const {
    constexpr Index max_taps = Index{1} << 24;  // ties are counted exactly
    if (choice_.ties == Ties::split && rows.tap_count > max_taps) return false;
    const bool is_double = kind_ == ScalarKind::kind_f64;
    slice.sums = GeneralPlan::make_ties(is_double, rows, general::Direction::forward);
    if (is_vjp_) slice.transposed_sums = GeneralPlan::make_ties(is_double, rows, general::Direction::transposed);
    return slice.sums != nullptr && (!is_vjp_ || slice.transposed_sums != nullptr);
  }
  /// Derivatives of max over a packed slice; null if the list has none.
  std::shared_ptr<const KernelPlan> extremes_of(ScalarKind kind, const KernelChoice& max,
                                                const std::vector<Extents>& extents) const {
    Geometry geometry;
    Shape in, out;
    for (const Extents& extent : extents) {
      geometry.axes[geometry.rank++] = extent.window == nullptr ? batch_axis(extent.cells) : *extent.window;
      in.push_back(extent.packed_cells);
      out.push_back(extent.packed_outputs);
    }
    Index taps = 1, cells = 1;
    for (int a = geometry.rank - 1; a >= 0; --a) {
      if (!geometry.axes[a].pooled) continue;
      geometry.tap_stride[a] = taps;
      geometry.cell_stride[a] = cells;
      taps *= geometry.axes[a].kernel;
      cells *= geometry.axes[a].input;
    }
    auto plan = KernelPlan::make_unforced(kind, max, geometry, {in, out, in, out});
    return plan != nullptr && plan->has(is_vjp_ ? MapKind::vjp : MapKind::jvp) ? plan : nullptr;
  }

  const ScalarKind kind_;
  const KernelChoice& choice_;
  const Rows& rows_;
  const bool is_vjp_;
  bool is_magnitude_ = false;
  ScalarKind sums_ = ScalarKind::kind_f32;  ///< what is folded
  KernelChoice sum_choice_ = {};
  std::vector<Dimension> axes_;
  std::unique_ptr<SlicedPlan> plan_{new SlicedPlan};
};

std::unique_ptr<const SlicedPlan> SlicedPlan::make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                   SliceMap map) {
  return SlicedPlanMaker(kind, choice, rows, map).make();
}

std::unique_ptr<const SlicedPlan> SlicedPlan::make_mixed(ScalarKind kind, ScalarKind result, mixed::WorkKind work,
                                                         bool folds_input, const KernelChoice& choice,
                                                         const Rows& rows) {
  return SlicedPlanMaker(kind, result, work, folds_input, choice, rows).make();
}

std::unique_ptr<const SlicedPlan> SlicedPlan::make_ties(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                        SliceMap map) {
  return SlicedPlanMaker::of_ties(kind, choice, rows, map).make();
}

}  // namespace ndpool
