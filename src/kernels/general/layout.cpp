#include "kernels/general/layout.hpp"

#include "kernels/forward/divisors.hpp"

#include <algorithm>
#include <limits>

namespace ndpool::general {

namespace {

constexpr std::size_t vector_bytes = 64;     // of the longest vectors
constexpr Index row_bytes_limit = 10 << 10;  // rows beyond are cut into strips, which stay in the first-level cache
constexpr Index short_row_bytes = 128;       // rows below are folded with planes as lanes
constexpr Index max_fold_rows = 8;

std::size_t rounded_up(std::size_t bytes) { return (bytes + vector_bytes - 1) / vector_bytes * vector_bytes; }

/// Lays out the scratch of a thread, one buffer behind the other.
class ScratchLayout {
 public:
  std::size_t place(Index elements, std::size_t size) {
    const std::size_t at = bytes_;
    bytes_ += rounded_up(static_cast<std::size_t>(elements) * size) + 2 * vector_bytes;
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// Builds a layout step by step; each step reads what those before it wrote.
class LayoutMaker {
 public:
  LayoutMaker(const Rows& rows, const KernelChoice& choice, const ElementTraits& traits, Direction direction)
      : rows_(rows),
        choice_(choice),
        traits_(traits),
        is_transposed_(direction == Direction::transposed),
        work_(static_cast<Index>(traits.work_size)),
        tile_bytes_(traits.has_positions ? 24 << 10 : 128 << 10) {}

  std::unique_ptr<const Layout> make() {
    choose_axes();
    layout_.lanes_from = static_cast<int>(layout_.axes.size());
    if (!choose_divisors()) return nullptr;
    if (traits_.has_positions) describe_positions();
    for (AxisLayout& axis : layout_.axes) share_blocks(axis);
    if (layout_.axes.size() == 1) merge_planes();  // short rows become a long one
    choose_lanes_from();
    merge_planes();
    choose_method();
    choose_tiles();
    if (tile_bytes_read() > max_tile_bytes) return nullptr;
    if (traits_.has_positions) cut_boxes();
    place_scratch();
    return std::make_unique<const Layout>(std::move(layout_));
  }

 private:
  // ---- axes
  /// Adds a loop, as one with an earlier loop where that is possible.
  void add_loop(const LoopAxis& loop) {
    if (loop.extent == 1) return;
    for (std::size_t i = layout_.loops.size(); i-- > 0;)
      if (merge_loops(layout_.loops[i], loop)) return;
    layout_.loops.push_back(loop);
  }
  /// An axis whose outputs are its cells is a loop; but between pooled axes of short rows, planes stay whole.
  Windows windows_of(const Axis& axis) const { return is_transposed_ ? Windows::transposed(axis) : Windows::of(axis); }
  /// Strides of the array that is read and of the one that is written.
  Index in_of(const Strides& stride) const { return is_transposed_ ? stride.tangent_out : stride.in; }
  Index out_of(const Strides& stride) const { return is_transposed_ ? stride.tangent_in : stride.out; }
  LoopAxis loop_of(Index extent, const Strides& stride, Index cell_stride = 0) const {
    if (!traits_.has_positions) return {extent, {in_of(stride), out_of(stride), 0, 0}};
    return {extent, {stride.in, stride.out, cell_stride, stride.tangent_out}};
  }
  void add_axis(const PooledAxis& pooled) {
    const Windows windows = windows_of(pooled.window);
    if (windows.is_identity() && (layout_.axes.empty() || !rows_are_short_)) {
      add_loop(loop_of(windows.cells, pooled.stride, pooled.cell_stride));
      return;
    }
    const bool keeps_rows = lanes_are_long_ || (&pooled != &rows_.horizontal && !rows_are_short_);
    if (windows.is_subsampling() && (windows.outputs == 1 || keeps_rows)) {
      Strides stride = pooled.stride;
      (is_transposed_ ? stride.tangent_out : stride.in) *= windows.stride;
      add_loop(loop_of(windows.outputs, stride, pooled.cell_stride * windows.stride));
      return;
    }
    AxisLayout axis;
    axis.windows = windows;
    axis.in_stride = in_of(pooled.stride);
    axis.out_stride = out_of(pooled.stride);
    axis.index_stride = pooled.stride.tangent_out;
    axis.cell_stride = pooled.cell_stride;
    axis.tap_stride = pooled.tap_stride;
    layout_.axes.push_back(std::move(axis));
    sources_.push_back(&pooled.window);
  }
  void choose_axes() {
    lanes_are_long_ = rows_.inner.extent * static_cast<Index>(traits_.stored_size) >= 64;
    rows_are_short_ =
        rows_.horizontal.window.input * rows_.inner.extent * static_cast<Index>(traits_.stored_size) < short_row_bytes;
    for (int i = 0; i < rows_.loop_count; ++i) add_loop(loop_of(rows_.loops[i].extent, rows_.loops[i].stride));
    for (int v = 0; v < rows_.vertical_count; ++v) add_axis(rows_.vertical[v]);
    layout_.lanes = rows_.inner.extent;
    layout_.lane_in_stride = rows_.inner.extent > 1 ? in_of(rows_.inner.stride) : 1;
    layout_.lane_out_stride = rows_.inner.extent > 1 ? out_of(rows_.inner.stride) : 1;
    const PooledAxis& row = rows_.horizontal;
    if (rows_.inner.extent > 1) layout_.lane_index_stride = rows_.inner.stride.tangent_out;
    const bool is_packed =
        layout_.lane_in_stride == 1 && layout_.lane_out_stride == 1 && in_of(row.stride) == layout_.lanes &&
        out_of(row.stride) == layout_.lanes &&
        (!traits_.has_positions || (layout_.lane_index_stride == 1 && row.stride.tangent_out == layout_.lanes));
    if (windows_of(row.window).is_identity() && is_packed) {
      layout_.lane_inner = layout_.lanes;
      layout_.lane_cells = row.window.input;
      layout_.lane_cell_stride = row.cell_stride;
      layout_.lanes *= row.window.input;  // only lanes, if no window is there
    } else {
      add_axis(row);
    }
    if (layout_.axes.empty()) add_identity_axis(row);
    if (traits_.has_positions) loop_over_few_lanes();
    if (!traits_.is_sum) {
      sort_axes_by_stride();
      merge_whole_axes();
    }
    merge_loops_into_lanes();
    count_planes();
  }
  /// Few lanes of one long window are folded one by one: rows as lanes would take scratch for all of its cells.
  void loop_over_few_lanes() {
    constexpr Index long_window = 4096;
    const AxisLayout& row = layout_.axes.back();
    if (layout_.lanes == 1 || layout_.lane_cells > 1 || layout_.lanes * work_ >= 32 || row.windows.outputs != 1 ||
        row.windows.kernel < long_window)
      return;
    add_loop({layout_.lanes, {layout_.lane_in_stride, layout_.lane_out_stride, 0, layout_.lane_index_stride}});
    layout_.lanes = 1;
    layout_.lane_in_stride = layout_.lane_out_stride = layout_.lane_index_stride = 1;
  }
  /// Nothing is folded: lanes that fill vectors are copied, and else the last loop is the row.
  void add_identity_axis(const PooledAxis& row) {
    folds_nothing_ = true;
    layout_.axes.emplace_back();
    sources_.push_back(&row.window);
    constexpr Index enough_bytes = 64;
    const bool tells_positions = layout_.loops.empty() || layout_.loops.back().stride.tangent_in > 0;
    identity_only_ = layout_.loops.empty() || (traits_.has_positions && !tells_positions) ||
                     layout_.lanes * static_cast<Index>(traits_.stored_size) >= enough_bytes;
    if (identity_only_) return;
    const LoopAxis& loop = layout_.loops.back();
    AxisLayout& axis = layout_.axes.back();
    axis.windows.cells = axis.windows.outputs = loop.extent;
    axis.in_stride = loop.stride.in;
    axis.out_stride = loop.stride.out;
    axis.cell_stride = loop.stride.tangent_in;
    axis.index_stride = loop.stride.tangent_out;
    layout_.loops.pop_back();
  }
  /// Neighbouring axes that are pooled whole are one: the order of taps matters to sums alone.
  void merge_whole_axes() {
    // Few lanes are no rows to fold: the first axis alone has long ones.
    if (layout_.lanes > 1 && layout_.lanes * static_cast<Index>(traits_.stored_size) < 32) return;
    const auto is_whole_axis = [](const Windows& w) {
      return w.is_regular() && w.outputs == 1 && w.kernel == w.cells && w.lo == 0 && w.tap_step == 1;
    };
    for (std::size_t a = layout_.axes.size(); a-- > 1;) {
      AxisLayout& outer = layout_.axes[a - 1];
      const AxisLayout& inner = layout_.axes[a];
      const Index cells = inner.windows.cells;
      if (!is_whole_axis(outer.windows) || !is_whole_axis(inner.windows) ||
          outer.in_stride != inner.in_stride * cells || outer.cell_stride != inner.cell_stride * cells ||
          outer.tap_stride != inner.tap_stride * cells)
        continue;
      const Index all = outer.windows.cells * cells;
      outer.windows.cells = outer.windows.kernel = all;
      outer.in_stride = inner.in_stride;
      outer.cell_stride = inner.cell_stride;
      outer.tap_stride = inner.tap_stride;
      layout_.axes.erase(layout_.axes.begin() + static_cast<std::ptrdiff_t>(a));
      sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(a));
    }
  }
  void count_planes() {
    layout_.planes = 1;
    for (const LoopAxis& loop : layout_.loops) layout_.planes *= loop.extent;
  }
  /// A loop that steps through both arrays as further lanes would is lanes.
  void merge_loops_into_lanes() {
    if (layout_.lane_in_stride != 1 || layout_.lane_out_stride != 1) return;
    if (layout_.lanes == 1 && !identity_only_) return;  // rows come first
    for (std::size_t i = 0; i < layout_.loops.size();) {
      const LoopAxis& loop = layout_.loops[i];
      const bool keeps_positions =
          !traits_.has_positions ||
          (layout_.lane_index_stride == 1 && loop.stride.tangent_in == 0 && loop.stride.tangent_out == layout_.lanes);
      if (loop.stride.in == layout_.lanes && loop.stride.out == layout_.lanes && keeps_positions) {
        layout_.lanes *= loop.extent;
        layout_.loops.erase(layout_.loops.begin() + static_cast<std::ptrdiff_t>(i));
        i = 0;
      } else {
        ++i;
      }
    }
  }
  /// Planes of windows that end where the plane does are one tall plane.
  void merge_planes() {
    AxisLayout& first = layout_.axes.front();
    Windows& w = first.windows;
    const bool is_transposed = w.kind == Windows::Kind::transposed;
    const Index stride = w.outputs == 1 ? w.cells : w.stride;
    if (identity_only_ || layout_.folds_planes_as_lanes() || !layout_.one_divisor || w.lo != 0 ||
        first.blocks != nullptr || traits_.has_positions)
      return;
    if (w.is_regular() ? stride * w.outputs != w.cells || w.reach() > stride
                       : !is_transposed || w.cells * stride != w.outputs || (w.kernel - 1) * w.dilation >= stride)
      return;
    constexpr Index enough = 1 << 16;  // a single window is folded in ways of its own
    if (layout_.axes.size() == 1 && w.outputs == 1 && (layout_.lanes == 1 || w.cells > enough)) return;
    while (!layout_.loops.empty()) {
      const LoopAxis loop = layout_.loops.back();
      if (loop.stride.in != w.cells * first.in_stride || loop.stride.out != w.outputs * first.out_stride) return;
      w.stride = stride;
      w.cells *= loop.extent;
      w.outputs *= loop.extent;
      layout_.loops.pop_back();
      count_planes();
    }
  }
  /// The order of axes matters to sums alone: extremes fold in the order of memory.
  void sort_axes_by_stride() {
    const auto steps = [this](std::size_t a) { return std::abs(layout_.axes[a].in_stride); };
    for (std::size_t end = layout_.axes.size(); end > 1; --end)  // stable, and without a buffer
      for (std::size_t a = 0; a + 1 < end; ++a)
        if (steps(a) < steps(a + 1)) {
          std::swap(layout_.axes[a], layout_.axes[a + 1]);
          std::swap(sources_[a], sources_[a + 1]);
        }
  }

  // ---- divisors
  /// False if divisors differ and there are too many of them to keep.
  bool choose_divisors() {
    constexpr Index max_counts = Index{1} << 24;
    if (!choice_.averages) return true;
    if (choice_.average.divisor != AverageOptions::no_divisor) {
      layout_.divisor = static_cast<double>(choice_.average.divisor);
      layout_.divides_first = is_transposed_ && layout_.divisor != 1;
      return true;
    }
    if (folds_nothing_) return true;  // every cell has a window of its own, of one tap
    layout_.one_divisor = has_one_divisor(rows_, choice_.average);
    const auto count = [&](const Axis& axis, Index output) {
      return std::max(1.0, static_cast<double>(counted_taps(axis.taps(output), choice_.average)));
    };
    if (layout_.one_divisor) {
      for (int v = 0; v < rows_.vertical_count; ++v) layout_.divisor *= count(rows_.vertical[v].window, 0);
      layout_.divisor *= count(rows_.horizontal.window, 0);
      layout_.divides_first = is_transposed_ && layout_.divisor != 1;
      return true;
    }
    layout_.divides_first = is_transposed_;
    for (std::size_t a = 0; a < layout_.axes.size(); ++a) {
      if (sources_[a]->output > max_counts) return false;
      for (Index o = 0; o < sources_[a]->output; ++o) layout_.axes[a].counts.push_back(count(*sources_[a], o));
    }
    return true;
  }

  void share_blocks(AxisLayout& axis) {
    Blocks blocks = Blocks::shared_by(axis.windows, traits_.is_sum);
    if (blocks.parts > 0) axis.blocks = std::make_unique<const Blocks>(blocks);
    share_residues(axis);
  }
  void share_residues(AxisLayout& axis) {
    const Windows& w = axis.windows;
    constexpr Index max_residues = 64;
    if (w.kind != Windows::Kind::transposed || w.dilation != 1 || w.max_taps() <= max_fold_rows ||
        w.stride > max_residues || w.outputs < 2 * w.stride)
      return;
    for (Index r = 0; r < w.stride; ++r) {
      const NominalTaps window = w.taps(r);
      AxisLayout residue;
      residue.windows = {w.cells,      (w.outputs - 1 - r) / w.stride + 1, Windows::Kind::regular, window.count, 1,
                         -window.first};
      share_blocks(residue);
      axis.residues.push_back(std::move(residue));
    }
  }

  // ---- forms
  const Windows& row() const { return layout_.axes.back().windows; }
  Index bytes(Index elements) const { return elements * work_; }
  bool plane_is_packed() const {
    if (layout_.lane_in_stride != 1 || layout_.lane_out_stride != 1) return false;
    Index in = layout_.lanes, out = layout_.lanes;
    for (int a = layout_.last(); a >= 0; --a) {
      const AxisLayout& axis = layout_.axes[static_cast<std::size_t>(a)];
      if ((axis.windows.cells > 1 && axis.in_stride != in) || (axis.windows.outputs > 1 && axis.out_stride != out))
        return false;
      if (__builtin_mul_overflow(in, axis.windows.cells, &in) ||
          __builtin_mul_overflow(out, axis.windows.outputs, &out))
        return false;
    }
    plane_cells_ = in;
    plane_outputs_ = out;
    return true;
  }
  /// Short rows of many planes: planes, or what is left of them after the first axis, become lanes.
  void choose_lanes_from() {
    layout_.lanes_from = static_cast<int>(layout_.axes.size());
    const Index block = 16 / static_cast<Index>(traits_.stored_size);
    const Index width = row().cells * layout_.lanes;
    if (width > short_row_bytes || layout_.lanes * static_cast<Index>(traits_.stored_size) >= 64) return;
    const bool is_short = width * static_cast<Index>(traits_.stored_size) < short_row_bytes;
    if (!is_short || !plane_is_packed() || identity_only_) return;
    if (layout_.planes >= 2 * block && std::max(plane_cells_, plane_outputs_) * 64 * work_ <= 1 << 20) {
      layout_.lanes_from = 0;
      return;
    }
    if (layout_.axes.size() < 3) return;
    const Windows& first = layout_.axes.front().windows;
    const Index cells = plane_cells_ / first.cells, outputs = plane_outputs_ / first.outputs;
    const Index vector = static_cast<Index>(vector_bytes) / work_;
    if (std::min(layout_.planes, Index{1} << 20) * first.outputs >= 2 * vector &&
        std::max(cells, outputs) * 2 * vector * work_ <= 2 * tile_bytes_)
      layout_.lanes_from = 1;
  }
  void choose_method() {
    const Windows& w = row();
    const Index lane_bytes = bytes(layout_.lanes);
    layout_.row_kernel = w.kernel;
    layout_.row_stride = w.stride;
    const bool has_padded_rows = w.is_regular() && w.kernel <= 2 * w.cells + 64 && w.reach() <= 4 * w.cells + 1024;
    if (scans_windows()) {
      layout_.method = RowMethod::scanned;
    } else if (layout_.folds_planes_as_lanes() || identity_only_ || lane_bytes >= 128) {
      layout_.method = RowMethod::lanes;
    } else if (has_padded_rows && w.stride == 1 && w.outputs > 1) {
      layout_.method = RowMethod::shifted;
    } else if (lane_bytes >= 32) {
      layout_.method = RowMethod::lanes;
    } else if (has_padded_rows && w.outputs == 1 && layout_.lanes == 1 && w.dilation == 1) {
      layout_.method = RowMethod::single;
    } else {
      layout_.method = RowMethod::transposed;
      constexpr Index max_phases = 32;
      if (w.kind == Windows::Kind::transposed && layout_.lanes == 1 && w.stride <= max_phases &&
          w.max_taps() <= max_fold_rows && w.outputs >= 2 * w.stride * static_cast<Index>(vector_bytes) / work_ &&
          w.reach() <= 4 * w.cells + 1024)
        layout_.method = RowMethod::phases;
      if (has_padded_rows && layout_.lanes == 1 && w.dilation == 1) halve();
      if (has_padded_rows && layout_.lanes == 1 && layout_.row_stride == 2) layout_.method = RowMethod::evens;
      if (layout_.row_stride == 1 && layout_.halvings > 0) layout_.method = RowMethod::shifted;
      if (layout_.method == RowMethod::transposed && (slides() || lanes_slide())) layout_.method = RowMethod::sliding;
    }
    if ((layout_.method == RowMethod::shifted || layout_.method == RowMethod::evens) &&
        layout_.row_kernel > max_fold_rows)
      layout_.row_blocks = std::make_unique<const Blocks>(Blocks::of(layout_.row_kernel, traits_.is_sum));
    const AxisLayout& last = layout_.axes.back();
    const bool lanes_are_rows = layout_.method == RowMethod::lanes;
    layout_.in_is_direct =
        layout_.lane_in_stride == 1 && (lanes_are_rows || last.windows.cells == 1 || last.in_stride == layout_.lanes);
    layout_.out_is_direct = !traits_.has_positions && layout_.lane_out_stride == 1 &&
                            (lanes_are_rows || last.windows.outputs == 1 || last.out_stride == layout_.lanes);
  }
  /// Windows that are scanned one by one: of many cells, with rows of 16 bytes and more, that overlap little.
  bool scans_windows() const {
    if (!traits_.has_positions || layout_.lanes != 1 || layout_.folds_planes_as_lanes() || identity_only_) return false;
    constexpr double min_taps = 48, max_overlap = 4;
    const Index min_width = 16 / static_cast<Index>(traits_.stored_size);
    const auto width = [](const Windows& w) { return w.is_regular() ? w.kernel : w.cells / w.outputs; };
    double taps = 1, overlap = 1;
    for (const AxisLayout& axis : layout_.axes) {
      const Windows& w = axis.windows;
      const double seen = static_cast<double>(std::min(width(w), w.cells));
      taps *= seen;
      overlap *= std::max(1.0, seen * static_cast<double>(w.outputs) / static_cast<double>(w.cells));
    }
    for (std::size_t a = 1; a < layout_.axes.size(); ++a)  // a scan goes in the order of positions
      if (layout_.axes[a - 1].cell_stride < layout_.axes[a].cell_stride * layout_.axes[a].windows.cells) return false;
    return row().tap_step == 1 && std::min(width(row()), row().cells) >= min_width && taps >= min_taps &&
           overlap <= max_overlap;
  }
  /// Rows become lanes only if there are some, or if strips of one row serve.
  bool slides() const {
    constexpr Index max_period = 64, min_rows = 16;
    const Windows& w = row();
    if (w.period() > max_period) return true;
    const bool has_strips = layout_.axes.size() == 1 && layout_.one_divisor;
    return !has_strips && std::min(layout_.planes, Index{1} << 20) * vertical_outputs() < min_rows;
  }
  /// A few channels behind every cell: a vector for each output costs less than to turn rows to lanes.
  bool lanes_slide() const {
    constexpr Index max_taps = 32, min_outputs = 16;
    const Index taps = row().kernel;
    return layout_.lanes > 1 && row().is_regular() &&
           (taps <= max_fold_rows || (taps <= max_taps && row().outputs >= min_outputs));
  }
  /// Windows of even length at even places are windows of half the length over pairs.
  void halve() {
    Index& kernel = layout_.row_kernel;
    Index& stride = layout_.row_stride;
    while (kernel % 2 == 0 && stride % 2 == 0 && !(kernel == 2 && stride == 2)) {
      kernel /= 2;
      stride /= 2;
      ++layout_.halvings;
    }
  }

  // ---- tiles
  /// Outputs along the last axis that a tile makes of every row.
  Index strip_outputs() const {
    const Windows& w = row();
    const bool is_quick = layout_.method == RowMethod::shifted || layout_.method == RowMethod::evens ||
                          layout_.method == RowMethod::sliding || layout_.method == RowMethod::phases;
    const Index limit = is_quick ? row_bytes_limit : row_bytes_limit / 2;
    if (layout_.method == RowMethod::single || bytes(std::max(w.cells, w.outputs) * layout_.lanes) <= limit * 3 / 2)
      return w.outputs;
    auto strip =
        static_cast<Index>(static_cast<double>(limit / bytes(layout_.lanes) - w.reach()) / std::max(1.0, w.pace()));
    strip = std::max({strip, Index{1}, static_cast<Index>(2 * static_cast<double>(w.reach()) / w.pace())});
    const Index rows = layout_.planes * vertical_outputs();
    if (rows < 32 && !is_quick) strip = std::min(strip, std::max<Index>(1, w.outputs / 32));
    const Index period = w.period();
    return std::clamp<Index>(period <= strip ? strip / period * period : strip, 1, w.outputs);
  }
  Index vertical_outputs() const {
    double outputs = 1;
    for (int a = 0; a < layout_.last(); ++a)
      outputs *= static_cast<double>(layout_.axes[static_cast<std::size_t>(a)].windows.outputs);
    return static_cast<Index>(std::min(outputs, 1e9));
  }
  static Index box_cells(const Windows& w, Index outputs) {
    if (outputs >= w.outputs) return w.cells;
    const double span = static_cast<double>(outputs) * w.pace() + static_cast<double>(w.reach()) + 2;
    return span < static_cast<double>(w.cells) ? static_cast<Index>(span) : w.cells;
  }
  void choose_tiles() {
    const int last = layout_.last();
    AxisLayout& row_axis = layout_.axes.back();
    const bool lanes_are_rows = layout_.method == RowMethod::lanes;
    Index per = 0;  // bytes of the box so far
    int first_cut = last;
    layout_.lanes_per_tile = layout_.lanes;
    if (layout_.method == RowMethod::scanned) {
      row_axis.tile = row_axis.windows.outputs;
      per = static_cast<Index>(traits_.stored_size) * row_axis.windows.cells;
      first_cut = last - 1;
    } else if (lanes_are_rows) {
      constexpr Index max_lane_bytes = 8 << 10;
      if (bytes(layout_.lanes) > max_lane_bytes && !layout_.folds_planes_as_lanes())
        layout_.lanes_per_tile = max_lane_bytes / work_;
      per = bytes(layout_.lanes_per_tile);
    } else {
      row_axis.tile = strip_outputs();
      set_row_pitch();
      per = bytes(layout_.row_pitch);
      first_cut = last - 1;
    }
    bool is_whole =
        layout_.lanes_per_tile == layout_.lanes && (lanes_are_rows || row_axis.tile == row_axis.windows.outputs);
    for (int a = first_cut; a >= 0; --a) {
      AxisLayout& axis = layout_.axes[static_cast<std::size_t>(a)];
      const Windows& w = axis.windows;
      Index least = 1;
      if (axis.blocks != nullptr || lifts_first())
        least = static_cast<Index>(2 * static_cast<double>(w.reach()) / w.pace());
      if (a == 0 && layout_.lanes_from == 1) least = std::max(least, 2 * static_cast<Index>(vector_bytes) / work_);
      Index fit = is_whole ? static_cast<Index>((static_cast<double>(tile_bytes_) / static_cast<double>(per) -
                                                 static_cast<double>(w.reach())) /
                                                w.pace())
                           : 1;
      if (layout_.folds_planes_as_lanes() && a >= layout_.lanes_from) fit = w.outputs;
      axis.tile = std::min(w.outputs, std::max({fit, least, Index{1}}));
      is_whole = is_whole && axis.tile == w.outputs;
      per = std::max<Index>(
          1, static_cast<Index>(static_cast<double>(per) * static_cast<double>(box_cells(w, axis.tile))));
    }
    layout_.planes_per_tile = is_whole ? std::clamp<Index>(tile_bytes_ / per, 1, layout_.planes) : 1;
    constexpr Index enough_tiles = 16, large = 1 << 20;
    if (static_cast<double>(per) * static_cast<double>(layout_.planes) >= large)
      layout_.planes_per_tile = std::min(layout_.planes_per_tile, std::max<Index>(1, layout_.planes / enough_tiles));
    if (layout_.lanes_from == 0) choose_lane_group();
    choose_strips();
    count_tiles();
  }
  void set_row_pitch() {
    const Windows& w = row();
    Index cells = box_cells(w, layout_.axes.back().tile);
    if ((layout_.method != RowMethod::transposed && layout_.method != RowMethod::sliding) || layout_.halvings > 0 ||
        is_strip_wise())
      cells = std::max(
          cells, static_cast<Index>(static_cast<double>(layout_.axes.back().tile - 1) * w.pace()) + w.reach() + 1);
    if (layout_.method == RowMethod::single) {
      constexpr Index max_segment = 4096, lifted_bytes = 16 << 10;
      layout_.segment = traits_.has_positions ? lifted_bytes / work_ : max_segment;
      cells = std::min(cells, layout_.segment);
    }
    const Index vector = static_cast<Index>(vector_bytes) / work_;
    Index unit = Index{1} << layout_.halvings;  // a pitch stays whole when rows are halved, with room for an odd cell
    if (layout_.method == RowMethod::single)
      while (cells > 16 * unit) unit *= 2;
    layout_.row_pitch = (cells * layout_.lanes + vector - 1) / vector * vector + vector;
    layout_.row_pitch = (layout_.row_pitch + 2 * unit - 1) / unit * unit;
  }
  /// Strips of one row look alike: the windows repeat, and all have the same divisors.
  bool is_strip_wise() const {
    const Windows& w = row();
    return layout_.axes.size() == 1 && layout_.method != RowMethod::lanes && layout_.method != RowMethod::single &&
           layout_.one_divisor && layout_.axes.back().tile < w.outputs && layout_.axes.back().tile % w.period() == 0;
  }
  void choose_strips() {
    const Index tile = layout_.axes.back().tile, outputs = row().outputs;
    if (!is_strip_wise() || layout_.planes_per_tile > 1) return;
    layout_.strips_per_tile =
        std::clamp<Index>(tile_bytes_ / bytes(layout_.row_pitch), 1, std::max<Index>(1, outputs / tile));
    if (layout_.method == RowMethod::transposed)
      layout_.strips_per_tile =
          std::min(std::max<Index>(layout_.strips_per_tile, 32), std::max<Index>(1, outputs / tile));
  }
  void choose_lane_group() {
    const Index vector = static_cast<Index>(vector_bytes) / std::min(work_, static_cast<Index>(traits_.stored_size));
    const Index cells = std::max(plane_cells_, plane_outputs_);
    const Index fit = tile_bytes_ / 2 / bytes(cells) / vector * vector;
    layout_.lane_group = std::min((layout_.planes + vector - 1) / vector * vector, std::max(fit, 2 * vector));
    layout_.planes_per_tile = layout_.lane_group;
  }
  void count_tiles() {
    const auto tiles_of = [](Index all, Index tile) { return (all + tile - 1) / tile; };
    layout_.tile_count =
        tiles_of(layout_.planes, layout_.planes_per_tile) * tiles_of(layout_.lanes, layout_.lanes_per_tile);
    for (std::size_t a = 0; a < layout_.axes.size(); ++a)
      layout_.tile_count *= a + 1 == layout_.axes.size()
                                ? strip_groups(layout_)
                                : tiles_of(layout_.axes[a].windows.outputs, layout_.axes[a].tile);
  }

  /// Bytes of the input that a tile reads: a run is stopped, and reports progress, between tiles alone.
  static constexpr double max_tile_bytes = 4e9;
  double tile_bytes_read() const {
    double cells = static_cast<double>(layout_.planes_per_tile) * static_cast<double>(layout_.lanes_per_tile);
    for (const AxisLayout& axis : layout_.axes) cells *= static_cast<double>(box_cells(axis.windows, axis.tile));
    return cells * static_cast<double>(traits_.stored_size);
  }

  // ---- positions of extremes
  bool lifts_first() const { return layout_.divides_first || traits_.has_positions; }
  void describe_positions() {
    std::vector<int>& order = layout_.by_cell_stride;
    for (int a = 0; a <= layout_.last(); ++a) order.push_back(a);
    const auto axis = [this](int a) -> const AxisLayout& { return layout_.axes[static_cast<std::size_t>(a)]; };
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      if (axis(a).cell_stride != axis(b).cell_stride) return axis(a).cell_stride > axis(b).cell_stride;
      if (axis(a).windows.cells != axis(b).windows.cells) return axis(a).windows.cells > axis(b).windows.cells;
      return a < b;
    });
    for (const Axis* source : sources_) layout_.has_empty_windows |= source->first_empty_output() >= 0;
    layout_.taps_are_unique = has_unique_taps();
  }
  /// True if a tap can be told by how many cells, as flat indices count, it is behind tap 0.
  bool has_unique_taps() const {
    constexpr Index max_reach = 1 << 21;
    Index reach = 0;  // of the axes behind
    for (std::size_t i = layout_.by_cell_stride.size(); i-- > 0;) {
      const AxisLayout& axis = layout_.axes[static_cast<std::size_t>(layout_.by_cell_stride[i])];
      const Windows& w = axis.windows;
      const Index taps = w.max_taps();
      if (taps > max_reach || axis.cell_stride > max_reach || w.tap_step > max_reach) return false;
      const Index step = w.tap_step * axis.cell_stride;
      if (taps > 1 && reach >= step) return false;
      reach += (taps - 1) * step;
      if (reach > max_reach) return false;
    }
    return true;
  }
  /// A box is lifted whole unless its longest axis is cut.
  void cut_boxes() {
    constexpr double large = 4 << 20;
    double box = static_cast<double>(layout_.planes_per_tile) * static_cast<double>(layout_.lanes_per_tile);
    const auto cells_of = [this](int a) {
      const AxisLayout& axis = layout_.axes[static_cast<std::size_t>(a)];
      return box_cells(axis.windows, a == layout_.last() ? axis.tile * layout_.strips_per_tile : axis.tile);
    };
    for (int a = 0; a <= layout_.last(); ++a) {
      box *= static_cast<double>(cells_of(a));
      layout_.max_position += (cells_of(a) - 1) * layout_.axes[static_cast<std::size_t>(a)].cell_stride;
    }
    // The first axis whose pieces are small, so that rows stay long; else the longest.
    layout_.cut_axis = 0;
    for (int a = 0; a <= layout_.last(); ++a) {
      if (cells_of(a) > cells_of(layout_.cut_axis)) layout_.cut_axis = a;
      if (cells_of(a) > 1 &&
          box * static_cast<double>(work_) <= static_cast<double>(tile_bytes_) * static_cast<double>(cells_of(a))) {
        layout_.cut_axis = a;
        break;
      }
    }
    const Index longest = cells_of(layout_.cut_axis);
    // A window of its own is cut to what stays in the first-level cache; others would be folded again for each piece.
    const bool is_alone =
        layout_.axes[static_cast<std::size_t>(layout_.cut_axis)].tile == 1 && layout_.method != RowMethod::single;
    const double max_box_bytes = is_alone ? static_cast<double>(tile_bytes_) : large;
    const double bytes_of_cell = box * static_cast<double>(work_) / static_cast<double>(longest);
    layout_.cut_cells = std::max<Index>(1, static_cast<Index>(max_box_bytes / bytes_of_cell));
    if (layout_.cut_cells >= longest || layout_.folds_planes_as_lanes() || layout_.method == RowMethod::scanned)
      layout_.cut_axis = -1;
  }

  // ---- scratch
  /// Rows of blocks that `outputs` windows share.
  static Index level_places(const AxisLayout& axis, Index outputs) {
    if (axis.blocks == nullptr) return 0;
    const Index span = (outputs - 1) * axis.windows.stride + axis.windows.reach();
    return (span / axis.blocks->lattice + 1) * (axis.blocks->levels - 1);
  }
  void place_scratch() {
    const bool rows_are_kept = layout_.method != RowMethod::lanes && layout_.method != RowMethod::scanned;
    const int last = layout_.last();
    constexpr Index chunk_bytes = 4096;
    layout_.chunk = std::max<Index>(64, chunk_bytes / work_);
    layout_.identity_elements = layout_.chunk + 128;
    layout_.tree_pitch = layout_.chunk + 80;
    Index items = layout_.planes_per_tile, box = layout_.lanes_per_tile, depth = 1, levels = 0;
    Index box_elements = items * box;  // of the source, at a time
    for (int a = 0; a <= last; ++a) {
      const AxisLayout& axis = layout_.axes[static_cast<std::size_t>(a)];
      const Index cells =
          box_cells(axis.windows, a == last && rows_are_kept ? axis.tile * layout_.strips_per_tile : axis.tile);
      box *= cells;
      box_elements *= a == layout_.cut_axis ? layout_.cut_cells : cells;
      Index taps = axis.windows.max_taps(), levels_deep = 1;
      for (; taps > max_fold_rows; taps = (taps + max_fold_rows - 1) / max_fold_rows) ++levels_deep;
      depth = std::max(depth, levels_deep);
      levels = std::max(levels, level_places(axis, axis.tile));
      for (const AxisLayout& residue : axis.residues)
        levels = std::max(levels, level_places(residue, axis.tile / axis.windows.stride + 1));
    }
    const std::size_t result_size = traits_.has_positions ? traits_.work_size : traits_.stored_size;
    ScratchLayout scratch;
    layout_.identity_at = scratch.place(layout_.identity_elements, traits_.work_size);
    layout_.zeros_at = scratch.place(layout_.identity_elements, traits_.stored_size);
    layout_.trees_at = scratch.place(std::max<Index>(4, max_fold_rows * depth) * layout_.tree_pitch, traits_.work_size);
    layout_.level_elements = levels == 0 ? 0 : std::max<Index>((64 << 10) / work_, levels * 96);
    layout_.levels_at = scratch.place(layout_.level_elements, traits_.work_size);

    // Boxes between stages: outputs of the axes so far, cells of the others.
    Index stage = 0, outputs = items;
    Index rest = box;
    for (int a = 0; a < last; ++a) {
      const AxisLayout& axis = layout_.axes[static_cast<std::size_t>(a)];
      rest /= std::max<Index>(1, box_cells(axis.windows, axis.tile));
      outputs *= axis.tile;
      stage = std::max(stage, outputs * rest);
    }
    layout_.row_capacity = outputs * layout_.strips_per_tile;
    const Index lanes_in_vector = static_cast<Index>(vector_bytes);
    if (layout_.folds_planes_as_lanes()) {
      Index cells = layout_.lanes, results = layout_.lanes, folded = 0;
      Index lane_items = items;
      for (int a = 0; a < layout_.lanes_from; ++a) lane_items *= layout_.axes[static_cast<std::size_t>(a)].tile;
      for (int a = last; a >= layout_.lanes_from; --a) cells *= layout_.axes[static_cast<std::size_t>(a)].windows.cells;
      Index running = cells;
      for (int a = layout_.lanes_from; a <= last; ++a) {
        const Windows& w = layout_.axes[static_cast<std::size_t>(a)].windows;
        running = running / w.cells * w.outputs;
        folded = std::max(folded, running);
        results *= w.outputs;
      }
      if (layout_.lanes_from > 0) {
        const Index vector =
            static_cast<Index>(vector_bytes) / std::min(work_, static_cast<Index>(traits_.stored_size));
        const Index fit = 2 * tile_bytes_ / bytes(std::max(cells, results)) / vector * vector;
        layout_.lane_group = std::min((lane_items + vector - 1) / vector * vector, std::max(fit, 2 * vector));
      }
      layout_.lanes_at = scratch.place(cells * layout_.lane_group + lanes_in_vector, traits_.work_size);
      stage = std::max(stage, folded * layout_.lane_group);
      layout_.folded_at = scratch.place(results * layout_.lane_group + lanes_in_vector, traits_.work_size);
      layout_.stored_at = scratch.place(results * layout_.lane_group + lanes_in_vector, result_size);
      layout_.pointers_at = scratch.place(lane_items, sizeof(void*));
      layout_.counts_at =
          scratch.place(lane_items + layout_.lanes * layout_.lane_group + lanes_in_vector, sizeof(double));
    } else if (rows_are_kept) {
      const Index rows = layout_.row_capacity, padded = (rows + 63) / 64 * 64;
      const Index tile = layout_.axes.back().tile, n = tile * layout_.lanes;
      layout_.rows_at = scratch.place((rows + 2) * layout_.row_pitch + lanes_in_vector, traits_.work_size);
      const Index level_count = layout_.row_blocks == nullptr ? 0 : layout_.row_blocks->levels - 1;
      const Index phases =
          layout_.method == RowMethod::phases ? row().stride * (n / row().stride + 2 * lanes_in_vector) : 0;
      const Index halves =
          layout_.halvings > 0 || layout_.method == RowMethod::single ? 2 * ((rows * layout_.row_pitch) / 2 + 128) : 0;
      const Index lanes = layout_.method == RowMethod::transposed || layout_.method == RowMethod::single
                              ? padded * (layout_.row_pitch + 64)
                              : 0;
      const Index partials =
          layout_.method == RowMethod::single ? rows * (row().kernel / layout_.segment + 3) + 2 * lanes_in_vector : 0;
      layout_.lanes_at = scratch.place(
          std::max(level_count * (rows * layout_.row_pitch + 128), lanes) + lanes_in_vector, traits_.work_size);
      stage = std::max({stage, halves, phases, level_count > 0 ? 2 * n : 0});
      const bool has_lanes = layout_.method == RowMethod::transposed || layout_.method == RowMethod::single;
      const Index results = has_lanes ? n * padded : n;
      layout_.folded_at = scratch.place(std::max(results, partials) + lanes_in_vector, traits_.work_size);
      layout_.stored_at = scratch.place(has_lanes ? results + lanes_in_vector : 0, result_size);
      layout_.pointers_at = scratch.place(rows, sizeof(void*));
      layout_.counts_at = scratch.place(padded + n + layout_.lanes * padded + 3 * lanes_in_vector, sizeof(double));
    } else {
      layout_.folded_at =
          scratch.place(layout_.axes.back().tile * layout_.lanes_per_tile + lanes_in_vector, traits_.work_size);
      layout_.counts_at = scratch.place(layout_.row_capacity, sizeof(double));
    }
    if (traits_.has_positions) {
      constexpr Index along_bytes = 16 << 10;
      layout_.along_capacity = std::max<Index>(along_bytes / work_, layout_.lanes_per_tile);
      layout_.along_at = scratch.place(layout_.along_capacity, traits_.work_size);
    }
    if (layout_.method == RowMethod::scanned) {
      Index rows = 1;
      for (int a = 0; a < last; ++a) rows *= layout_.axes[static_cast<std::size_t>(a)].windows.max_taps();
      layout_.scan_rows_at = scratch.place(rows, 2 * sizeof(Index));
    } else if (lifts_first()) {
      layout_.lifted_at = scratch.place(box_elements + lanes_in_vector, traits_.work_size);
      layout_.counts_at = scratch.place(row().cells * layout_.lanes + lanes_in_vector, sizeof(double));
    }
    layout_.stage_at[0] = scratch.place(stage + lanes_in_vector, traits_.work_size);
    layout_.stage_at[1] = scratch.place(stage + lanes_in_vector, traits_.work_size);
    if (layout_.lanes_from == 1) layout_.whole_at = scratch.place(stage + lanes_in_vector, traits_.work_size);
    if (!layout_.in_is_direct)
      layout_.packed_in_at = scratch.place(box_elements + lanes_in_vector, traits_.stored_size);
    if (!layout_.out_is_direct) {
      Index results = items * layout_.lanes_per_tile * layout_.strips_per_tile;
      for (const AxisLayout& axis : layout_.axes) results *= axis.tile;
      if (traits_.has_positions && layout_.taps_are_unique)
        layout_.origins_at = scratch.place(results / items / layout_.lanes_per_tile + 1, sizeof(std::int32_t));
      layout_.packed_out_at = scratch.place(results + lanes_in_vector, result_size);
      if (layout_.cut_axis >= 0) layout_.pieces_at = scratch.place(results + lanes_in_vector, result_size);
    }
    layout_.bytes = scratch.bytes();
  }

  const Rows& rows_;
  const KernelChoice& choice_;
  const ElementTraits& traits_;
  bool is_transposed_;
  Index work_;
  Index tile_bytes_;  ///< working elements of a tile: half of a small second-level cache, or lifted in the first-level
                      ///< one
  Layout layout_;
  std::vector<const Axis*> sources_;
  bool rows_are_short_ = false, lanes_are_long_ = false;
  bool folds_nothing_ = false;  ///< windows of one tap on every axis
  bool identity_only_ = false;  ///< the same, and no loop can be the row: a copy
  mutable Index plane_cells_ = 0, plane_outputs_ = 0;
};

}  // namespace

Index strip_groups(const Layout& layout) {
  const AxisLayout& row = layout.axes.back();
  const Index strips = (row.windows.outputs + row.tile - 1) / row.tile;
  if (layout.strips_per_tile == 1) return strips;
  const Index whole = row.windows.outputs / row.tile;  // a shorter last strip is a tile of its own
  return (whole + layout.strips_per_tile - 1) / layout.strips_per_tile + (strips - whole);
}

std::unique_ptr<const Layout> make_layout(const Rows& rows, const KernelChoice& choice, const ElementTraits& traits,
                                          Direction direction) {
  return LayoutMaker(rows, choice, traits, direction).make();
}

}  // namespace ndpool::general
