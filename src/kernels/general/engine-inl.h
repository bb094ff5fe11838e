// Per-target code: runs one tile of the general engine. A tile is a box of outputs of some planes. Its input box goes
// through the axes in the stated order, first axis first; each fold makes the cells of one axis its outputs.
#if defined(NDPOOL_GENERAL_ENGINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_ENGINE_INL_H_
#undef NDPOOL_GENERAL_ENGINE_INL_H_
#else
#define NDPOOL_GENERAL_ENGINE_INL_H_
#endif

#include "kernels/general/argmax_results-inl.h"
#include "kernels/general/row-inl.h"
#include "kernels/general/scan-inl.h"

#include <optional>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// What only elements with positions have.
template <class E, bool>
struct PositionsOf {
  struct Lift {};
  struct Results {};
};
template <class E>
struct PositionsOf<E, true> {
  using Lift = PositionLift<E>;
  using Results = ArgmaxResults<E>;
};

template <class E>
class Engine {
 public:
  using Work = typename E::Work;
  using S = typename E::Stored;
  using R = typename E::Result;

  explicit Engine(const GeneralJob& job)
      : layout_(job.layout),
        in_(static_cast<const S*>(job.in)),
        out_(static_cast<S*>(job.out)),
        indices_(static_cast<char*>(job.indices)),
        index_kind_(job.index_kind),
        scratch_(static_cast<char*>(job.scratch)),
        finish_(job.finish),
        fold_(layout_, scratch_, finish_),
        row_fold_(layout_, scratch_, finish_, fold_),
        last_(layout_.last()) {
    if constexpr (E::has_positions) {
      positions_.emplace(layout_, scratch_, finish_);
      results_.emplace(layout_, scratch_, finish_, index_kind_);
    }
  }

  void run_tile(Index number) {
    place_tile(number);
    if constexpr (E::has_positions) {
      run_with_positions();
    } else {
      if (!layout_.in_is_direct) pack_input();
      if (!layout_.out_is_direct) set_packed_out();
      if (layout_.divides_first) lift_gradients();
      fold_tile();
      if (!layout_.out_is_direct) unpack_output();
    }
  }

 private:
  void fold_tile() {
    if (layout_.folds_planes_as_lanes())
      fold_planes_as_lanes();
    else if (layout_.method == RowMethod::lanes)
      fold_lanes();
    else if (layout_.method == RowMethod::single)
      fold_single_windows();
    else
      fold_rows_of_tile();
  }

  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }
  const AxisLayout& axis(int a) const { return layout_.axes[static_cast<std::size_t>(a)]; }

  // ---- where the tile is
  struct Side {
    Range outputs;
    Index lo = 0, hi = 0;  ///< cells that its windows have on the axis
    Index in_stride = 0, out_stride = 0;
    Index cells() const { return hi - lo; }
    Index count() const { return outputs.end - outputs.begin; }
  };

  void place_tile(Index number) {
    const auto take = [&number](Index all, Index tile) -> Range {
      const Index tiles = (all + tile - 1) / tile, begin = number % tiles * tile;
      number /= tiles;
      return {begin, std::min(all, begin + tile)};
    };
    lane_range_ = take(layout_.lanes, layout_.lanes_per_tile);
    strips_ = 1;
    for (int a = last_; a >= 0; --a) {
      Side& side = side_[a];
      const AxisLayout& of = axis(a);
      if (a == last_ && layout_.strips_per_tile > 1)
        side.outputs = take_strips(number);
      else
        side.outputs = take(of.windows.outputs, of.tile);
      side.lo = std::clamp<Index>(of.windows.begin(side.outputs.begin), 0, of.windows.cells);
      side.hi = std::clamp<Index>(of.windows.end(side.outputs.end - 1), side.lo, of.windows.cells);
      if (a >= layout_.lanes_from) {  // whole planes, whatever windows need of them
        side.lo = 0;
        side.hi = of.windows.cells;
      }
      side.in_stride = of.in_stride;
      side.out_stride = of.out_stride;
    }
    planes_ = take(layout_.planes, layout_.planes_per_tile);
  }
  /// Some strips of equal length, or the shorter one at the end of the row.
  Range take_strips(Index& number) {
    const AxisLayout& row = axis(last_);
    const Index groups = strip_groups(layout_), group = number % groups, whole = row.windows.outputs / row.tile;
    number /= groups;
    const Index first = group * layout_.strips_per_tile;
    if (first >= whole) return {whole * row.tile, row.windows.outputs};
    strips_ = std::min(layout_.strips_per_tile, whole - first);
    return {first * row.tile, (first + strips_) * row.tile};
  }
  struct Offsets {
    Index in = 0, out = 0;
    Index flat = 0, index = 0;  ///< of indices, and of their array
  };
  Offsets plane_offsets(Index plane) const {
    Offsets offsets;
    for (std::size_t i = layout_.loops.size(); i-- > 0;) {
      const LoopAxis& loop = layout_.loops[i];
      const Index position = plane % loop.extent;
      plane /= loop.extent;
      offsets.in += position * loop.stride.in;
      offsets.out += position * loop.stride.out;
      offsets.flat += position * loop.stride.tangent_in;
      offsets.index += position * loop.stride.tangent_out;
    }
    return offsets;
  }
  Index plane_count() const { return planes_.end - planes_.begin; }
  Index lane_count() const { return lane_range_.end - lane_range_.begin; }

  /// The first cell of the tile's box in a plane, and its first output.
  const S* box_of(Index plane) const {
    if (!layout_.in_is_direct)
      return at<S>(layout_.packed_in_at) + (plane - planes_.begin) * packed_plane_ + segment_offset_;
    const S* from = in_ + plane_offsets(plane).in + lane_range_.begin;
    for (int a = 0; a <= last_; ++a) from += side_[a].lo * side_[a].in_stride;
    return from;
  }
  R* result_of(Index plane) const {
    if (!layout_.out_is_direct) return at<R>(results_at_) + (plane - planes_.begin) * packed_results_;
    return array_result_of(plane);
  }
  R* array_result_of(Index plane) const requires(!E::has_positions) {
    R* to = out_ + plane_offsets(plane).out + lane_range_.begin;
    for (int a = 0; a <= last_; ++a) to += side_[a].outputs.begin * side_[a].out_stride;
    return to;
  }
  R* array_result_of(Index) const requires(E::has_positions) { return nullptr; }

  // ---- arrays whose rows do not lie in memory as they are folded
  /// How the elements of a box lie in an array: steps of the axes and of the lanes. The last axis is the row; planes
  /// that are evenly apart are the first.
  struct BoxSteps {
    int rank = 0;
    Index extent[max_rank + 1], step[max_rank + 1];
    Index lanes = 1, lane_step = 1;
    void add(Index cells, Index by) {
      extent[rank] = cells;
      step[rank++] = by;
    }
    int row() const { return rank - 1; }
    /// An axis before the row whose elements follow one another, where those of the row do not; -1 if there is none.
    int contiguous_axis() const {
      if (lanes > 1 || step[row()] == 1) return -1;
      for (int a = 0; a < row(); ++a)
        if (step[a] == 1 && extent[a] > 1) return a;
      return -1;
    }
    /// Calls visit(offset in the array, offset in the packed box, packed step of `matrix_axis`) for each row, or for
    /// each matrix of `matrix_axis` and row.
    template <class Visit>
    void for_each_row(int matrix_axis, const Visit& visit) const {
      Index position[max_rank + 1] = {}, packed_step[max_rank + 1] = {};
      Index rows = 1, packed = extent[row()] * lanes;
      for (int a = row() - 1; a >= 0; --a) {
        position[a] = 0;
        packed_step[a] = packed;
        packed *= extent[a];
        if (a != matrix_axis) rows *= extent[a];
      }
      const Index pitch = matrix_axis < 0 ? 0 : packed_step[matrix_axis];
      Index offset = 0, at = 0;
      for (Index r = 0; r < rows; ++r) {
        visit(offset, at, pitch);
        for (int a = row() - 1; a >= 0; --a) {
          if (a == matrix_axis) continue;
          offset += step[a], at += packed_step[a];
          if (++position[a] < extent[a]) break;
          offset -= step[a] * extent[a], at -= packed_step[a] * extent[a];
          position[a] = 0;
        }
      }
    }
  };
  static void pack_box(const S* from, const BoxSteps& box, S* to) {
    const Index cells = box.extent[box.row()], step = box.step[box.row()], lanes = box.lanes, lane_step = box.lane_step;
    const int matrix_axis = box.contiguous_axis();
    box.for_each_row(matrix_axis, [&](Index offset, Index packed, Index pitch) {
      const S* const row = from + offset;
      S* const result = to + packed;
      if (matrix_axis >= 0) return copy_transposed(row, step, cells, box.extent[matrix_axis], result, pitch);
      if (lanes > 1 && step == 1) return copy_transposed(row, lane_step, lanes, cells, result, lanes);
      if (lanes > 1 && lane_step == 1) {
        for (Index c = 0; c < cells; ++c) std::copy_n(row + c * step, lanes, result + c * lanes);
      } else if (lanes > 1) {
        for (Index c = 0; c < cells; ++c)
          for (Index l = 0; l < lanes; ++l) result[c * lanes + l] = row[c * step + l * lane_step];
      } else if (step == 2) {  // known to the compiler, which vectorises it
        for (Index c = 0; c < cells; ++c) result[c] = row[2 * c];
      } else {
        for (Index c = 0; c < cells; ++c) result[c] = row[c * step];
      }
    });
  }
  static void unpack_box(const S* from, const BoxSteps& box, S* to) {
    const Index count = box.extent[box.row()], step = box.step[box.row()], lanes = box.lanes, lane_step = box.lane_step;
    const int matrix_axis = box.contiguous_axis();
    box.for_each_row(matrix_axis, [&](Index offset, Index packed, Index pitch) {
      const S* const row = from + packed;
      S* const result = to + offset;
      if (matrix_axis >= 0) return copy_transposed(row, pitch, box.extent[matrix_axis], count, result, step);
      if (lanes > 1 && step == 1) return copy_transposed(row, lanes, count, lanes, result, lane_step);
      if (lanes > 1 && lane_step == 1) {
        for (Index o = 0; o < count; ++o) std::copy_n(row + o * lanes, lanes, result + o * step);
      } else {
        for (Index o = 0; o < count; ++o)
          for (Index l = 0; l < lanes; ++l) result[o * step + l * lane_step] = row[o * lanes + l];
      }
    });
  }
  /// Calls move(first plane, box) for all planes at once, whose box then has them as its first axis, or for one after
  /// the other.
  template <class Move>
  void for_planes(Index Strides::*array, const Move& move) const {
    const bool is_even = layout_.loops.size() == 1;
    BoxSteps box;
    if (is_even) box.add(plane_count(), layout_.loops[0].stride.*array);
    for (Index plane = planes_.begin; plane < planes_.end; plane += is_even ? plane_count() : 1) move(plane, box);
  }
  void pack_input() {
    const Index lanes = lane_count();
    packed_plane_ = lanes;
    for (int a = 0; a <= last_; ++a) packed_plane_ *= side_[a].cells();
    if (packed_plane_ > 0)
      for_planes(&Strides::in, [&](Index plane, BoxSteps box) {
        const S* from = in_ + plane_offsets(plane).in + lane_range_.begin * layout_.lane_in_stride;
        for (int a = 0; a <= last_; ++a) {
          from += side_[a].lo * axis(a).in_stride;
          box.add(side_[a].cells(), axis(a).in_stride);
        }
        box.lanes = lanes;
        box.lane_step = layout_.lane_in_stride;
        pack_box(from, box, at<S>(layout_.packed_in_at) + (plane - planes_.begin) * packed_plane_);
      });
    Index stride = lanes;
    for (int a = last_; a >= 0; --a) {
      side_[a].in_stride = stride;
      stride *= side_[a].cells();
    }
  }
  void set_packed_out() {
    Index stride = lane_count();
    for (int a = last_; a >= 0; --a) {
      side_[a].out_stride = stride;
      stride *= side_[a].count();
    }
    packed_results_ = stride;
  }
  void unpack_output() {
    for_planes(&Strides::out, [&](Index plane, BoxSteps box) {
      S* to = out_ + plane_offsets(plane).out + lane_range_.begin * layout_.lane_out_stride;
      for (int a = 0; a <= last_; ++a) {
        to += side_[a].outputs.begin * axis(a).out_stride;
        box.add(side_[a].count(), axis(a).out_stride);
      }
      box.lanes = lane_count();
      box.lane_step = layout_.lane_out_stride;
      unpack_box(at<S>(layout_.packed_out_at) + (plane - planes_.begin) * packed_results_, box, to);
    });
  }

  // ---- extremes with their positions
  void run_with_positions() requires(E::has_positions) {
    Side whole[max_rank];
    std::copy_n(side_, last_ + 1, whole);
    for (int a = 0; a <= last_; ++a) first_cell_[a] = whole[a].lo;
    positions_->reset();
    if (layout_.method == RowMethod::scanned) return scan_windows(whole);
    const int cut = layout_.cut_axis;
    const Index lo = cut < 0 ? 0 : whole[cut].lo, hi = cut < 0 ? 1 : whole[cut].hi;
    const Index piece = cut < 0 ? 1 : layout_.cut_cells;
    set_packed_out();
    const Index count = plane_count() * packed_results_;
    for (Index begin = lo; begin == lo || begin < hi; begin += piece) {
      if (cut >= 0) {
        side_[cut].lo = begin;
        side_[cut].hi = std::min(hi, begin + piece);
      }
      for (int a = 0; a <= last_; ++a) side_[a].in_stride = axis(a).in_stride;
      if (!layout_.in_is_direct) pack_input();
      if (layout_.method != RowMethod::single) lift_positions();  // else segment by segment
      results_at_ = begin == lo ? layout_.packed_out_at : layout_.pieces_at;
      fold_tile();
      if (begin == lo) continue;
      Work* const all = at<Work>(layout_.packed_out_at);
      const Work* rows[2] = {all, at<Work>(layout_.pieces_at)};
      fold_one<E>(2, rows, all, count, finish_);
    }
    write_argmax(whole);
  }
  /// Makes a packed box of elements with their positions, relative to the first cell of the tile.
  void lift_positions() requires(E::has_positions) {
    BoxAxis box[max_rank];
    Index cells = lane_count(), from_first = 0;
    for (int a = 0; a <= last_; ++a) {
      box[a] = {side_[a].cells(), side_[a].in_stride, axis(a).cell_stride};
      cells *= box[a].cells;
      from_first += (side_[a].lo - first_cell_[a]) * axis(a).cell_stride;
    }
    lifted_ = {at<Work>(layout_.lifted_at), plane_count(), cells};
    if (cells == 0) return;
    Work* const to = at<Work>(layout_.lifted_at);
    if (!layout_.in_is_direct || layout_.loops.size() == 1) {  // planes are one more axis, which moves no position
      BoxAxis all[max_rank + 1];
      all[0] = {plane_count(), layout_.in_is_direct ? layout_.loops[0].stride.in : packed_plane_, 0};
      std::copy_n(box, last_ + 1, all + 1);
      return (*positions_)(box_of(planes_.begin), all, last_ + 2, lane_count(), from_first, to);
    }
    for (Index plane = planes_.begin; plane < planes_.end; ++plane)
      (*positions_)(box_of(plane), box, last_ + 1, lane_count(), from_first, to + (plane - planes_.begin) * cells);
  }
  /// Large windows of neighbouring cells: each is scanned by itself.
  void scan_windows(const Side* whole) requires(E::has_positions) {
    for (int a = 0; a <= last_; ++a) side_[a].in_stride = axis(a).in_stride;
    if (!layout_.in_is_direct) pack_input();
    set_packed_out();
    ScanRow* const rows = at<ScanRow>(layout_.scan_rows_at);
    WindowScan<E> scan(finish_);
    Work* to = at<Work>(layout_.packed_out_at);
    const Side& row = side_[last_];
    for (Index plane = planes_.begin; plane < planes_.end; ++plane) {
      Index output[max_rank];
      for (int a = 0; a < last_; ++a) output[a] = side_[a].outputs.begin;
      for (;;) {
        const Index count = list_scan_rows(output, rows);
        WindowWalk walk(axis(last_).windows, row.outputs.begin);
        for (Index o = 0; o < row.count(); ++o) {
          const NominalTaps taps = walk.next();
          const Index begin = std::max(taps.first, row.lo), end = std::min(taps.first + taps.count, row.hi);
          const Index step = axis(last_).cell_stride;
          Work& result = *to++;
          if (count == 0 || begin >= end) {
            result = E::identity(finish_);
            continue;
          }
          move_columns(rows, count, (begin - row.lo), step);
          result = scan(box_of(plane), rows, count, end - begin, step);
          move_columns(rows, count, -(begin - row.lo), step);
        }
        int a = last_ - 1;
        for (; a >= 0 && ++output[a] == side_[a].outputs.end; --a) output[a] = side_[a].outputs.begin;
        if (a < 0) break;
      }
    }
    if (scan.saw_zero()) positions_->assume_negative_zero();
    write_argmax(whole);
  }
  static void move_columns(ScanRow* rows, Index count, Index by, Index step) {
    if (by == 0) return;
    for (Index r = 0; r < count; ++r) rows[r].offset += by, rows[r].position += by * step;
  }
  /// The rows of the windows of some outputs of all axes but the last, in row-major order. Answers their number.
  Index list_scan_rows(const Index* output, ScanRow* rows) const requires(E::has_positions) {
    Index count = 1;
    rows[0] = {0, 0};
    for (int a = last_ - 1; a >= 0; --a) {
      const Windows& w = axis(a).windows;
      const NominalTaps taps = w.taps(output[a]);
      const Index skipped = taps.first < side_[a].lo ? detail::ceil_divide(side_[a].lo - taps.first, w.tap_step) : 0;
      const Index first = taps.first + skipped * w.tap_step;
      const Index present =
          first >= side_[a].hi ? 0 : std::min(taps.count - skipped, (side_[a].hi - 1 - first) / w.tap_step + 1);
      if (present <= 0) return 0;
      for (Index t = present - 1; t >= 0; --t) {  // backwards: the first copy is what others are made of
        const Index cell = first + t * w.tap_step - side_[a].lo;
        for (Index r = 0; r < count; ++r)
          rows[t * count + r] = {rows[r].offset + cell * side_[a].in_stride,
                                 rows[r].position + cell * axis(a).cell_stride};
      }
      count *= present;
    }
    return count;
  }
  void write_argmax(const Side* whole) requires(E::has_positions) {
    ResultBox<S> box;
    box.first_lane = lane_range_.begin;
    box.lanes = lane_count();
    box.has_negative_zeros = positions_->saw_negative_zero();
    Index value_at = lane_range_.begin * layout_.lane_out_stride,
          index_at = lane_range_.begin * layout_.lane_index_stride;
    Index flat = 0;
    for (int a = 0; a <= last_; ++a) {
      box.outputs[a] = whole[a].outputs;
      box.first_cell[a] = whole[a].lo;
      value_at += whole[a].outputs.begin * axis(a).out_stride;
      index_at += whole[a].outputs.begin * axis(a).index_stride;
      flat += whole[a].lo * axis(a).cell_stride;
    }
    const bool is_even = layout_.loops.size() == 1 && layout_.loops[0].stride.tangent_in == 0;
    box.planes = is_even ? plane_count() : 1;
    if (is_even) {
      const Strides& step = layout_.loops[0].stride;
      box.in_step = step.in, box.value_step = step.out, box.index_step = step.tangent_out;
    }
    for (Index plane = planes_.begin; plane < planes_.end; plane += box.planes) {
      const Offsets offsets = plane_offsets(plane);
      box.in = in_ + offsets.in + lane_range_.begin * layout_.lane_in_stride;
      box.values = out_ == nullptr ? nullptr : out_ + offsets.out + value_at;
      box.indices = indices_ + (offsets.index + index_at) * index_size(index_kind_);
      box.first_flat = flat + offsets.flat;
      (*results_)(at<Work>(layout_.packed_out_at) + (plane - planes_.begin) * packed_results_, box);
    }
  }

  // ---- gradients, which are divided before they are summed
  /// Makes a packed box of working elements of the tile's input, divided.
  void lift_gradients() {
    const Index lanes = lane_count(), length = side_[last_].cells() * lanes;
    Index rows = 1;
    for (int a = 0; a < last_; ++a) rows *= side_[a].cells();
    Finish f = finish_;
    f.averages = true;
    f.count = layout_.divisor;
    f.reciprocal = layout_.one_divisor ? finish_.reciprocal : 0;
    if (!layout_.one_divisor) f.counts = lift_counts(lanes);
    lifted_ = {at<Work>(layout_.lifted_at), plane_count(), rows * length};
    if (layout_.one_divisor && box_is_one_run(lifted_.item))
      return divide_row(box_of(planes_.begin), at<Work>(layout_.lifted_at), plane_count() * lifted_.item, f);
    for (Index plane = planes_.begin; plane < planes_.end; ++plane) {
      const S* const from = box_of(plane);
      Work* const to = at<Work>(layout_.lifted_at) + (plane - planes_.begin) * lifted_.item;
      Index position[max_rank] = {};
      for (Index r = 0; r < rows; ++r) {
        Index offset = 0;
        double count = layout_.divisor;
        for (int a = 0; a < last_; ++a) {
          offset += position[a] * side_[a].in_stride;
          if (!layout_.one_divisor) count *= axis(a).counts[static_cast<std::size_t>(side_[a].lo + position[a])];
        }
        f.count = count;
        lift_row(from + offset, to + r * length, lanes, f);
        for (int a = last_ - 1; a >= 0 && ++position[a] == side_[a].cells(); --a) position[a] = 0;
      }
    }
  }
  /// True if the cells of all planes of the tile follow one another in memory.
  bool box_is_one_run(Index plane_cells) const {
    Index run = lane_count();
    for (int a = last_; a >= 0; --a) {
      if (side_[a].cells() > 1 && side_[a].in_stride != run) return false;
      run *= side_[a].cells();
    }
    if (plane_count() == 1 || !layout_.in_is_direct) return true;
    return layout_.loops.size() == 1 && layout_.loops[0].stride.in == plane_cells;
  }
  /// A row of the box; its cells may be apart where lanes are rows.
  void lift_row(const S* from, Work* to, Index lanes, const Finish& f) {
    const Index cells = side_[last_].cells(), step = side_[last_].in_stride;
    if (step == lanes || cells == 1) return divide_row(from, to, cells * lanes, f);
    Finish of_cell = f;
    for (Index c = 0; c < cells; ++c) {
      if (f.counts != nullptr) of_cell.counts = f.counts + c * lanes;
      divide_row(from + c * step, to + c * lanes, lanes, of_cell);
    }
  }
  void divide_row(const S* from, Work* to, Index n, const Finish& f) {
    if constexpr (E::is_sum && std::is_floating_point_v<Work>) {
      const Stored<S>* rows[1] = {reinterpret_cast<const Stored<S>*>(from)};
      auto* const results = reinterpret_cast<Stored<Work>*>(to);
      fold_rows<Divided<E>, 1, Join::tree>(FoldCall<Stored<S>, Stored<Work>>{rows, nullptr, 1, results, 0, n, f});
    }
  }
  const double* lift_counts(Index lanes) {
    double* const counts = at<double>(layout_.counts_at);
    for (Index c = 0; c < side_[last_].cells(); ++c)
      std::fill_n(counts + c * lanes, lanes, axis(last_).counts[static_cast<std::size_t>(side_[last_].lo + c)]);
    return counts;
  }

  // ---- divisors
  bool has_counts() const { return !layout_.one_divisor && !layout_.divides_first; }
  /// Factor of the divisor of item `item`: its outputs on axes [0, end), numbered within the tile, planes before them.
  double count_of(Index item, int end) const {
    double count = 1;
    for (int a = end - 1; a >= 0; --a) {
      const Index o = item % side_[a].count();
      item /= side_[a].count();
      count *= axis(a).counts[static_cast<std::size_t>(side_[a].outputs.begin + o)];
    }
    return count;
  }

  // ---- stages in the form of rows
  /// A box of working elements: `items` of them, each the outputs so far times the cells of the other axes.
  struct Box {
    const Work* from = nullptr;  ///< null while the source is the array
    Index items = 0;
    Index item = 0;  ///< elements of one
  };
  bool lifts_first() const { return E::has_positions || layout_.divides_first; }
  Box first_box() const { return lifts_first() ? lifted_ : Box{nullptr, plane_count(), 0}; }
  /// Elements of the box behind axis a, per cell of that axis.
  Index cells_behind(int a, Index row_width) const {
    Index cells = row_width;
    for (int b = last_; b > a; --b) cells *= b == last_ && layout_.method != RowMethod::lanes ? 1 : side_[b].cells();
    return cells;
  }

  /// Folds axis `a` of every item, from the array or the box before. `to_item(i)` is where item i's results begin,
  /// `to_step` apart.
  template <class ToItem>
  void fold_stage(int a, const Box& box, Index row_width, const ToItem& to_item, Index to_step) {
    const AxisLayout& of = axis(a);
    const Side& side = side_[a];
    const Index behind = cells_behind(a, row_width);
    if (box.from != nullptr) {
      for (Index i = 0; i < box.items; ++i)
        fold_(AxisCall<Work, Work>{of, side.outputs, side.lo, side.hi, box.from + i * box.item, behind, behind,
                                   to_item(i), to_step, nullptr});
      return;
    }
    if constexpr (!E::has_positions) fold_array_stage(a, box, row_width, behind, to_item, to_step);
  }
  template <class ToItem>
  void fold_array_stage(int a, const Box& box, Index row_width, Index behind, const ToItem& to_item, Index to_step) {
    const AxisLayout& of = axis(a);
    const Side& side = side_[a];
    // The array: runs of the box that follow one another in memory are folded together.
    Index run = row_width;
    int top = layout_.method == RowMethod::lanes ? last_ + 1 : last_;
    while (top > a + 1 && side_[top - 1].in_stride == run) run *= side_[--top].cells();
    for (Index i = 0; i < box.items; ++i) {
      const SourceOf<E>* const from = reinterpret_cast<const SourceOf<E>*>(box_of(planes_.begin + i));
      Index position[max_rank] = {};
      for (Index at = 0; at < behind; at += run) {
        Index offset = 0;
        for (int b = a + 1; b < top; ++b) offset += position[b] * side_[b].in_stride;
        fold_(AxisCall<SourceOf<E>, Work>{of, side.outputs, side.lo, side.hi, from + offset, side.in_stride, run,
                                          to_item(i) + at, to_step, nullptr});
        for (int b = top - 1; b > a && ++position[b] == side_[b].cells(); --b) position[b] = 0;
      }
    }
  }
  /// Folds axes [0, end) into packed boxes.
  Box fold_axes(int end, Index row_width) {
    Box box = first_box();
    for (int a = 0; a < end; ++a) {
      Work* const to = at<Work>(layout_.stage_at[a % 2]);
      const Index behind = cells_behind(a, row_width), item = side_[a].count() * behind;
      fold_stage(
          a, box, row_width, [&](Index i) { return to + i * item; }, behind);
      box = {to, box.items * side_[a].count(), behind};
    }
    return box;
  }

  /// Where the results of item i begin: its outputs on axes [0, end) and its plane.
  R* result_of_item(Index item, int end) const {
    Index offset = 0;
    for (int a = end - 1; a >= 0; --a) {
      offset += item % side_[a].count() * side_[a].out_stride;
      item /= side_[a].count();
    }
    return result_of(planes_.begin + item) + offset;
  }

  /// Where the results of items [first, first + count) begin.
  void place_results(R** to, Index first, Index count, int end) const {
    Index position[max_rank] = {}, offset = 0, plane = first;
    for (int a = end - 1; a >= 0; --a) {
      position[a] = plane % side_[a].count();
      plane /= side_[a].count();
      offset += position[a] * side_[a].out_stride;
    }
    R* result = result_of(planes_.begin + plane);
    for (Index r = 0; r < count; ++r) {
      to[r] = result + offset;
      int a = end - 1;
      for (; a >= 0; --a) {
        offset += side_[a].out_stride;
        if (++position[a] < side_[a].count()) break;
        offset -= side_[a].out_stride * side_[a].count();
        position[a] = 0;
      }
      if (a >= 0) continue;
      ++plane;
      if (planes_are_even())
        result += plane_step();
      else if (r + 1 < count)
        result = result_of(planes_.begin + plane);
    }
  }
  /// Results of planes are equally far apart.
  bool planes_are_even() const { return !layout_.out_is_direct || layout_.loops.size() == 1; }
  Index plane_step() const { return layout_.out_is_direct ? layout_.loops[0].stride.out : packed_results_; }

  // ---- lanes fill vectors
  void fold_lanes() {
    const Index width = lane_count();
    const Box box = fold_axes(last_, width);
    const Side& side = side_[last_];
    const double* counts = has_counts() ? axis(last_).counts.data() + side.outputs.begin : nullptr;
    for (Index i = 0; i < box.items; ++i) {
      Finish f = finish_;
      if (has_counts()) f.count = finish_.count * count_of(i, last_);
      AxisFold<E> fold(fold_, f);
      R* const to = result_of_item(i, last_);
      if (box.from != nullptr)
        row_fold_.fold_and_finish(fold, axis(last_), side.outputs, side.lo, side.hi, box.from + i * box.item, width,
                                  width, to, side.out_stride, counts, f);
      else if constexpr (!E::has_positions)
        row_fold_.fold_and_finish(fold, axis(last_), side.outputs, side.lo, side.hi,
                                  reinterpret_cast<const SourceOf<E>*>(box_of(planes_.begin + i)), side.in_stride,
                                  width, to, side.out_stride, counts, f);
    }
  }

  // ---- rows in scratch
  /// Working elements of a plane that is one row, from `offset` on.
  void copy_row(Index plane, Index offset, Index width, Work* to) {
    if (lifts_first()) {
      std::memcpy(static_cast<void*>(to),
                  lifted_.from + (plane - planes_.begin) * lifted_.item + offset + segment_offset_,
                  static_cast<std::size_t>(width) * sizeof(Work));
      return;
    }
    if constexpr (!E::has_positions) copy_array_row(plane, offset, width, to);
  }
  void copy_array_row(Index plane, Index offset, Index width, Work* to) {
    const SourceOf<E>* from[1] = {reinterpret_cast<const SourceOf<E>*>(box_of(plane)) + offset};
    fold_one<E>(1, from, to, width, finish_);
  }
  /// Makes rows of the cells [lo, hi) of the last axis: `lead` elements before them and all behind them, up to
  /// `length`, are identities. Answers their number.
  Index make_rows(Index lead, Index width, Index length, Index pitch) {
    Work* const rows = at<Work>(layout_.rows_at);
    Index count = 0;
    lead = std::clamp<Index>(lead, 0, length);  // all of a row may lie before or behind the cells
    if (last_ == 0) {
      for (Index plane = planes_.begin; plane < planes_.end; ++plane, ++count) {
        if (width > 0) copy_row(plane, 0, width, rows + count * pitch + lead);
      }
    } else {
      const Box box = fold_axes(last_ - 1, width);
      const Index step = side_[last_ - 1].count() * pitch;
      if (width > 0)
        fold_stage(
            last_ - 1, box, width, [&](Index i) { return rows + i * step + lead; }, pitch);
      count = box.items * side_[last_ - 1].count();
    }
    const Work identity = E::identity(finish_);
    for (Index r = 0; r < count; ++r) {
      Work* const row = rows + r * pitch;
      std::fill_n(row, std::min(lead, length), identity);
      if (lead + width < length) std::fill(row + lead + width, row + length, identity);
    }
    return count;
  }
  void fold_rows_of_tile() {
    const Windows& w = axis(last_).windows;
    const bool is_padded = layout_.halvings > 0 || layout_.method == RowMethod::shifted ||
                           layout_.method == RowMethod::evens || layout_.method == RowMethod::phases;
    if (strips_ > 1) return fold_strips();
    const Side& side = side_[last_];
    const Index begin = is_padded ? w.begin(side.outputs.begin) : side.lo;
    const Index end = is_padded ? w.end(side.outputs.end - 1) : side.hi;
    RowBatch<E> batch;
    batch.from = at<Work>(layout_.rows_at);
    batch.pitch = layout_.row_pitch;
    batch.cells = end - begin;
    batch.outputs = side.outputs;
    batch.first_cell = begin;
    batch.rows = make_rows((side.lo - begin) * layout_.lanes, side.cells() * layout_.lanes,
                           (end - begin) * layout_.lanes, batch.pitch);
    fill_targets(batch, batch.rows);
    row_fold_(batch);
  }
  void fill_targets(RowBatch<E>& batch, Index rows) {
    batch.to = at<R*>(layout_.pointers_at);
    place_results(batch.to, 0, rows, last_);
    if (!has_counts()) return;
    double* const counts = at<double>(layout_.counts_at);
    for (Index r = 0; r < rows; ++r) counts[r] = count_of(r, last_);
    batch.row_counts = counts;
    double* const of_outputs = counts + layout_.row_capacity + 64;
    const Side& side = side_[last_];
    for (Index o = 0; o < side.count(); ++o)
      std::fill_n(of_outputs + o * layout_.lanes, layout_.lanes,
                  axis(last_).counts[static_cast<std::size_t>(side.outputs.begin + o)]);
    batch.output_counts = of_outputs;
  }
  /// Strips of one row, side by side.
  void fold_strips() {
    const AxisLayout& row = axis(last_);
    const Windows& w = row.windows;
    const Side& side = side_[last_];
    RowBatch<E> batch;
    batch.from = at<Work>(layout_.rows_at);
    batch.pitch = layout_.row_pitch;
    batch.rows = strips_;
    batch.outputs = {side.outputs.begin, side.outputs.begin + row.tile};
    batch.first_cell = w.begin(batch.outputs.begin);
    batch.cells = w.end(batch.outputs.end - 1) - batch.first_cell;
    batch.to = at<R*>(layout_.pointers_at);
    const Work identity = E::identity(finish_);
    const Index lanes = layout_.lanes;
    for (Index s = 0; s < strips_; ++s) {
      const Index begin = w.begin(side.outputs.begin + s * row.tile), end = begin + batch.cells;
      const Index lo = std::clamp<Index>(begin, side.lo, side.hi), hi = std::clamp<Index>(end, lo, side.hi);
      Work* const to = batch.from + s * batch.pitch;
      const Index lead = std::clamp<Index>(lo - begin, 0, batch.cells), tail = lead + hi - lo;
      if (hi > lo) copy_row(planes_.begin, (lo - side.lo) * lanes, (hi - lo) * lanes, to + lead * lanes);
      std::fill_n(to, lead * lanes, identity);
      std::fill(to + tail * lanes, to + batch.cells * lanes, identity);
      batch.to[s] = result_of(planes_.begin) + s * row.tile * lanes;
    }
    row_fold_(batch);
  }

  // ---- one window along the last axis
  void fold_single_windows() {
    const Windows& w = axis(last_).windows;
    const Side whole = side_[last_];
    const Index begin = w.begin(0);
    Index first_segment = 0, segments = (w.kernel + layout_.segment - 1) / layout_.segment;
    if constexpr (E::has_positions) {  // a box may hold a piece of the window
      first_segment = std::max<Index>(0, whole.lo - begin) / layout_.segment;
      segments = std::max<Index>(1, (whole.hi - begin + layout_.segment - 1) / layout_.segment - first_segment);
    }
    Index rows = plane_count();
    for (int a = 0; a < last_; ++a) rows *= side_[a].count();
    RowBatch<E> batch;
    Work* partials = at<Work>(layout_.folded_at);
    for (Index s = 0; s < segments; ++s) {
      // A segment is a power of two of taps, so that the tree over segments is that over taps.
      const Index tap = (first_segment + s) * layout_.segment;
      const Index first = begin + tap, end = begin + std::min(w.kernel, tap + layout_.segment);
      Side& side = side_[last_];
      side.lo = std::clamp<Index>(first, whole.lo, whole.hi);
      side.hi = std::clamp<Index>(end, side.lo, whole.hi);
      batch.from = at<Work>(layout_.rows_at);
      batch.pitch = layout_.row_pitch;
      batch.cells = end - first;
      segment_offset_ = layout_.in_is_direct && (E::has_positions || !lifts_first()) ? 0 : side.lo - whole.lo;
      if constexpr (E::has_positions) {
        lift_positions();
        segment_offset_ = 0;
      }
      if (side.lo == first && side.hi == end && joins_array_rows(batch.cells))
        batch = joined_array_rows(batch);
      else
        batch.rows = make_rows(side.lo - first, side.cells(), end - first, batch.pitch);
      row_fold_.join_all(batch, partials + s * rows);
    }
    segment_offset_ = 0;
    side_[last_] = whole;
    fill_targets(batch, rows);
    finish_single_windows(batch, rows, segments, partials);
  }
  /// Long rows of arrays are joined as they are read.
  bool joins_array_rows(Index cells) const {
    constexpr Index many = 1024;
    return last_ == 0 && !lifts_first() && cells >= many;
  }
  RowBatch<E> joined_array_rows(const RowBatch<E>& segment) {
    RowBatch<E> batch = segment;
    batch.cells = (segment.cells + 7) / 8;
    batch.pitch = (batch.cells + 63) / 64 * 64 + 64;
    batch.rows = plane_count();
    if constexpr (!E::has_positions)
      for (Index r = 0; r < batch.rows; ++r)
        row_fold_.join_eights_of(reinterpret_cast<const SourceOf<E>*>(box_of(planes_.begin + r)), segment.cells,
                                 batch.from + r * batch.pitch);
    return batch;
  }
  void finish_single_windows(const RowBatch<E>& batch, Index rows, Index segments, Work* partials) {
    Work* results = partials;
    if (segments > 1) {
      results = partials + segments * rows + 64;
      AxisLayout joins;
      joins.windows = {segments, 1, Windows::Kind::regular, segments};
      fold_(AxisCall<Work, Work>{joins, {0, 1}, 0, segments, partials, rows, rows, results, rows, nullptr});
    }
    Finish f = finish_;
    if (has_counts()) {
      f.count = finish_.count * axis(last_).counts[0];
      f.counts = batch.row_counts;
    }
    R* const done = at<R>(layout_.stored_at);
    RowFold<E>::finish(results, rows, done, f);
    for (Index r = 0; r < rows; ++r) *batch.to[r] = done[r];
  }

  // ---- planes, or what is left of them, as lanes
  void fold_planes_as_lanes() {
    const int first = layout_.lanes_from;
    Index cells = layout_.lanes, results = layout_.lanes;
    for (int a = last_; a >= first; --a) {
      cells *= axis(a).windows.cells;
      results *= axis(a).windows.outputs;
    }
    const Box box = first > 0       ? fold_whole_axes(first, cells)
                    : lifts_first() ? lifted_
                                    : Box{nullptr, plane_count(), cells};
    for (Index begin = 0; begin < box.items; begin += layout_.lane_group)
      fold_lane_group(box, begin, std::min(layout_.lane_group, box.items - begin), cells, results);
  }
  /// The same as fold_axes for the axis before whole planes: all cells behind follow one another. The box is kept apart
  /// from the stages of the groups of lanes that are made of it.
  Box fold_whole_axes(int end, Index cells) {
    Box box = first_box();
    for (int a = 0; a < end; ++a) {
      Index behind = cells;
      for (int b = a + 1; b < end; ++b) behind *= side_[b].cells();
      Work* const to = at<Work>(layout_.whole_at);
      const Index item = side_[a].count() * behind;
      for (Index i = 0; i < box.items; ++i) {
        if (box.from != nullptr)
          fold_(AxisCall<Work, Work>{axis(a), side_[a].outputs, side_[a].lo, side_[a].hi, box.from + i * box.item,
                                     behind, behind, to + i * item, behind, nullptr});
        else if constexpr (!E::has_positions)
          fold_(AxisCall<SourceOf<E>, Work>{axis(a), side_[a].outputs, side_[a].lo, side_[a].hi,
                                            reinterpret_cast<const SourceOf<E>*>(whole_box_of(planes_.begin + i)),
                                            behind, behind, to + i * item, behind, nullptr});
      }
      box = {to, box.items * side_[a].count(), behind};
    }
    return box;
  }
  /// Cells of a plane whose axes from `lanes_from` on are whole.
  const S* whole_box_of(Index plane) const {
    const S* from = in_ + plane_offsets(plane).in;
    for (int a = 0; a < layout_.lanes_from; ++a) from += side_[a].lo * side_[a].in_stride;
    return from;
  }
  void fold_lane_group(const Box& box, Index begin, Index count, Index cells, Index results) {
    const int first = layout_.lanes_from;
    constexpr Index side = std::max(block_side<BitsOf<sizeof(Work)>>, block_side<BitsOf<sizeof(S)>>);
    const Index lanes = (count + side - 1) / side * side;
    Finish f = finish_;
    if (has_counts() && first > 0) {
      double* const counts = at<double>(layout_.counts_at);
      for (Index c = 0; c < layout_.lanes; ++c)
        for (Index r = 0; r < lanes; ++r) counts[c * lanes + r] = count_of(begin + std::min(r, count - 1), first);
      f.counts = counts;
    }
    R* const done = at<R>(layout_.stored_at);
    if (box.from != nullptr) {
      Work* const in = at<Work>(layout_.lanes_at);
      const Work* const from = box.from + begin * box.item;
      rows_to_lanes(EvenRows<const Work>{from, box.item, from + count * box.item}, count, cells, in, lanes);
      fold_from_lanes(in, lanes, cells, done, f);
    } else if constexpr (!E::has_positions) {
      S* const in = at<S>(layout_.lanes_at);
      const Index first_plane = planes_.begin + begin;
      if (layout_.loops.size() == 1) {
        const Index pitch = layout_.loops[0].stride.in;
        const S* const from = in_ + first_plane * pitch;
        const S* const end = in_ + (layout_.planes - 1) * pitch + cells;  // of all planes
        rows_to_lanes(EvenRows<const S>{from, pitch, pitch == cells ? end : from + (count - 1) * pitch + cells}, count,
                      cells, in, lanes);
      } else {
        const S** const from = at<const S*>(layout_.pointers_at);
        for (Index r = 0; r < count; ++r) from[r] = in_ + plane_offsets(first_plane + r).in;
        rows_to_lanes(ScatteredRows<const S>{from, cells}, count, cells, in, lanes);
      }
      fold_from_lanes(reinterpret_cast<const SourceOf<E>*>(in), lanes, cells, done, f);
    }
    write_lanes(begin, count, lanes, results, done);
  }
  template <class From>
  void fold_from_lanes(const From* in, Index lanes, Index cells, R* done, const Finish& f) {
    const int first = layout_.lanes_from;
    Index have = 1, inner = cells * lanes;
    const Work* now = nullptr;
    for (int a = first; a < last_; ++a) {
      const Windows& w = axis(a).windows;
      inner /= w.cells;
      Work* const to = at<Work>(layout_.stage_at[(a + 1) % 2]);
      for (Index h = 0; h < have; ++h) {
        if (now != nullptr)
          fold_(AxisCall<Work, Work>{axis(a),
                                     {0, w.outputs},
                                     0,
                                     w.cells,
                                     now + h * w.cells * inner,
                                     inner,
                                     inner,
                                     to + h * w.outputs * inner,
                                     inner,
                                     nullptr});
        else
          fold_(AxisCall<From, Work>{axis(a),
                                     {0, w.outputs},
                                     0,
                                     w.cells,
                                     in + h * w.cells * inner,
                                     inner,
                                     inner,
                                     to + h * w.outputs * inner,
                                     inner,
                                     nullptr});
      }
      now = to;
      have *= w.outputs;
    }
    const Windows& w = axis(last_).windows;
    inner /= w.cells;
    const double* counts = has_counts() ? axis(last_).counts.data() : nullptr;
    for (Index h = 0; h < have; ++h) {
      Finish of = f;
      if (has_counts()) of.count = f.count * count_of_whole(h);
      AxisFold<E> fold(fold_, of);
      R* const to = done + h * w.outputs * inner;
      if (now != nullptr)
        row_fold_.fold_and_finish(fold, axis(last_), {0, w.outputs}, 0, w.cells, now + h * w.cells * inner, inner,
                                  inner, to, inner, counts, of);
      else
        row_fold_.fold_and_finish(fold, axis(last_), {0, w.outputs}, 0, w.cells, in + h * w.cells * inner, inner, inner,
                                  to, inner, counts, of);
    }
  }
  /// Factor of the divisor of outputs number `number` of axes [lanes_from, last).
  double count_of_whole(Index number) const {
    double count = 1;
    for (int a = last_ - 1; a >= layout_.lanes_from; --a) {
      const Index outputs = axis(a).windows.outputs;
      count *= axis(a).counts[static_cast<std::size_t>(number % outputs)];
      number /= outputs;
    }
    return count;
  }
  void write_lanes(Index begin, Index count, Index lanes, Index results, const R* done) {
    if (layout_.lanes_from == 0 && planes_are_even() &&
        write_even_rows(done, lanes, result_of(planes_.begin + begin), plane_step(), count, results))
      return;
    R** const to = at<R*>(layout_.pointers_at);
    place_results(to, begin, count, layout_.lanes_from);
    write_rows(done, lanes, to, count, results);
  }

  const Layout& layout_;
  const S* in_;
  S* out_;
  char* indices_;
  IndexKind index_kind_;
  char* scratch_;
  const Finish& finish_;
  AxisFold<E> fold_;
  RowFold<E> row_fold_;
  int last_;
  Range planes_, lane_range_;
  Box lifted_;  ///< the tile's input, where gradients are divided first
  Index strips_ = 1, packed_plane_ = 0, packed_results_ = 0, segment_offset_ = 0;
  Index first_cell_[max_rank];  ///< of the tile, that positions are relative to
  std::size_t results_at_ = layout_.packed_out_at;
  std::optional<typename PositionsOf<E, E::has_positions>::Lift> positions_;
  std::optional<typename PositionsOf<E, E::has_positions>::Results> results_;
  Side side_[max_rank];
};

/// Runs some tiles of one pool.
template <class E>
void run_general(const GeneralJob& job) {
  Engine<E> engine(job);
  for (Index tile = job.first_tile; tile < job.last_tile; ++tile) engine.run_tile(tile);
}

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_ENGINE_INL_H_
