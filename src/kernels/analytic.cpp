// Smooth max and Lp: values and derivatives from sums of powers, compiled once for every instruction set.
#include "kernels/analytic.hpp"

#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/analytic.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/analytic-inl.h"
#include "kernels/planes-inl.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// out[i] = f(in[i] ...), vector by vector. The rest is filled up with its first element.
template <class N, class F, class... In>
HWY_INLINE void transform(Index count, N* out, const F& f, const In*... in) {
  const hn::ScalableTag<N> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, in + i)...), d, out + i);
  if (i == count) return;
  const auto rest = [&](const N* from) HWY_ATTR {
    HWY_ALIGN N all[hn::MaxLanes(d)];
    for (Index lane = 0; lane < lanes; ++lane) all[lane] = from[i + lane < count ? i + lane : i];
    return hn::Load(d, all);
  };
  HWY_ALIGN N results[hn::MaxLanes(d)];
  hn::Store(f(rest(in)...), d, results);
  std::copy(results, results + (count - i), out + i);
}

template <class T, class Powers>
class AnalyticPool {
 public:
  using N = typename Powers::N;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;

  explicit AnalyticPool(const AnalyticJob& job)
      : job_(job),
        rows_(job.rows),
        axis_(job.rows.horizontal.window),
        inner_(job.rows.inner.extent),
        blocks_(analytic_blocks(job.rows)),
        pitch_(((blocks_.row_bytes - 128) * sizeof(N) / 8 + 63) / 64 * 64 + 128),
        powers_(job.choice, job.use != AnalyticUse::values, job.rows.tap_count),
        full_(axis_.adaptive ? Range{0, 0} : axis_.full_outputs()) {
    outer_axes_ = std::max(0, rows_.vertical_count - 1);
    if (rows_.vertical_count > 0)
      last_ = rows_.vertical[outer_axes_];
    else
      last_.window = batch_axis(1);
    char* memory = static_cast<char*>(job.scratch);
    const auto take = [&](Index count) {
      char* start = memory;
      memory += static_cast<std::size_t>(count) * blocks_.row_bytes;
      return start;
    };
    kept_ = take(blocks_.kept_rows);
    exponents_ = take(blocks_.kept_rows);
    sums_ = take(blocks_.rows);
    spare_ = take(blocks_.spare_rows);
    columns_ = spare();
    along_scratch_ = memory;
    if (axis_.adaptive) return;
    along_.inner = {inner_, {1, 1, 1, 1}};
    along_.horizontal.stride.in = inner_;
    along_.horizontal.window = {0, 0, axis_.kernel, axis_.stride, axis_.dilation, 0, 0, false, true};
  }

  void operator()() {
    if (job_.use == AnalyticUse::vjp)
      zero_planes(rows_, job_.first_row, job_.last_row, static_cast<T*>(job_.tangent_in));
    RowCursor cursor(rows_, job_.first_row);
    for (Index row = job_.first_row; row < job_.last_row;) {
      cursor_ = &cursor;
      first_ = rows_.vertical_count > 0 ? cursor.vertical_position(outer_axes_) : 0;
      count_ = std::min({blocks_.rows, job_.last_row - row, last_.window.output - first_});
      for (begin_ = 0; begin_ < axis_.output; begin_ += blocks_.strip) {
        end_ = std::min(begin_ + blocks_.strip, axis_.output);
        run_block();
      }
      row += count_;
      for (Index i = 0; i < count_; ++i) cursor.next();
    }
  }

 private:
  N* row_at(char* rows, Index number) const {
    return reinterpret_cast<N*>(rows + static_cast<std::size_t>(number) * pitch_);
  }
  N* spare() { return row_at(spare_, used_++); }

  Index outputs() const { return (end_ - begin_) * inner_; }

  void run_block() {
    find_cells();
    if constexpr (Powers::has_split_powers)
      if (is_wide_ && can_split()) return write_split_values();
    if (powers_.needs_range()) powers_.set_range(find_range());
    const auto power = [this](N* to, const Strides& at) { raise_row(to, at); };
    zero_power_ = powers_.zero_power();
    keep_rows(power);
    for (Index j = 0; j < count_; ++j) {
      sum_windows(j, power, row_at(sums_, j));
      add_zeros(j);
    }
    if (job_.use == AnalyticUse::values) return write_values();
    if (job_.use == AnalyticUse::jvp) return write_tangents();
    return add_gradients();
  }

  // ---- cells ----

  /// The rows and columns that the windows of the block see. Rows of columns have their padding, too.
  void find_cells() {
    const Taps first = last_.window.taps(first_), last = last_.window.taps(first_ + count_ - 1);
    first_cell_ = first.first;
    last_cell_ = last.first + (last.count - 1) * last.step + 1;
    // Where windows are dilated, one in between may begin before the first, which has padding before it, and any may
    // end behind the last, which has padding behind it.
    if (!last_.window.adaptive)
      for (Index j = 0; j < count_; ++j) {
        const Taps taps = last_.window.taps(first_ + j);
        first_cell_ = std::min(first_cell_, taps.first);
        last_cell_ = std::max(last_cell_, taps.first + (taps.count - 1) * taps.step + 1);
      }
    if (axis_.adaptive) {
      first_column_ = 0;
      pixels_ = axis_.input;
    } else {
      first_column_ = axis_.start(begin_);
      pixels_ = axis_.span(end_ - begin_);
      along_.horizontal.window.input = pixels_;
      along_.horizontal.window.output = end_ - begin_;
      fold_.emplace(along_, columns_, along_scratch_);
    }
    real_column_ = std::max<Index>(first_column_, 0);
    real_pixels_ = std::min(first_column_ + pixels_, axis_.input) - real_column_;
  }

  /// Calls f(offsets) for every input row that an output row of the block may see, with cell `cell` of the last
  /// vertical axis: the loops over the outer axes.
  template <class F>
  void for_each_outer_row(int axis, Strides at, const F& f) const {
    if (axis < 0) return f(at);
    const PooledAxis& outer = rows_.vertical[axis];
    const Taps taps = outer.window.taps(cursor_->vertical_position(axis));
    for (Index r = 0; r < taps.count; ++r)
      for_each_outer_row(axis - 1, moved(at, outer, taps.first + r * taps.step), f);
  }
  static Strides moved(Strides at, const PooledAxis& axis, Index cell) {
    at.in += cell * axis.stride.in;
    at.tangent_in += cell * axis.stride.tangent_in;
    return at;
  }
  Strides at_cell(Index cell) const { return moved(cursor_->offset(), last_, cell); }

  /// The real columns of a row, packed and as numbers to count with: in place if they can be read so.
  const N* load(const void* array, Index offset, Index column_stride, Index lane_stride, Index first, Index pixels,
                N* copy) const {
    const T* from = static_cast<const T*>(array) + offset + first * column_stride;
    if constexpr (std::is_same_v<T, N>)
      if (column_stride == inner_ && (inner_ == 1 || lane_stride == 1)) return from;
    for (Index pixel = 0; pixel < pixels; ++pixel)
      for (Index lane = 0; lane < inner_; ++lane)
        copy[pixel * inner_ + lane] = static_cast<N>(from[pixel * column_stride + lane * lane_stride]);
    return copy;
  }
  const N* load_in(const Strides& at, N* copy) const {
    return load(job_.in, at.in, rows_.horizontal.stride.in, rows_.inner.stride.in, real_column_, real_pixels_, copy);
  }
  const N* load_tangent_in(const Strides& at, N* copy) const {
    return load(job_.tangent_in, at.tangent_in, rows_.horizontal.stride.tangent_in, rows_.inner.stride.tangent_in,
                real_column_, real_pixels_, copy);
  }

  FiniteRange<N> find_range() {
    const D d;
    const int free_row = used_;
    N* copy = spare();
    N* ignored = spare();
    const N largest = std::numeric_limits<N>::max();
    V low = hn::Set(d, largest), high = hn::Set(d, -largest);
    for (Index cell = first_cell_; cell < last_cell_; ++cell)
      if (is_seen(cell))
        for_each_outer_row(outer_axes_ - 1, at_cell(cell), [&](const Strides& at) HWY_ATTR {
          const N* x = load_in(at, copy);
          transform(
              real_pixels_ * inner_, ignored,
              [&](V v) HWY_ATTR {
                const auto is_finite = hn::Le(hn::Abs(v), hn::Set(d, largest));
                low = hn::Min(low, hn::IfThenElse(is_finite, v, low));
                high = hn::Max(high, hn::IfThenElse(is_finite, v, high));
                return v;
              },
              x);
        });
    used_ = free_row;
    FiniteRange<N> range{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
    if (range.lowest > range.highest) range = {0, 0};
    return range;
  }

  bool is_seen(Index cell) const {
    return last_.window.adaptive || last_.window.kernel >= last_.window.stride ||
           last_.window.outputs_seeing(cell).count > 0;
  }

  // ---- sums ----

  /// Zeros where the row has padding; `to` points to its real columns.
  void pad(N* row) const {
    std::fill(row, row + (real_column_ - first_column_) * inner_, N(0));
    std::fill(row + (real_column_ - first_column_ + real_pixels_) * inner_, row + pixels_ * inner_, N(0));
  }
  N* real_part(N* row) const { return row + (real_column_ - first_column_) * inner_; }

  HWY_NOINLINE void raise_row(N* to, const Strides& at) {
    const D d;
    const int free_row = used_;
    const N* x = load_in(at, spare());
    // A copy of its own: the numbers written could be its members, as far as a compiler knows.
    const Powers powers = powers_;
    transform(
        real_pixels_ * inner_, real_part(to), [d, powers](V v) HWY_ATTR { return powers.power(d, v); }, x);
    pad(to);
    used_ = free_row;
  }

  /// The slopes times the tangents. Tangents that could leave the range make the sum NaN, and so do those of weight 0
  /// that are not finite.
  HWY_NOINLINE void scale_tangents(N* to, const Strides& at) {
    const D d;
    const int free_row = used_;
    const N* x = load_in(at, spare());
    const N* dx = load_tangent_in(at, spare());
    const Powers powers = powers_;
    transform(
        real_pixels_ * inner_, real_part(to),
        [d, powers](V v, V tangent) HWY_ATTR {
          const V product = hn::Mul(powers.slope(d, v), tangent);
          return hn::IfThenElse(has_room(d, tangent), product, hn::Set(d, std::numeric_limits<N>::quiet_NaN()));
        },
        x, dx);
    pad(to);
    used_ = free_row;
  }

  static HWY_INLINE auto has_room(D d, V tangent) {
    const V size = hn::Abs(tangent), room = hn::Set(d, sizeof(N) == 4 ? N(0x1p60) : N(0x1p500));
    const V low = hn::Set(d, sizeof(N) == 4 ? N(0x1p-60) : N(0x1p-500));
    return hn::And(hn::Le(size, room), hn::Or(hn::Ge(size, low), hn::Eq(size, hn::Zero(d))));
  }

  /// One row of the last vertical axis: the sum over the outer taps of what `make(to, offsets)` makes of each.
  template <class Make>
  const N* make_row(int axis, const Strides& at, N* to, const Make& make) {
    if (axis < 0) {
      make(to, at);
      return to;
    }
    const PooledAxis& outer = rows_.vertical[axis];
    const Taps taps = outer.window.taps(cursor_->vertical_position(axis));
    sum_rows(taps.count, to, [&](Index r, N* row) {
      return make_row(axis - 1, moved(at, outer, taps.first + r * taps.step), row, make);
    });
    return to;
  }

  template <class Make>
  void keep_rows(const Make& make) {
    if (blocks_.kept_rows == 0) return;
    for (Index cell = first_cell_; cell < last_cell_; ++cell)
      if (is_seen(cell)) make_row(outer_axes_ - 1, at_cell(cell), kept(cell), make);
  }
  N* kept(Index cell) { return row_at(kept_, cell - first_cell_); }

  /// to = leaf(0) + ... + leaf(count - 1), as a tree; `leaf(number, row)` may use the row or answer another one.
  template <class Leaf>
  void sum_rows(Index count, N* to, const Leaf& leaf, Index first = 0) {
    const int free_row = used_;
    const Index length = pixels_ * inner_;
    if (count > 4) {
      const Index half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
      sum_rows(half, to, leaf, first);
      N* rest = spare();
      sum_rows(count - half, rest, leaf, first + half);
      add_rows(length, to, to, rest);
    } else {
      const N* row[4] = {};
      for (Index i = 0; i < count; ++i) row[i] = leaf(first + i, i == 0 ? to : spare());
      if (count == 1 && row[0] != to) std::copy(row[0], row[0] + length, to);
      if (count == 2) add_rows(length, to, row[0], row[1]);
      if (count == 3) add_rows(length, to, row[0], row[1], row[2]);
      if (count == 4) add_rows(length, to, row[0], row[1], row[2], row[3]);
    }
    used_ = free_row;
  }
  template <class... In>
  static HWY_NOINLINE void add_rows(Index length, N* to, const In*... in) {
    transform(
        length, to, [](auto... v) HWY_ATTR { return (v + ...); }, in...);
  }

  /// The sums over all windows of output row j of the block.
  template <class Make>
  void sum_windows(Index j, const Make& make, N* sums) {
    const int free_row = used_;
    const Taps taps = last_.window.taps(first_ + j);
    const auto cell = [&](Index r) { return taps.first + r * taps.step; };
    N* columns = columns_;
    if (blocks_.kept_rows == 0)
      sum_rows(taps.count, columns,
               [&](Index r, N* row) { return make_row(outer_axes_ - 1, at_cell(cell(r)), row, make); });
    else
      sum_rows(taps.count, columns, [&](Index r, N*) { return kept(cell(r)); });
    sum_along(columns, sums);
    used_ = free_row;
  }

  HWY_NOINLINE void sum_along(const N* columns, N* sums) {
    if (axis_.adaptive) {
      for (Index output = begin_; output < end_; ++output) {
        const Taps taps = axis_.taps(output);
        sum_pixels(columns + taps.first * inner_, taps.count, sums + (output - begin_) * inner_);
      }
      return;
    }
    (*fold_)(start_, sums, [&](const N* values, Index step, Index begin, Index end) {
      N* to = sums + begin * inner_;
      if (values == to) return;
      for (Index output = begin; output < end; ++output)
        for (Index lane = 0; lane < inner_; ++lane)
          to[(output - begin) * inner_ + lane] = values[(output - begin) * step * inner_ + lane];
    });
  }

  /// Pairwise, because a bin may be long.
  void sum_pixels(const N* pixels, Index count, N* sum) {
    if (inner_ == 1) {
      *sum = sum_numbers(pixels, count);
      return;
    }
    if (count <= 8) {
      std::copy(pixels, pixels + inner_, sum);
      for (Index pixel = 1; pixel < count; ++pixel) add_rows(inner_, sum, sum, pixels + pixel * inner_);
      return;
    }
    // A bin has no more pixels than the row, so there is room behind the halves' sums in a row of its own.
    const int free_row = used_;
    const Index half = count / 2;
    N* rest = row_at(along_scratch_, depth_++);
    sum_pixels(pixels, half, sum);
    sum_pixels(pixels + half * inner_, count - half, rest);
    add_rows(inner_, sum, sum, rest);
    --depth_;
    used_ = free_row;
  }
  static HWY_NOINLINE N sum_numbers(const N* numbers, Index count) {
    const D d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    if (count > 16 * lanes) {
      const Index half = count / 2 / lanes * lanes;
      return sum_numbers(numbers, half) + sum_numbers(numbers + half, count - half);
    }
    V sum = hn::Zero(d);
    Index i = 0;
    for (; i + lanes <= count; i += lanes) sum = sum + hn::LoadU(d, numbers + i);
    N total = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; i < count; ++i) total += numbers[i];
    return total;
  }

  /// Calls f(output, zeros, is single) for the outputs of row j that may have padded taps, or a single one. The number
  /// of zeros is not a product over the axes: it is all taps that count, without the real ones.
  template <class F>
  void for_each_padded(Index j, const F& f) const {
    if (!powers_.adds_zeros && Powers::single_taps_are_exact) return;
    TapCounts vertical;
    bool is_full = true;
    const auto count = [&](const Taps& taps) {
      vertical.real *= taps.count;
      vertical.counted *= taps.count + taps.padded;
      is_full = is_full && taps.count == taps.length;
    };
    count(last_.window.taps(first_ + j));
    for (int v = 0; v < outer_axes_; ++v) count(rows_.vertical[v].window.taps(cursor_->vertical_position(v)));
    if (axis_.adaptive && vertical.counted == vertical.real && vertical.real > 1) return;
    if (!powers_.adds_zeros && vertical.real > 1) return;
    const bool skips_full = is_full && !axis_.adaptive && vertical.real * axis_.kernel > 1;
    for (Index output = begin_; output < end_; ++output) {
      if (skips_full && output >= full_.begin && output < full_.end) {
        output = full_.end - 1;
        continue;
      }
      const Taps taps = axis_.taps(output);
      const Index real = vertical.real * taps.count;
      const Index zeros = powers_.adds_zeros ? vertical.counted * (taps.count + taps.padded) - real : 0;
      f(output, zeros, real + zeros == 1);
    }
  }

  /// Adds the padded taps. Windows of one tap, which must give that tap's number, are marked as not usable.
  void add_zeros(Index j) {
    N* sums = row_at(sums_, j);
    for_each_padded(j, [&](Index output, Index zeros, bool is_single) {
      N* sum = sums + (output - begin_) * inner_;
      for (Index lane = 0; lane < inner_; ++lane) {
        if (zeros > 0) sum[lane] += static_cast<N>(zeros) * zero_power_;
        if (!Powers::single_taps_are_exact && is_single) sum[lane] = std::numeric_limits<N>::quiet_NaN();
      }
    });
  }

  // ---- sums of powers with exponents of their own ----

  /// A row of numbers fraction * 2^exponent.
  struct SplitRow {
    N* fraction;
    N* exponent;
  };
  static constexpr N no_exponent = sizeof(N) == 4 ? N(-0x1p20) : N(-0x1p40);  ///< of a zero

  /// to += from. Rows have room for whole vectors.
  static HWY_NOINLINE void add_split(Index count, const SplitRow& to, const SplitRow& from) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    constexpr int bias = std::numeric_limits<N>::max_exponent - 1;
    const V shifter = hn::Set(d, N(1.5) * MathTable<N>::two_to_the_fraction_bits + N(bias)),
            least = hn::Set(d, N(1 - bias));
    const auto power_of_two = [&](V exponent) HWY_ATTR {
      const V shifted = hn::Max(exponent, least) + shifter;
      return hn::BitCast(d, hn::ShiftLeft<std::numeric_limits<N>::digits - 1>(hn::BitCast(du, shifted)));
    };
    for (Index i = 0; i < count; i += static_cast<Index>(hn::Lanes(d))) {
      const V a = hn::LoadU(d, to.exponent + i), b = hn::LoadU(d, from.exponent + i), both = hn::Max(a, b);
      const V earlier = hn::Mul(hn::LoadU(d, to.fraction + i), power_of_two(a - both));
      hn::StoreU(hn::MulAdd(hn::LoadU(d, from.fraction + i), power_of_two(b - both), earlier), d, to.fraction + i);
      hn::StoreU(both, d, to.exponent + i);
    }
  }

  HWY_NOINLINE void split_row(const SplitRow& to, const Strides& at) {
    const D d;
    const int free_row = used_;
    const N* x = load_in(at, spare());
    const Powers powers = powers_;
    N* exponents = real_part(to.exponent);
    Index i = 0;
    transform(
        real_pixels_ * inner_, real_part(to.fraction),
        [&i, d, powers, exponents](V v) HWY_ATTR {
          V exponent;
          const V fraction = powers.split_power(d, v, exponent);
          hn::StoreU(exponent, d, exponents + i);
          i += static_cast<Index>(hn::Lanes(d));
          return fraction;
        },
        x);
    pad(to.fraction);
    std::fill(to.exponent, exponents, no_exponent);
    std::fill(exponents + real_pixels_ * inner_, to.exponent + pixels_ * inner_, no_exponent);
    used_ = free_row;
  }

  SplitRow spare_split() {
    N* fraction = spare();
    return {fraction, spare()};
  }
  void copy_split(const SplitRow& from, const SplitRow& to) const {
    std::copy(from.fraction, from.fraction + pixels_ * inner_, to.fraction);
    std::copy(from.exponent, from.exponent + pixels_ * inner_, to.exponent);
  }
  SplitRow kept_split(Index cell) { return {kept(cell), row_at(exponents_, cell - first_cell_)}; }

  /// One tap of all outputs of a row: in place if neighbours are neighbours there, too.
  SplitRow tap_of(const SplitRow& columns, Index tap, const SplitRow& copy) const {
    const Index shift = tap * axis_.dilation * inner_;
    const SplitRow from = {columns.fraction + shift, columns.exponent + shift};
    if (axis_.stride == 1) return from;
    for (Index output = 0; output < end_ - begin_; ++output)
      for (Index lane = 0; lane < inner_; ++lane) {
        copy.fraction[output * inner_ + lane] = from.fraction[output * axis_.stride * inner_ + lane];
        copy.exponent[output * inner_ + lane] = from.exponent[output * axis_.stride * inner_ + lane];
      }
    return copy;
  }

  bool can_split() const { return Powers::has_split_powers && blocks_.kept_rows > 0 && !axis_.adaptive; }

  /// All values of the block once more, for numbers of any range. Its sums become fractions.
  void write_split_values() {
    const int free_row = used_;
    const SplitRow columns = spare_split(), sums = spare_split(), other = spare_split();
    for (Index cell = first_cell_; cell < last_cell_; ++cell) {
      if (!is_seen(cell)) continue;
      bool is_first = true;
      for_each_outer_row(outer_axes_ - 1, at_cell(cell), [&](const Strides& at) {
        split_row(is_first ? kept_split(cell) : other, at);
        if (!is_first) add_split(pixels_ * inner_, kept_split(cell), other);
        is_first = false;
      });
    }
    for (Index j = 0; j < count_; ++j) {
      const Taps taps = last_.window.taps(first_ + j);
      copy_split(kept_split(taps.first), columns);
      for (Index r = 1; r < taps.count; ++r)
        add_split(pixels_ * inner_, columns, kept_split(taps.first + r * taps.step));
      const SplitRow first = tap_of(columns, 0, sums);
      if (first.fraction != sums.fraction) copy_outputs(first, sums);
      for (Index tap = 1; tap < axis_.kernel; ++tap) add_split(outputs(), sums, tap_of(columns, tap, other));
      add_split_zeros(j, sums, other);
      std::copy(sums.fraction, sums.fraction + outputs(), row_at(sums_, j));
      write_row(job_.out, cursor_->offset().out + j * last_.stride.out, rows_.horizontal.stride.out,
                rows_.inner.stride.out, [&](N* out) { finish_split_values(sums, out); });
      values_by_spec(j);
    }
    used_ = free_row;
  }
  void copy_outputs(const SplitRow& from, const SplitRow& to) const {
    std::copy(from.fraction, from.fraction + outputs(), to.fraction);
    std::copy(from.exponent, from.exponent + outputs(), to.exponent);
  }
  void add_split_zeros(Index j, const SplitRow& sums, const SplitRow& zeros_row) {
    std::fill(zeros_row.fraction, zeros_row.fraction + outputs(), N(0));
    std::fill(zeros_row.exponent, zeros_row.exponent + outputs(), no_exponent);
    bool has_any = false;
    for_each_padded(j, [&](Index output, Index zeros, bool is_single) {
      const Index at = (output - begin_) * inner_;
      has_any = has_any || zeros > 0 || is_single;
      for (Index i = at; i < at + inner_; ++i) {
        zeros_row.fraction[i] = is_single ? std::numeric_limits<N>::quiet_NaN() : static_cast<N>(zeros);
        zeros_row.exponent[i] = zeros > 0 ? N(0) : no_exponent;
      }
    });
    if (has_any) add_split(outputs(), sums, zeros_row);
  }
  HWY_NOINLINE void finish_split_values(const SplitRow& sums, N* out) const {
    const D d;
    const Powers powers = powers_;
    const N *fraction = sums.fraction, *exponent = sums.exponent;
    transform(
        outputs(), out, [d, powers](V f, V e) HWY_ATTR { return powers.split_value(d, f, e); }, fraction, exponent);
  }

  // ---- results ----

  /// Calls finish(out) for a row of results, packed, and brings it into output row j of an array.
  template <class Finish>
  void write_row(void* array, Index offset, Index column_stride, Index lane_stride, const Finish& finish) {
    T* to = static_cast<T*>(array) + offset + begin_ * column_stride;
    if constexpr (std::is_same_v<T, N>)
      if (column_stride == inner_ && (inner_ == 1 || lane_stride == 1)) return finish(to);
    const int free_row = used_;
    N* packed = spare();
    finish(packed);
    for (Index pixel = 0; pixel < end_ - begin_; ++pixel)
      for (Index lane = 0; lane < inner_; ++lane)
        to[pixel * column_stride + lane * lane_stride] = static_cast<T>(packed[pixel * inner_ + lane]);
    used_ = free_row;
  }

  void write_values() {
    for (Index j = 0; j < count_; ++j) {
      const Index offset = cursor_->offset().out + j * last_.stride.out;
      bool all_usable = true;
      write_row(job_.out, offset, rows_.horizontal.stride.out, rows_.inner.stride.out,
                [&](N* out) { all_usable = finish_values(row_at(sums_, j), out); });
      if (all_usable) continue;
      if constexpr (Powers::has_split_powers)
        if (can_split()) {
          is_wide_ = true;  // the next blocks are likely to be, too
          return write_split_values();
        }
      values_by_spec(j);
    }
  }

  void values_by_spec(Index j) {
    const Index offset = cursor_->offset().out + j * last_.stride.out;
    for_each_unusable(row_at(sums_, j), [&](Index output, Index lane) {
      T* to = static_cast<T*>(job_.out) + offset + output * rows_.horizontal.stride.out + lane * rows_.inner.stride.out;
      *to = powers_.reducer.value(summarise(j, output, lane));
    });
  }

  HWY_NOINLINE bool finish_values(const N* sums, N* out) {
    const D d;
    const Powers powers = powers_;
    auto usable = hn::MaskFromVec(hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), hwy::MakeUnsigned<N>(-1))));
    transform(
        outputs(), out,
        [&usable, d, powers](V sum) HWY_ATTR {
          usable = hn::And(usable, powers.is_usable(d, sum));
          return powers.value(d, sum);
        },
        sums);
    return hn::AllTrue(d, usable);
  }

  void write_tangents() {
    const auto make = [this](N* to, const Strides& at) { scale_tangents(to, at); };
    keep_rows(make);
    const int free_row = used_;
    N* products = spare();
    for (Index j = 0; j < count_; ++j) {
      sum_windows(j, make, products);
      N* sums = row_at(sums_, j);
      const Index offset = cursor_->offset().tangent_out + j * last_.stride.tangent_out;
      bool all_usable = true;
      write_row(job_.tangent_out, offset, rows_.horizontal.stride.tangent_out, rows_.inner.stride.tangent_out,
                [&](N* out) { all_usable = finish_tangents(sums, products, out); });
      if (all_usable) continue;
      for (Index i = 0; i < outputs(); ++i)
        if (!(products[i] - products[i] == 0)) sums[i] = products[i] - products[i];
      for_each_unusable(sums, [&](Index output, Index lane) {
        T* to = static_cast<T*>(job_.tangent_out) + offset + output * rows_.horizontal.stride.tangent_out +
                lane * rows_.inner.stride.tangent_out;
        *to = tangent_by_spec(j, output, lane);
      });
    }
    used_ = free_row;
  }

  HWY_NOINLINE bool finish_tangents(const N* sums, const N* products, N* out) {
    const D d;
    const Powers powers = powers_;
    auto usable = hn::MaskFromVec(hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), hwy::MakeUnsigned<N>(-1))));
    const V largest = hn::Set(d, std::numeric_limits<N>::max());
    transform(
        outputs(), out,
        [&usable, d, powers, largest](V sum, V product) HWY_ATTR {
          usable = hn::And(usable, hn::And(powers.is_usable(d, sum), hn::Le(hn::Abs(product), largest)));
          return hn::Mul(product, powers.factor(d, sum));
        },
        sums, products);
    return hn::AllTrue(d, usable);
  }

  /// Every output hands its gradient times the factor of its window to its cells, which multiply what they get by their
  /// slopes.
  void add_gradients() {
    const int free_row = used_;
    const Index length = pixels_ * inner_;
    N* columns = spare();
    if (blocks_.kept_rows > 0)
      for (Index cell = first_cell_; cell < last_cell_; ++cell) std::fill(kept(cell), kept(cell) + length, N(0));
    for (Index j = 0; j < count_; ++j) {
      share_gradients(j);
      spread(row_at(sums_, j), columns);
      const Taps taps = last_.window.taps(first_ + j);
      for (Index r = 0; r < taps.count; ++r) {
        const Index cell = taps.first + r * taps.step;
        if (blocks_.kept_rows > 0)
          add_rows(length, kept(cell), kept(cell), columns);
        else
          add_to_cells(cell, columns);
      }
    }
    if (blocks_.kept_rows > 0)
      for (Index cell = first_cell_; cell < last_cell_; ++cell)
        if (is_seen(cell)) add_to_cells(cell, kept(cell));
    used_ = free_row;
  }

  /// Replaces the sums of output row j by the shares; those of windows that are not usable are 0, for the spec adds
  /// their gradients.
  HWY_NOINLINE void share_gradients(Index j) {
    const D d;
    const int free_row = used_;
    const Powers powers = powers_;
    N* sums = row_at(sums_, j);
    const Index offset = cursor_->offset().tangent_out + j * last_.stride.tangent_out;
    const N* gy = load(job_.tangent_out, offset, rows_.horizontal.stride.tangent_out, rows_.inner.stride.tangent_out,
                       begin_, end_ - begin_, spare());
    N* shares = spare();
    auto usable = hn::MaskFromVec(hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), hwy::MakeUnsigned<N>(-1))));
    transform(
        outputs(), shares,
        [&usable, d, powers](V sum, V gradient) HWY_ATTR {
          const auto fits = hn::And(powers.is_usable(d, sum), has_room(d, gradient));
          usable = hn::And(usable, fits);
          return hn::IfThenElseZero(fits, hn::Mul(gradient, powers.factor(d, sum)));
        },
        sums, gy);
    if (!hn::AllTrue(d, usable)) {
      const N room = sizeof(N) == 4 ? N(0x1p60) : N(0x1p500);
      for (Index i = 0; i < outputs(); ++i)
        if (gy[i] != 0 && !(std::abs(gy[i]) <= room && std::abs(gy[i]) >= 1 / room))
          sums[i] = std::numeric_limits<N>::quiet_NaN();
      for_each_unusable(sums, [&](Index output, Index lane) {
        add_gradient_by_spec(j, output, lane, gy[(output - begin_) * inner_ + lane]);
      });
    }
    std::copy(shares, shares + outputs(), sums);
    used_ = free_row;
  }

  /// Each column of a row gets the shares of all outputs that see it.
  HWY_NOINLINE void spread(const N* shares, N* columns) const {
    std::fill(columns, columns + pixels_ * inner_, N(0));
    if (axis_.adaptive) {
      for (Index output = begin_; output < end_; ++output) {
        const Taps taps = axis_.taps(output);
        for (Index r = 0; r < taps.count; ++r)
          add(shares + (output - begin_) * inner_, columns + (taps.first + r) * inner_, inner_);
      }
      return;
    }
    for (Index tap = 0; tap < axis_.kernel; ++tap) {
      N* to = columns + tap * axis_.dilation * inner_;
      const Index step = axis_.stride * inner_, count = end_ - begin_;
      if (axis_.stride == 1) {
        add(shares, to, outputs());
      } else if (inner_ == 1) {
        NDPOOL_INDEPENDENT
        for (Index output = 0; output < count; ++output) to[output * step] += shares[output];
      } else {
        for (Index output = 0; output < count; ++output) add(shares + output * inner_, to + output * step, inner_);
      }
    }
  }
  static HWY_INLINE void add(const N* from, N* to, Index count) {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < count; ++i) to[i] += from[i];
  }

  /// gx += slope(x) * columns, for the rows of one cell of the last vertical axis.
  void add_to_cells(Index cell, N* columns) {
    for_each_outer_row(outer_axes_ - 1, at_cell(cell), [&](const Strides& at) { add_to_row(at, real_part(columns)); });
  }
  HWY_NOINLINE void add_to_row(const Strides& at, const N* shares) {
    const D d;
    const int free_row = used_;
    const Powers powers = powers_;
    const N* x = load_in(at, spare());
    N* copy = spare();
    const N* gx = load_tangent_in(at, copy);
    T* row = static_cast<T*>(job_.tangent_in) + at.tangent_in + real_column_ * rows_.horizontal.stride.tangent_in;
    N* sum = copy;
    if constexpr (std::is_same_v<T, N>)
      if (gx == row) sum = row;
    transform(
        real_pixels_ * inner_, sum,
        [d, powers](V g, V v, V share) HWY_ATTR {
          // A cell that only the spec can weigh has no share, and its slope is NaN.
          const V product = hn::Mul(powers.slope(d, v), share);
          return g + hn::IfThenZeroElse(hn::Eq(share, hn::Zero(d)), product);
        },
        gx, x, shares);
    if (sum == copy)
      for (Index pixel = 0; pixel < real_pixels_; ++pixel)
        for (Index lane = 0; lane < inner_; ++lane)
          row[pixel * rows_.horizontal.stride.tangent_in + lane * rows_.inner.stride.tangent_in] =
              static_cast<T>(sum[pixel * inner_ + lane]);
    used_ = free_row;
  }

  // ---- windows by the spec ----

  template <class F>
  HWY_NOINLINE void for_each_unusable(const N* sums, const F& f) {
    const D d;
    for (Index output = begin_; output < end_; ++output)
      for (Index lane = 0; lane < inner_; ++lane) {
        const V sum = hn::Set(d, sums[(output - begin_) * inner_ + lane]);
        if (!hn::AllTrue(d, powers_.is_usable(d, sum))) f(output, lane);
      }
  }

  using State = typename Powers::Reducer::State;
  using Summary = typename Powers::Reducer::Summary;

  /// Calls leaf(offset, tangent offset) for every tap of a window and folds what it answers with `combine`, as a tree.
  template <class R, class Leaf, class Combine2>
  R fold_axis(Index j, Index output, int axis, const Strides& at, const Leaf& leaf, const Combine2& combine) const {
    if (axis < 0) return leaf(at);
    const bool is_along = axis == outer_axes_ + 1;
    const PooledAxis& pooled = is_along ? rows_.horizontal : axis == outer_axes_ ? last_ : rows_.vertical[axis];
    const Index position = is_along ? output : axis == outer_axes_ ? first_ + j : cursor_->vertical_position(axis);
    const Taps taps = pooled.window.taps(position);
    const auto fold = [&](const auto& self, Index first, Index count) -> R {
      if (count == 1)
        return fold_axis<R>(j, output, axis - 1, moved(at, pooled, taps.first + first * taps.step), leaf, combine);
      const Index half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
      const R earlier = self(self, first, half);
      return combine(earlier, self(self, first + half, count - half));
    };
    return fold(fold, 0, taps.count);
  }
  Strides window_offset(Index lane) const {
    Strides at = cursor_->offset();
    at.in += lane * rows_.inner.stride.in;
    at.tangent_in += lane * rows_.inner.stride.tangent_in;
    return at;
  }
  const T& x_at(const Strides& at) const { return static_cast<const T*>(job_.in)[at.in]; }

  Summary summarise(Index j, Index output, Index lane) const {
    TapCounts counts;
    const auto count = [&](const Taps& taps) {
      counts.real *= taps.count;
      counts.counted *= taps.count + taps.padded;
    };
    count(axis_.taps(output));
    count(last_.window.taps(first_ + j));
    for (int v = 0; v < outer_axes_; ++v) count(rows_.vertical[v].window.taps(cursor_->vertical_position(v)));
    const State state = fold_axis<State>(
        j, output, outer_axes_ + 1, window_offset(lane),
        [&](const Strides& at) { return powers_.reducer.lift(x_at(at), 0); },
        [&](const State& a, const State& b) { return powers_.reducer.combine(a, b); });
    return powers_.reducer.finish(state, counts);
  }

  T tangent_by_spec(Index j, Index output, Index lane) const {
    const Summary summary = summarise(j, output, lane);
    const T* dx = static_cast<const T*>(job_.tangent_in);
    const N sum = fold_axis<N>(
        j, output, outer_axes_ + 1, window_offset(lane),
        [&](const Strides& at) {
          const N weight = powers_.reducer.weight(summary, x_at(at), 0);
          return weight == 0 ? N(0) : weight * static_cast<N>(dx[at.tangent_in]);
        },
        [](N a, N b) { return a + b; });
    return static_cast<T>(sum / powers_.reducer.scale(summary));
  }

  void add_gradient_by_spec(Index j, Index output, Index lane, N gy) const {
    const Summary summary = summarise(j, output, lane);
    const N share = gy / powers_.reducer.scale(summary);
    T* gx = static_cast<T*>(job_.tangent_in);
    fold_axis<int>(
        j, output, outer_axes_ + 1, window_offset(lane),
        [&](const Strides& at) {
          const N weight = powers_.reducer.weight(summary, x_at(at), 0);
          T& cell = gx[at.tangent_in];
          if (weight != 0) cell = static_cast<T>(static_cast<N>(cell) + weight * share);
          return 0;
        },
        [](int, int) { return 0; });
  }

  const AnalyticJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const AnalyticBlocks blocks_;
  const std::size_t pitch_;  ///< bytes from row to row: the blocks have room for the longest numbers
  Powers powers_;
  const Range full_;  ///< outputs of a row without padding
  PooledAxis last_;   ///< the last vertical axis, or one of a single cell
  int outer_axes_;    ///< vertical axes before it
  Rows along_;        ///< the columns of a strip as an input of their own
  char *kept_, *exponents_, *sums_, *spare_, *along_scratch_;
  N* columns_;  ///< what is folded along: the sum over the vertical taps
  std::optional<RowFold<Reduction<N, Combine::sum, Nan::propagate>>> fold_;
  RowCursor start_{along_, 0};
  int used_ = 0, depth_ = 0;
  N zero_power_ = 0;
  bool is_wide_ = false;  ///< a block had numbers whose powers leave the range

  // The block at hand.
  const RowCursor* cursor_ = nullptr;
  Index first_ = 0, count_ = 0;              // output rows
  Index begin_ = 0, end_ = 0;                // outputs
  Index first_cell_ = 0, last_cell_ = 0;     // input rows, on the last vertical axis
  Index first_column_ = 0, pixels_ = 0;      // columns with padding, and
  Index real_column_ = 0, real_pixels_ = 0;  // those of the input
};

template <class T, template <class> class Powers>
void analytic(const AnalyticJob& job) {
  AnalyticPool<T, Powers<T>> pool(job);
  pool();
}

template <class T, template <class> class Powers>
constexpr AnalyticKernel analytic_kernel() {
  if constexpr (std::is_integral_v<T>)
    return nullptr;
  else
    return analytic<T, Powers>;
}

#define NDPOOL_ROW(name, type) {analytic_kernel<type, SmoothMaxPowers>(), analytic_kernel<type, LpPowers>()},
NDPOOL_KERNEL_TABLE(AnalyticKernels, analytic_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(analytic_kernels, add_analytic_kernels, analytic)

}  // namespace ndpool
#endif
