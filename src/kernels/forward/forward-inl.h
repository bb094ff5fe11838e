// Per-target code: values of all pools with kernels. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FORWARD_INL_H_
#undef NDPOOL_FORWARD_INL_H_
#else
#define NDPOOL_FORWARD_INL_H_
#endif

#include "kernels/forward/finish-inl.h"
#include "kernels/forward/fused-inl.h"
#include "kernels/forward/packed-inl.h"
#include "kernels/forward/rows-inl.h"
#include "kernels/forward/whole-inl.h"

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

#if HWY_TARGET != HWY_SCALAR
/// Rows in registers take the compiler long, so they are for long vectors, and sanitizers look at few of them.
template <class T>
inline constexpr bool has_fused = hn::MaxLanes(hn::ScalableTag<std::uint8_t>()) > 16 &&
                                  (!NDPOOL_IS_SANITIZED || std::is_same_v<T, float> ||
                                   std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::int32_t>);
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
  std::conditional_t<has_fused<T>, Fused<Cells<T, Op::kind>>, NoFused> fused(job, divisor_row);
#else
  NoFused fused(job, divisor_row);
#endif
  const auto write = [](Output<Reduction>& output, const A* values, Index step, Index begin, Index end) {
    if constexpr (Op::is_sum)
      output.write_sums(values, step, begin, end);
    else
      output.write(values, step, begin, end);
  };
  const auto make_one = [&]() {
    Output<Reduction> output(job, cursor);
    output.divide_by(divisor_row);
    A* packed_output = nullptr;
    if constexpr (std::is_same_v<T, A>)
      if (writes_at_once) packed_output = output.row();
    fold(cursor, packed_output, [&](const A* values, Index step, Index begin, Index end) {
      if (packed_output != nullptr && values == packed_output + begin * job.rows.inner.extent) return;
      write(output, values, step, begin, end);
    });
    return Index{1};
  };
  for (Index row = job.first_row; row < job.last_row;) {
    Index made = fused(cursor, job.last_row - row);
    if (made == 0) made = make_one();
    row += made;
    if (row < job.last_row) cursor.skip(made, row);
  }
}

template <class T, Combine kind>
void forward_rows_of(const Job& job) {
  if constexpr (kind != Combine::sum && is_real<T>)
    if (job.choice.nan == Nan::ignore) return forward_rows<Reduction<T, kind, Nan::ignore>>(job);
  if constexpr (kind == Combine::sum && sizeof(T) == 1)
    if (job.rows.tap_count <= few_bytes) return forward_rows<Reduction<T, kind, Nan::propagate, true>>(job);
  forward_rows<Reduction<T, kind, Nan::propagate>>(job);
}

template <class T, Combine kind>
void forward_planes(const Job& job) {
  bool is_packed = job.packed != nullptr;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (has_fused<T>) {
    is_packed = is_packed && !Fused<Cells<T, kind>>::likes_narrow(job.rows);
    if (!is_packed) {
      const Rows rows = job.rows.with_planes_merged();
      return forward_rows_of<T, kind>(
          {rows, job.choice, job.in, job.out, job.first_row, job.last_row, job.scratch, nullptr});
    }
  }
#endif
  if (is_packed) return pool_packed<T>(job, [](const Job& planes) { forward_rows_of<T, kind>(planes); });
  forward_rows_of<T, kind>(job);
}

template <class T, Combine kind>
void forward(const Job& job) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<T, float>)
    if (WholePlanes<T, kind>::can_make(job.rows)) {
      const typename WholePlanes<T, kind>::C::Flag flag{};
      const Index made = WholePlanes<T, kind>(job).make();
      const Index next = flag.take() ? job.first_row : made;  // a flag does not tell which plane had a NaN
      return forward_planes<T, kind>({job.rows, job.choice, job.in, job.out, next, job.last_row, job.scratch, nullptr});
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
