// Values of all pools with kernels, compiled once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/forward.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/finish-inl.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Horizontal counts as floats in the last row of the scratch; null where divisors are given, do not fit there, or the
/// output is not one packed row of single lanes.
template <class T>
const T* make_divisor_row(const Job& job, const RowCursor& cursor) {
  const Axis& axis = job.rows.horizontal.window;
  if (!job.choice.averages || job.choice.average.divisor != AverageOptions::no_divisor) return nullptr;
  if (job.rows.inner.extent != 1 || !job.rows.out_is_packed() || strip_outputs(job.rows) < axis.output) return nullptr;
  if (job.rows.tap_count > Index{1} << std::numeric_limits<T>::digits) return nullptr;
  const std::size_t offset = static_cast<std::size_t>(scratch_rows(job.rows) - 1) * scratch_row_bytes(job.rows);
  T* counts = reinterpret_cast<T*>(static_cast<char*>(job.scratch) + offset);
  const Divisors divisors(job.rows, job.choice.average, cursor);
  for (Index output = 0; output < axis.output; ++output) counts[output] = static_cast<T>(divisors.horizontal(output));
  return counts;
}

template <class T, class A, class Op>
void forward_rows(const Job& job) {
  RowFold<T, A, Op> fold(job.rows, static_cast<const T*>(job.in), job.scratch);
  RowCursor cursor(job.rows, job.first_row);
  const bool writes_at_once = job.rows.out_is_packed() && !job.choice.averages;
  const T* divisor_row = nullptr;
  if constexpr (Op::is_sum && std::is_floating_point_v<T>) divisor_row = make_divisor_row<T>(job, cursor);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
    Output<T> output(job, cursor);
    output.divide_by(divisor_row);
    A* packed_output = nullptr;
    if constexpr (std::is_same_v<T, A>)
      if (writes_at_once) packed_output = output.row();
    fold(cursor, packed_output, [&](const A* values, Index step, Index begin, Index end) {
      if (packed_output != nullptr && values == packed_output + begin * job.rows.inner.extent) return;
      if constexpr (Op::is_sum)
        output.write_sums(values, step, begin, end);
      else
        output.write(values, step, begin, end);
    });
  }
}

template <class T, Combine kind>
void forward(const Job& job) {
  if constexpr (kind == Combine::sum) {
    // Sums of short integers are exact in 32 bits as long as the window is not enormous.
    using Short = std::conditional_t<(sizeof(T) < 4), std::int32_t, std::int64_t>;
    if constexpr (std::is_floating_point_v<T>)
      return forward_rows<T, T, Combiner<kind, Nan::propagate, T>>(job);
    else
      return forward_rows<T, Short, Combiner<kind, Nan::propagate, Short>>(job);
  } else if (std::is_floating_point_v<T> && job.choice.nan == Nan::ignore) {
    forward_rows<T, T, Combiner<kind, Nan::ignore, T>>(job);
  } else {
    forward_rows<T, T, Combiner<kind, Nan::propagate, T>>(job);
  }
}

const ForwardKernels* forward_kernels() {
  static constexpr ForwardKernels kernels = {
      HWY_TARGET,
      {
#define NDPOOL_ROW(name, type) {forward<type, Combine::max>, forward<type, Combine::min>, forward<type, Combine::sum>},
          NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
      },
  };
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

HWY_EXPORT(forward_kernels);

void add_forward_kernels(std::vector<KernelTable>& tables) {
  for (const auto& compiled : HWY_DISPATCH_TABLE(forward_kernels))
    if (compiled != nullptr) add_to_table(tables, *compiled, &KernelTable::forward);
}

}  // namespace ndpool
#endif
