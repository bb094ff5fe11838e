// VJP of sum and average: every cell of the input sums the shares of the outputs that see it. Windows that step cell by
// cell need none of this: their VJP is a pool itself (Rows::transposed).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vjp/spread.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/forward/divisors.hpp"
#include "kernels/forward/planes-inl.h"
#include "kernels/simd/reduction-inl.h"
#include "kernels/vjp/separate-inl.h"

#include <ndpool/spec/scalar.hpp>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Makes the rows of gx in order: first the output rows that see a row are summed, then every cell of it sums along
/// that row. Input rows that are seen by the same output rows share their sum.
template <class T>
class RowGather {
 public:
  using Sum = spec::Accumulator<T>;

  explicit RowGather(const TangentJob& job)
      : job_(job),
        rows_(job.rows),
        axis_(job.rows.horizontal.window),
        inner_(job.rows.inner.extent),
        packed_(tangent_in_is_packed(job.rows)),
        streams_(leaves_cache(job.rows, sizeof(T))),
        divides_each_(job.choice.averages && job.choice.average.divisor == AverageOptions::no_divisor) {
    const SpreadRows layout = spread_rows(rows_);
    char* scratch = static_cast<char*>(job.scratch);
    Sum* sums = reinterpret_cast<Sum*>(scratch);
    sums_ = sums + layout.margin * inner_;
    std::fill(sums, sums_, Sum(0));
    std::fill_n(sums_ + axis_.output * inner_, layout.behind * inner_, Sum(0));
    divisors_ = reinterpret_cast<Sum*>(scratch += layout.sums_bytes);
    cells_ = reinterpret_cast<Sum*>(scratch += layout.divisor_bytes);
    runs_ = reinterpret_cast<Run*>(scratch + layout.cell_bytes);
    if (divides_each_)
      for (Index o = 0; o < axis_.output; ++o)
        divisors_[o] = static_cast<Sum>(counted_taps(axis_.taps(o), job.choice.average));
    has_phases_ = inner_ == 1 && !axis_.adaptive && axis_.dilation == 1 && axis_.stride <= 2 &&
                  axis_.kernel <= 8 * axis_.stride && axis_.kernel <= 2 * axis_.output;
    if (has_phases_)
      find_phases();
    else
      find_runs();
    if (job.choice.averages && !divides_each_) divisor_ = static_cast<Sum>(job.choice.average.divisor);
  }

  /// Input rows [first, last) of the plane that a cursor is in.
  void operator()(const RowCursor& cursor, Index first, Index last) {
    gy_ = static_cast<const T*>(job_.tangent_out) + cursor.offset().tangent_out;
    is_made_ = false;
    make_rows_below(0, static_cast<T*>(job_.tangent_in) + cursor.offset().tangent_in, first, last);
  }

 private:
  /// Neighbouring cells that the same outputs see.
  struct Run {
    Index end;
    Progression outputs;
  };

  void find_runs() {
    run_count_ = 0;
    CellWalk walk(axis_);
    for (Index cell = 0; cell < axis_.input; ++cell, walk.next()) {
      const Progression outputs = walk.outputs();
      if (run_count_ == 0 || !is_same(outputs, runs_[run_count_ - 1].outputs)) runs_[run_count_++].outputs = outputs;
      runs_[run_count_ - 1].end = cell + 1;
    }
  }
  /// Cells at the same place in a stride: each is a sum over neighbouring outputs, of which those that do not exist are
  /// the zeros around the row.
  struct Phase {
    const Sum* last;  ///< the last output that sees the first cell
    Index count;      ///< outputs that see a cell
  };

  void find_phases() {
    for (Index c = 0; c < axis_.stride; ++c) {
      const Index position = c + axis_.lo, tap = position % axis_.stride;
      phases_[c] = {sums_ + position / axis_.stride,
                    tap < axis_.kernel ? (axis_.kernel - 1 - tap) / axis_.stride + 1 : 0};
    }
  }
  static bool is_same(const Progression& a, const Progression& b) {
    return a.first == b.first && a.count == b.count && a.step == b.step;
  }

  /// The input rows [first, last) below some cells of the axes before this one.
  void make_rows_below(int axis, T* gx, Index first, Index last) {
    if (axis == rows_.vertical_count) return make_row(gx);
    const PooledAxis& vertical = rows_.vertical[axis];
    Index below = 1;
    for (int v = axis + 1; v < rows_.vertical_count; ++v) below *= rows_.vertical[v].window.input;
    CellWalk walk(vertical.window, first / below);
    for (Index cell = first / below; cell * below < last; ++cell, walk.next()) {
      const Progression outputs = walk.outputs();
      is_made_ = is_made_ && is_same(outputs, seen_[axis]);
      seen_[axis] = outputs;
      make_rows_below(axis + 1, gx + cell * vertical.stride.tangent_in, std::max<Index>(0, first - cell * below),
                      std::min(below, last - cell * below));
    }
  }

  void make_row(T* gx) {
    if (!is_made_) {
      is_empty_ = true;
      add_rows(0, gy_, 1);
      if (is_empty_) std::fill_n(sums_, axis_.output * inner_, Sum(0));
      if (divisor_ != Sum(1)) divide_all();
      is_made_ = true;
    }
    const bool streams = streams_ && packed_ && reinterpret_cast<std::uintptr_t>(gx) % 64 == 0;
    if constexpr (std::is_same_v<T, Sum>)
      if (packed_ && !streams) return make_cells(gx);
    make_cells(cells_);
    const Index length = axis_.input * inner_;
    if constexpr (std::is_same_v<T, Sum>)
      if (streams) return copy_streaming(cells_, gx, length);
    if (packed_) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < length; ++i) gx[i] = lower(cells_[i]);
      return;
    }
    for (Index cell = 0; cell < axis_.input; ++cell)
      for (Index lane = 0; lane < inner_; ++lane)
        gx[cell * rows_.horizontal.stride.tangent_in + lane * rows_.inner.stride.tangent_in] =
            lower(cells_[cell * inner_ + lane]);
  }
  static HWY_INLINE T lower(Sum sum) { return Reduction<T, Combine::sum, Nan::propagate>::lower(sum); }

  /// Adds all output rows that see the current one. `taps` are those of their windows on the axes before this one.
  void add_rows(int axis, const T* gy, Index taps) {
    if (axis == rows_.vertical_count) return add_row(gy, static_cast<Sum>(taps));
    const PooledAxis& vertical = rows_.vertical[axis];
    const Progression& outputs = seen_[axis];
    for (Index i = 0; i < outputs.count; ++i) {
      const Index output = outputs.first + i * outputs.step;
      const Index counted = divides_each_ ? counted_taps(vertical.window.taps(output), job_.choice.average) : 1;
      add_rows(axis + 1, gy + output * vertical.stride.tangent_out, taps * counted);
    }
  }

  void add_row(const T* gy, Sum taps) {
    const bool is_first = is_empty_;
    is_empty_ = false;
    if (tangent_out_is_packed(rows_)) return add_packed(gy, taps, is_first);
    for (Index o = 0; o < axis_.output; ++o)
      for (Index lane = 0; lane < inner_; ++lane) {
        const T g = gy[o * rows_.horizontal.stride.tangent_out + lane * rows_.inner.stride.tangent_out];
        const Sum share = divides_each_ ? static_cast<Sum>(g) / (taps * divisors_[o]) : static_cast<Sum>(g);
        Sum& sum = sums_[o * inner_ + lane];
        sum = is_first ? share : sum + share;
      }
  }

  HWY_NOINLINE void add_packed(const T* gy, Sum taps, bool is_first) {
    Sum* const sums = sums_;
    const Index length = axis_.output * inner_;
    const auto add = [sums, gy, is_first](Index begin, Index end, const auto& share) HWY_ATTR {
      if (is_first) {
        NDPOOL_INDEPENDENT
        for (Index i = begin; i < end; ++i) sums[i] = share(static_cast<Sum>(gy[i]), i);
      } else {
        NDPOOL_INDEPENDENT
        for (Index i = begin; i < end; ++i) sums[i] += share(static_cast<Sum>(gy[i]), i);
      }
    };
    if (!divides_each_) return add(0, length, [](Sum g, Index) HWY_ATTR { return g; });
    const Sum* const divisors = divisors_;
    if (inner_ == 1) return add(0, length, [=](Sum g, Index i) HWY_ATTR { return g / (taps * divisors[i]); });
    for (Index o = 0; o < axis_.output; ++o) {
      const Sum divisor = taps * divisors[o];
      add(o * inner_, (o + 1) * inner_, [=](Sum g, Index) HWY_ATTR { return g / divisor; });
    }
  }

  void divide_all() {
    Sum* const sums = sums_;
    const Sum divisor = divisor_;
    const Index length = axis_.output * inner_;
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < length; ++i) sums[i] /= divisor;
  }

  void make_cells(Sum* cells) {
    if (has_phases_) return make_phases(cells);
    for (Index run = 0, begin = 0; run < run_count_; begin = runs_[run++].end)
      make_run(runs_[run].outputs, cells + begin * inner_, runs_[run].end - begin);
  }

  void make_run(const Progression& outputs, Sum* cells, Index count) {
    if (inner_ == 1) {
      Sum sum(0);
      for (Index i = 0; i < outputs.count; ++i) sum += sums_[outputs.first + i * outputs.step];
      std::fill_n(cells, count, sum);
      return;
    }
    if (outputs.count == 0) return static_cast<void>(std::fill_n(cells, count * inner_, Sum(0)));
    std::copy_n(sums_ + outputs.first * inner_, inner_, cells);
    for (Index i = 1; i < outputs.count; ++i) {
      const Sum* const more = sums_ + (outputs.first + i * outputs.step) * inner_;
      NDPOOL_INDEPENDENT
      for (Index lane = 0; lane < inner_; ++lane) cells[lane] += more[lane];
    }
    for (Index c = 1; c < count; ++c) std::copy_n(cells, inner_, cells + c * inner_);
  }

  void make_phases(Sum* cells) {
    if (axis_.stride == 1) return make_single(phases_[0], cells, axis_.input);
    const Index steps = axis_.input / 2;
    make_pairs(phases_[0], phases_[1], cells, steps);
    if (axis_.input % 2 != 0) cells[axis_.input - 1] = sum_of<0>(phases_[0], steps);
  }

  /// The sum of N outputs, or of as many as the phase says if N is 0.
  template <int N>
  static HWY_INLINE Sum sum_of(const Phase& phase, Index step) {
    const Sum* last = phase.last + step;
    const Index count = N > 0 ? N : phase.count;
    Sum sum = last[0];
    if (N == 0 && count == 0) return Sum(0);
    for (Index i = 1; i < count; ++i) sum += last[-i];
    return sum;
  }

  static void make_single(const Phase& phase, Sum* cells, Index count) {
    switch (phase.count) {
      case 2: return each<2>(phase, cells, count);
      case 3: return each<3>(phase, cells, count);
      default: return each<0>(phase, cells, count);
    }
  }
  template <int N>
  static HWY_NOINLINE void each(const Phase phase, Sum* cells, Index count) {
    if constexpr (N > 0) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < count; ++i) cells[i] = sum_of<N>(phase, i);
    } else {
      std::copy_n(phase.last, count, cells);
      for (Index tap = 1; tap < phase.count; ++tap) {
        const Sum* const from = phase.last - tap;
        NDPOOL_INDEPENDENT
        for (Index i = 0; i < count; ++i) cells[i] += from[i];
      }
    }
  }

  static void make_pairs(const Phase& even, const Phase& odd, Sum* cells, Index count) {
    if (even.count == 1 && odd.count == 1) return alternate<1, 1>(even, odd, cells, count);
    if (even.count == 1 && odd.count == 2) return alternate<1, 2>(even, odd, cells, count);
    if (even.count == 2 && odd.count == 1) return alternate<2, 1>(even, odd, cells, count);
    alternate<0, 0>(even, odd, cells, count);
  }
  template <int N, int M>
  static HWY_NOINLINE void alternate(const Phase even, const Phase odd, Sum* cells, Index count) {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < count; ++i) {
      cells[2 * i] = sum_of<N>(even, i);
      cells[2 * i + 1] = sum_of<M>(odd, i);
    }
  }

  const TangentJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const bool packed_, streams_, divides_each_;
  bool has_phases_ = false;
  Sum *sums_, *divisors_, *cells_;
  Sum divisor_ = Sum(1);
  Phase phases_[2];
  Run* runs_;
  Index run_count_ = 0;
  const T* gy_ = nullptr;
  bool is_made_ = false;   ///< the sums are those of the output rows in `seen_`
  bool is_empty_ = false;  ///< no row was added yet
  Progression seen_[max_rank];
};

/// The rows of the job are input rows, or output rows where windows are separate.
template <class T>
void spread(const TangentJob& job) {
  if constexpr (std::is_floating_point_v<T>)
    if (windows_are_separate(job.rows)) {
      // All taps are on the input, so what one window is divided by, all are.
      const RowCursor cursor(job.rows, job.first_row);
      const T divisor =
          job.choice.averages ? static_cast<T>(Divisors(job.rows, job.choice.average, cursor).of_output(0)) : T(1);
      const EqualShares<T> shares(job.rows, static_cast<const T*>(job.tangent_out), divisor);
      SeparateWindows<T, EqualShares<T>>(job.rows, static_cast<T*>(job.tangent_in), shares)(job.first_row,
                                                                                            job.last_row);
      return;
    }
  RowGather<T> gather(job);
  const Index rows_per_plane = input_rows_per_plane(job.rows);
  Index row = job.first_row;
  RowCursor cursor(job.rows, row / rows_per_plane * job.rows.rows_per_plane);
  while (row < job.last_row) {
    const Index first = row % rows_per_plane, count = std::min(rows_per_plane - first, job.last_row - row);
    gather(cursor, first, first + count);
    cursor.next_loop();
    row += count;
  }
  hwy::FlushStream();
}

template <class T>
constexpr TangentKernel spread_kernel() {
  if constexpr (is_real<T>)
    return spread<T>;
  else
    return nullptr;
}

#define NDPOOL_ROW(name, type) spread_kernel<type>(),
NDPOOL_KERNEL_TABLE(SpreadKernels, spread_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(spread_kernels, add_spread_kernels, spread)

}  // namespace ndpool
#endif
