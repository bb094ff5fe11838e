// Winners of max and min and what is made of them: indices, and the derivatives in both directions.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/argmax/winners.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/argmax/fused_winners-inl.h"
#include "kernels/argmax/winners-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Copies outputs, which are packed, to an output row, each as `as` makes it.
template <class From, class To, class As>
HWY_NOINLINE void write_outputs(const Rows& rows, const From* from, Index outputs, To* to, Index step, Index lane_step,
                                As as) {
  const Index lanes = rows.inner.extent;
  if (step == lanes && (lanes == 1 || lane_step == 1)) {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < outputs * lanes; ++i) to[i] = as(from[i]);
    return;
  }
  for (Index output = 0; output < outputs; ++output)
    for (Index lane = 0; lane < lanes; ++lane) to[output * step + lane * lane_step] = as(from[output * lanes + lane]);
}

/// The same for numbers of taps.
template <class From, class To>
void write_taps(const Rows& rows, const From* from, Index outputs, To* to, Index step, Index lane_step) {
  write_outputs(rows, from, outputs, to, step, lane_step, [](From tap) { return static_cast<To>(tap); });
}

/// Flat indices of winners that are numbered by cells; tap 0 of the first window is `first`.
template <class Number>
HWY_NOINLINE void write_flat(const Rows& rows, const Number* numbers, Index first, Index outputs, Index* to) {
  const Index lanes = rows.inner.extent, stride = rows.horizontal.window.stride;
  const Index step = rows.horizontal.stride.tangent_out, lane_step = rows.inner.stride.tangent_out;
  if (lanes == 1 && step == 1) {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < outputs; ++i) to[i] = first + i * stride + static_cast<Index>(numbers[i]);
    return;
  }
  for (Index output = 0; output < outputs; ++output)
    for (Index lane = 0; lane < lanes; ++lane)
      to[output * step + lane * lane_step] =
          first + output * stride + static_cast<Index>(numbers[output * lanes + lane]);
}

/// Calls use(output, lane, cell) for the outputs [begin, end) of a row; `cell` is where the winner is.
template <class Tap, class Stride, class Use>
HWY_INLINE void for_each_winner(const Rows& rows, Index start, Index begin, Index end, const Tap* taps,
                                const TapOffsets& offsets, Stride stride, Use use) {
  const Index lanes = rows.inner.extent, along = stride(rows.horizontal);
  const Axis& axis = rows.horizontal.window;
  if (lanes == 1 && !axis.adaptive) {
    const Index step = axis.stride * along;
    Index window = start + axis.start(begin) * along;
    for (Index output = begin; output < end; ++output, window += step)
      use(output, 0, window + offsets[static_cast<Index>(taps[output - begin])]);
    return;
  }
  for (Index output = begin; output < end; ++output) {
    const Index window = start + axis.start(output) * along;
    for (Index lane = 0; lane < lanes; ++lane)
      use(output, lane, window + offsets[static_cast<Index>(taps[(output - begin) * lanes + lane])]);
  }
}

/// Winners in registers take the compiler long, so they are for what most arrays hold.
#if HWY_TARGET != HWY_SCALAR
template <class T, WinnerUse use>
using FusedWinnersOf = std::conditional_t<sizeof(T) >= 4 && (use == WinnerUse::indices || std::is_floating_point_v<T>),
                                          FusedWinners<T, use>, NoFusedWinners>;
#else
template <class T, WinnerUse use>
using FusedWinnersOf = NoFusedWinners;
#endif

/// T is signed: winners are the largest of the elements with the bits of `flips` flipped.
template <class T, Nan nan>
void winners_of(const TangentJob& job, typename Order<T>::Bits flips) {
  const Rows& rows = job.rows;
  const bool numbers_cells =
      job.use == WinnerUse::indices && job.index_kind == IndexKind::flat && sizeof(T) >= 4 && can_number_cells(rows);
  char* const tall = static_cast<char*>(job.scratch) + winner_rows_bytes(rows) + index_table_bytes(rows);
  RowWinners<T, nan> winners(rows, static_cast<const T*>(job.in), flips, job.scratch, tall,
                             numbers_cells ? Numbering::cells : Numbering::taps);
  // Indices count cells of the pooled axes; derivatives step through the array of tangents or gradients.
  const bool counts_cells = job.use == WinnerUse::indices;
  const auto stride = [counts_cells](const PooledAxis& axis) {
    return counts_cells ? axis.cell_stride : axis.stride.tangent_in;
  };
  const TapOffsets offsets(rows, reinterpret_cast<Index*>(static_cast<char*>(job.scratch) + winner_rows_bytes(rows)),
                           stride);
  if (job.use == WinnerUse::vjp) zero_planes(rows, job.first_row, job.last_row, static_cast<T*>(job.tangent_in));
  FusedWinnersOf<T, WinnerUse::indices> with_indices(job, flips);
  FusedWinnersOf<T, WinnerUse::jvp> with_tangents(job, flips);
  RowCursor cursor(rows, job.first_row);
  const Strides along = rows.horizontal.stride, behind = rows.inner.stride;
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
    Index made = with_indices(cursor, job.last_row - row);
    if (made == 0) made = with_tangents(cursor, job.last_row - row);
    if (made > 0) {
      row += made - 1;
      if (made > 1) cursor.skip(made - 1, row);
      continue;
    }
    const Strides at = cursor.offset();
    const Index start = window_start(rows, cursor, stride);
    winners(cursor, [&](Index begin, Index end, const T* values, const auto* taps) {
      const Index to = at.tangent_out + begin * along.tangent_out;
      const auto each = [&](auto use) { for_each_winner(rows, start, begin, end, taps, offsets, stride, use); };
      const auto out = [&](Index output, Index lane) {
        return at.tangent_out + output * along.tangent_out + lane * behind.tangent_out;
      };
      const auto in = [&](Index lane, Index cell) { return at.tangent_in + cell + lane * behind.tangent_in; };
      const auto write_compact = [&](auto* indices) {
        write_taps(rows, taps, end - begin, indices + to, along.tangent_out, behind.tangent_out);
      };
      if (job.use == WinnerUse::indices) {
        if (job.out != nullptr)
          write_outputs(rows, values, end - begin, static_cast<T*>(job.out) + at.out + begin * along.out, along.out,
                        behind.out, [flips](T value) {
                          using Bits = typename Order<T>::Bits;
                          return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(value) ^ flips));
                        });
        switch (job.index_kind) {
          case IndexKind::u8: write_compact(static_cast<std::uint8_t*>(job.tangent_out)); break;
          case IndexKind::u16: write_compact(static_cast<std::uint16_t*>(job.tangent_out)); break;
          case IndexKind::u32: write_compact(static_cast<std::uint32_t*>(job.tangent_out)); break;
          case IndexKind::flat:
            if (numbers_cells) {
              write_flat(rows, taps, start + rows.horizontal.window.start(begin), end - begin,
                         static_cast<Index*>(job.tangent_out) + to);
              break;
            }
            each([&](Index output, Index lane, Index cell) {
              static_cast<Index*>(job.tangent_out)[out(output, lane)] = cell;
            });
        }
      } else if constexpr (std::is_floating_point_v<T>) {
        if (job.use == WinnerUse::jvp)
          each([&](Index output, Index lane, Index cell) {
            static_cast<T*>(job.tangent_out)[out(output, lane)] = static_cast<const T*>(job.tangent_in)[in(lane, cell)];
          });
        else
          each([&](Index output, Index lane, Index cell) {
            static_cast<T*>(job.tangent_in)[in(lane, cell)] +=
                static_cast<const T*>(job.tangent_out)[out(output, lane)];
          });
      }
    });
  }
}

template <class T, Combine kind>
void winners(const TangentJob& job) {
  using Signed = typename Order<T>::Signed;
  constexpr auto flips = Order<T>::flipped(kind);
  if constexpr (std::is_floating_point_v<T>)
    if (job.choice.nan == Nan::ignore) return winners_of<Signed, Nan::ignore>(job, flips);
  winners_of<Signed, Nan::propagate>(job, flips);
}

template <class T, Combine kind>
constexpr TangentKernel winner_kernel() {
  if constexpr (std::is_arithmetic_v<T>)
    return winners<T, kind>;
  else
    return nullptr;
}

#define NDPOOL_ROW(name, type) {winner_kernel<type, Combine::max>(), winner_kernel<type, Combine::min>()},
NDPOOL_KERNEL_TABLE(WinnerKernels, winner_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(winner_kernels, add_winner_kernels, winners)

}  // namespace ndpool
#endif
