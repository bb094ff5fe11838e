// Per-target code: values of all pools with kernels. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FORWARD_INL_H_
#undef NDPOOL_FORWARD_INL_H_
#else
#define NDPOOL_FORWARD_INL_H_
#endif

#include "kernels/band-inl.h"
#include "kernels/finish-inl.h"
#include "kernels/fused-inl.h"
#include "kernels/packed-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/whole-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Horizontal counts as floats in the last row of the scratch; null where divisors are given, do not fit there, or the
/// output row is not packed.
template <class A>
const A* make_divisor_row(const Job& job, const RowCursor& cursor) {
  const Axis& axis = job.rows.horizontal.window;
  if (!job.choice.averages || job.choice.average.divisor != AverageOptions::no_divisor) return nullptr;
  if (!job.rows.out_is_packed() || strip_outputs(job.rows) < axis.output) return nullptr;
  if (job.rows.tap_count > Index{1} << std::numeric_limits<A>::digits) return nullptr;
  const std::size_t offset = static_cast<std::size_t>(scratch_rows(job.rows) - 1) * scratch_row_bytes(job.rows);
  A* counts = reinterpret_cast<A*>(static_cast<char*>(job.scratch) + offset);
  const Divisors divisors(job.rows, job.choice.average, cursor);
  for (Index output = 0; output < axis.output; ++output) counts[output] = static_cast<A>(divisors.horizontal(output));
  return counts;
}

/// For scalars that are combined in another type, and where there are no vectors.
struct NoFused {
  NoFused(const Job&, const void*) {}
  explicit operator bool() const { return false; }
  bool operator()(const RowCursor&) const { return false; }
  bool has_bands() const { return false; }
  Index band_rows(const RowCursor&, Index) const { return 0; }
  bool make_band(const RowCursor&, Index) const { return false; }
};

#if HWY_TARGET != HWY_SCALAR
/// Makes rows in registers where the window is small enough for that.
template <class T, Combine kind>
class Fused {
 public:
  Fused(const Job& job, const T* divisor_row)
      : job_(job), divisor_row_(divisor_row), axis_(job.rows.horizontal.window) {
    if (!job.rows.in_is_packed() || !job.rows.out_is_packed()) return;
    const bool divides = kind == Combine::sum && job.choice.averages;
    if (divides && !std::is_floating_point_v<T>) return;
    rows_ = FusedRow<D, kind>::can_make(job.rows);
    lanes_ = !rows_ && FusedLanes<D, kind>::can_make(job.rows);
    stream_ = (rows_ || lanes_) && leaves_cache(job.rows, sizeof(T));
    has_one_divisor_ = divides && has_one_divisor(axis_, job.choice.average);
    if (divides && has_one_divisor(job.rows, job.choice.average))
      divisor_ = vertical_divisor(RowCursor(job.rows, job.first_row));
    // Bands write columns of half lines, which is no way past the cache.
    const bool passes_cache = stream_ && axis_.output % FusedBand<D, kind>::lanes == 0;
    bands_ = !passes_cache && FusedBand<D, kind>::can_make(job.rows) &&
             (!divides || has_one_divisor_ || divisor_row_ != nullptr);
  }
  ~Fused() {
    if (stream_) hwy::FlushStream();
  }
  explicit operator bool() const { return rows_ || lanes_; }

  /// False if this row needs the careful path.
  bool operator()(const RowCursor& cursor) {
    Columns<D, kind> columns;
    if (!gather_rows<D, kind>(job_.rows, cursor, static_cast<const T*>(job_.in) + cursor.offset().in, columns))
      return false;
    T* out = static_cast<T*>(job_.out) + cursor.offset().out;
    if constexpr (kind == Combine::sum && std::is_floating_point_v<T>)
      if (job_.choice.averages) {
        if (!has_one_divisor_ && divisor_row_ == nullptr) return false;
        const T vertical = vertical_divisor(cursor);
        if (has_one_divisor_ && is_power_of_two(vertical)) {
          const V times = hn::Set(D(), T(1) / vertical);
          return make(columns, out, [times](V v, Index) HWY_ATTR { return hn::Mul(v, times); });
        }
        const V by = hn::Set(D(), vertical);
        HWY_ALIGN T ones[hn::MaxLanes(D())];
        std::fill_n(ones, hn::MaxLanes(D()), T(1));
        const T* horizontal = has_one_divisor_ ? ones : divisor_row_;
        const Index step = has_one_divisor_ ? 0 : 1;
        if (rows_)
          return make(columns, out, [by, horizontal, step](V v, Index output) HWY_ATTR {
            return hn::Div(v, hn::Mul(by, hn::LoadU(D(), horizontal + step * output)));
          });
        return make(columns, out, [by, horizontal, step](V v, Index output) HWY_ATTR {
          return hn::Div(v, hn::Mul(by, hn::Set(D(), horizontal[step * output])));
        });
      }
    return make(columns, out, [](V v, Index) HWY_ATTR { return v; });
  }

  bool has_bands() const { return bands_; }
  /// Rows of the cursor's plane, up to `most`, that are made together.
  Index band_rows(const RowCursor& cursor, Index most) const {
    const Index left = job_.rows.vertical[0].window.output - cursor.vertical_position(0);
    return std::min({most, left, FusedBand<D, kind>::most_rows});
  }
  /// False if they need another path.
  bool make_band(RowCursor cursor, Index count) const {
    using Band = FusedBand<D, kind>;
    const Index first = cursor.vertical_position(0);
    const T* in = static_cast<const T*>(job_.in) + cursor.offset().in;
    T* out = static_cast<T*>(job_.out) + cursor.offset().out;
    const auto finished_by = [&](const auto& finish) { return Band::make(job_.rows, first, count, in, out, finish); };
    if constexpr (kind == Combine::sum && std::is_floating_point_v<T>)
      if (job_.choice.averages) {
        if (divisor_ != T(0)) {
          const V by = hn::Set(D(), divisor_);
          return finished_by([by](V v, Index, Index) HWY_ATTR { return hn::Div(v, by); });
        }
        // Counts along the row; of windows that have the same, any tells the count.
        T vertical[Band::most_rows], ones[Band::lanes];
        for (Index r = 0; r < count; ++r, cursor.next()) vertical[r] = vertical_divisor(cursor);
        std::fill_n(ones, Band::lanes, T(1));
        return finished_by([by_row = static_cast<const T*>(vertical),
                            by_output = has_one_divisor_ ? static_cast<const T*>(ones) : divisor_row_,
                            step = has_one_divisor_ ? 0 : 1](V v, Index output, Index row) HWY_ATTR {
          return hn::Div(v, hn::Mul(hn::Set(D(), by_row[row]), hn::LoadU(D(), by_output + step * output)));
        });
      }
    return finished_by([](V v, Index, Index) HWY_ATTR { return v; });
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  /// The divisor of a whole row, or the part of it that all outputs of the row have.
  T vertical_divisor(const RowCursor& cursor) const {
    if (divisor_ != T(0)) return divisor_;
    const Divisors divisors(job_.rows, job_.choice.average, cursor);
    return static_cast<T>(has_one_divisor_ ? divisors.of_output(0) : divisors.vertical());
  }
  /// The reciprocal of a power of two is exact, so multiplying by it is dividing.
  static bool is_power_of_two(T value) {
    int exponent = 0;
    return std::frexp(value, &exponent) == T(0.5);
  }

  template <class Finish>
  HWY_INLINE bool make(Columns<D, kind>& columns, T* out, const Finish& finish) {
    if (rows_) return FusedRow<D, kind>::make(axis_, columns, out, stream_, finish);
    return FusedLanes<D, kind>::make(job_.rows, columns, out, stream_, finish);
  }

  const Job& job_;
  const T* divisor_row_;
  const Axis& axis_;
  T divisor_ = T(0);  ///< of all outputs, if they have the same
  bool rows_ = false, lanes_ = false, stream_ = false, has_one_divisor_ = false, bands_ = false;
};
#endif

template <class Reduction>
void forward_rows(const Job& job) {
  using T = typename Reduction::Element;
  using A = typename Reduction::Accumulator;
  using Op = typename Reduction::Op;
  RowFold<Reduction> fold(job.rows, static_cast<const T*>(job.in), job.scratch);
  RowCursor cursor(job.rows, job.first_row);
  const bool writes_at_once = job.rows.out_is_packed() && !job.choice.averages;
  const A* divisor_row = nullptr;
  if constexpr (Op::is_sum && is_real<T>) divisor_row = make_divisor_row<A>(job, cursor);
#if HWY_TARGET != HWY_SCALAR
  // Rows in registers take the compiler long, so they are for the scalars that most arrays have, on long vectors.
  constexpr bool is_common = std::is_floating_point_v<T> || sizeof(T) == 1;
  constexpr bool has_long_vectors = hn::MaxLanes(hn::ScalableTag<std::uint8_t>()) > 16;
  constexpr bool fuses = std::is_same_v<T, A> && is_common && has_long_vectors;
  std::conditional_t<fuses, Fused<T, Op::kind>, NoFused> fused(job, divisor_row);
#else
  NoFused fused(job, divisor_row);
#endif
  const auto write = [](Output<Reduction>& output, const A* values, Index step, Index begin, Index end) {
    if constexpr (Op::is_sum)
      output.write_sums(values, step, begin, end);
    else
      output.write(values, step, begin, end);
  };
  if (is_tall(job.rows)) {
    const int last = job.rows.vertical_count - 1;
    for (Index row = job.first_row; row < job.last_row;) {
      const Index left = job.rows.vertical[last].window.output - cursor.vertical_position(last);
      const Index count = std::min({left, job.last_row - row, tall_rows(job.rows)});
      RowCursor at = cursor;
      fold.tall(cursor, count, [&](Index number, const A* values, Index step, Index begin, Index end) {
        if (number == 0) at = cursor;
        Output<Reduction> output(job, at);
        write(output, values, step, begin, end);
        at.next();
      });
      for (Index i = 0; i < count; ++i) cursor.next();
      row += count;
    }
    return;
  }
  Index next_band = job.first_row;
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
    if (row >= next_band && fused.has_bands()) {
      const Index count = fused.band_rows(cursor, job.last_row - row);
      next_band = row + count;  // rows of a band with a NaN are made one by one
      if (fused.make_band(cursor, count)) {
        for (Index i = 1; i < count; ++i) cursor.next();
        row += count - 1;
        continue;
      }
    }
    if (fused && fused(cursor)) continue;
    Output<Reduction> output(job, cursor);
    output.divide_by(divisor_row);
    A* packed_output = nullptr;
    if constexpr (std::is_same_v<T, A>)
      if (writes_at_once) packed_output = output.row();
    fold(cursor, packed_output, [&](const A* values, Index step, Index begin, Index end) {
      if (packed_output != nullptr && values == packed_output + begin * job.rows.inner.extent) return;
      write(output, values, step, begin, end);
    });
  }
}

template <class T, Combine kind>
void forward_planes(const Job& job) {
  if (job.packed != nullptr) return pool_packed<T>(job, [](const Job& planes) { forward_planes<T, kind>(planes); });
  if constexpr (kind != Combine::sum && is_real<T>)
    if (job.choice.nan == Nan::ignore) return forward_rows<Reduction<T, kind, Nan::ignore>>(job);
  if constexpr (kind == Combine::sum && sizeof(T) == 1)
    if (job.rows.tap_count <= few_bytes) return forward_rows<Reduction<T, kind, Nan::propagate, true>>(job);
  forward_rows<Reduction<T, kind, Nan::propagate>>(job);
}

template <class T, Combine kind>
void forward(const Job& job) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<T, float>)
    if (WholePlanes<T, kind>::can_make(job.rows)) {
      using Whole = WholePlanes<T, kind>;
      const Whole whole(job);
      for (Index row = job.first_row; row < job.last_row; row += Whole::lanes) {
        const Index end = std::min(row + Whole::lanes, job.last_row);
        if (end - row < Whole::lanes || !whole(row))
          forward_planes<T, kind>({job.rows, job.choice, job.in, job.out, row, end, job.scratch, nullptr});
      }
      return;
    }
#endif
  forward_planes<T, kind>(job);
}

/// The kernels of a scalar, or none if they are in another file.
template <class T, bool is_here>
constexpr CombineKernels forward_row() {
  if constexpr (is_here)
    return {{forward<T, Combine::max>, forward<T, Combine::min>, forward<T, Combine::sum>}};
  else
    return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FORWARD_INL_H_
