// VJP of sum and average: every output hands its share to all of its taps.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/spread.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/finish-inl.h"
#include "kernels/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Spreads output rows back over input rows: first along one row, then across the rows its windows see.
template <class T>
class RowSpread {
 public:
  explicit RowSpread(const TangentJob& job)
      : job_(job),
        rows_(job.rows),
        axis_(job.rows.horizontal.window),
        inner_(job.rows.inner.extent),
        shares_(static_cast<T*>(job.scratch)),
        columns_(reinterpret_cast<T*>(static_cast<char*>(job.scratch) + winner_row_bytes(job.rows))) {}

  void operator()(const RowCursor& cursor) {
    load_shares(cursor);
    std::fill(columns_, columns_ + axis_.input * inner_, T(0));
    if (axis_.adaptive)
      for (Index output = 0; output < axis_.output; ++output) add_bin(output);
    else
      for (Index tap = 0; tap < axis_.kernel; ++tap) add_tap(tap);
    add_to_rows(cursor, 0, static_cast<T*>(job_.tangent_in) + cursor.offset().tangent_in);
  }

 private:
  void load_shares(const RowCursor& cursor) {
    const T* gy = static_cast<const T*>(job_.tangent_out) + cursor.offset().tangent_out;
    const Divisors divisors(rows_, job_.choice.average, cursor);
    for (Index output = 0; output < axis_.output; ++output) {
      const T divisor = job_.choice.averages ? static_cast<T>(divisors.of_output(output)) : T(1);
      for (Index lane = 0; lane < inner_; ++lane)
        shares_[output * inner_ + lane] =
            gy[output * rows_.horizontal.stride.tangent_out + lane * rows_.inner.stride.tangent_out] / divisor;
    }
  }

  /// One tap of all outputs for which it is on the input.
  void add_tap(Index tap) {
    const auto [begin, end] = axis_.outputs_with_tap(tap);
    const auto cell = [&](Index output) { return (axis_.start(output) + tap * axis_.dilation) * inner_; };
    if (begin == end) return;
    if (axis_.stride == 1) return add(shares_ + begin * inner_, columns_ + cell(begin), (end - begin) * inner_);
    for (Index output = begin; output < end; ++output) add(shares_ + output * inner_, columns_ + cell(output), inner_);
  }

  void add_bin(Index output) {
    const Taps taps = axis_.taps(output);
    for (Index r = 0; r < taps.count; ++r) add(shares_ + output * inner_, columns_ + (taps.first + r) * inner_, inner_);
  }

  static void add(const T* from, T* to, Index count) {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < count; ++i) to[i] += from[i];
  }

  void add_to_rows(const RowCursor& cursor, int axis, T* gx) {
    if (axis < rows_.vertical_count) {
      const PooledAxis& vertical = rows_.vertical[axis];
      const Taps taps = vertical.window.taps(cursor.vertical_position(axis));
      for (Index r = 0; r < taps.count; ++r)
        add_to_rows(cursor, axis + 1, gx + (taps.first + r * taps.step) * vertical.stride.tangent_in);
      return;
    }
    if (tangent_in_is_packed(rows_)) return add(columns_, gx, axis_.input * inner_);
    for (Index pixel = 0; pixel < axis_.input; ++pixel)
      for (Index lane = 0; lane < inner_; ++lane)
        gx[pixel * rows_.horizontal.stride.tangent_in + lane * rows_.inner.stride.tangent_in] +=
            columns_[pixel * inner_ + lane];
  }

  const TangentJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  T *shares_, *columns_;
};

template <class T>
void spread(const TangentJob& job) {
  zero_planes(job.rows, job.first_row, job.last_row, static_cast<T*>(job.tangent_in));
  RowSpread<T> spread_row(job);
  RowCursor cursor(job.rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) spread_row(cursor);
}

template <class T>
constexpr TangentKernel spread_kernel() {
  if constexpr (std::is_floating_point_v<T>)
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
