// Values of all pools with kernels, compiled once for every instruction set.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/forward.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/finish-inl.h"
#include "kernels/fused-inl.h"
#include "kernels/packed-inl.h"
#include "kernels/rows-inl.h"

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
        const Divisors divisors(job_.rows, job_.choice.average, cursor);
        const bool uniform = has_one_divisor_;
        if (!uniform && divisor_row_ == nullptr) return false;
        const T by = static_cast<T>(uniform ? divisors.of_output(0) : divisors.vertical());
        // The reciprocal of a power of two is exact, so multiplying by it is dividing.
        int exponent = 0;
        if (uniform && std::frexp(by, &exponent) == T(0.5)) {
          const V times = hn::Set(D(), T(1) / by);
          return make(columns, out, [times](V v, Index) HWY_ATTR { return hn::Mul(v, times); });
        }
        const V vertical = hn::Set(D(), by);
        HWY_ALIGN T ones[hn::MaxLanes(D())];
        std::fill_n(ones, hn::MaxLanes(D()), T(1));
        const T* horizontal = uniform ? ones : divisor_row_;
        const Index step = uniform ? 0 : 1;
        if (rows_)
          return make(columns, out, [vertical, horizontal, step](V v, Index output) HWY_ATTR {
            return hn::Div(v, hn::Mul(vertical, hn::LoadU(D(), horizontal + step * output)));
          });
        return make(columns, out, [vertical, horizontal, step](V v, Index output) HWY_ATTR {
          return hn::Div(v, hn::Mul(vertical, hn::Set(D(), horizontal[step * output])));
        });
      }
    return make(columns, out, [](V v, Index) HWY_ATTR { return v; });
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  template <class Finish>
  HWY_INLINE bool make(Columns<D, kind>& columns, T* out, const Finish& finish) {
    if (rows_) return FusedRow<D, kind>::make(axis_, columns, out, stream_, finish);
    return FusedLanes<D, kind>::make(job_.rows, columns, out, stream_, finish);
  }

  const Job& job_;
  const T* divisor_row_;
  const Axis& axis_;
  bool rows_ = false, lanes_ = false, stream_ = false, has_one_divisor_ = false;
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
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
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
void forward(const Job& job) {
  if (job.packed != nullptr) return pool_packed<T>(job, [](const Job& planes) { forward<T, kind>(planes); });
  if constexpr (kind != Combine::sum && is_real<T>)
    if (job.choice.nan == Nan::ignore) return forward_rows<Reduction<T, kind, Nan::ignore>>(job);
  if constexpr (kind == Combine::sum && sizeof(T) == 1)
    if (job.rows.tap_count <= few_bytes) return forward_rows<Reduction<T, kind, Nan::propagate, true>>(job);
  forward_rows<Reduction<T, kind, Nan::propagate>>(job);
}

#define NDPOOL_ROW(name, type) {forward<type, Combine::max>, forward<type, Combine::min>, forward<type, Combine::sum>},
NDPOOL_KERNEL_TABLE(ForwardKernels, forward_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(forward_kernels, add_forward_kernels, forward)

}  // namespace ndpool
#endif
