// Winners of max and min and what is made of them: indices, and the derivatives in both directions.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/winners.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/planes-inl.h"
#include "kernels/winners-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Calls use(position in the output row, offset of the winner) for all outputs of a row.
template <class Winners, class Stride, class Use>
void for_each_winner(const Rows& rows, const RowCursor& cursor, const Winners& winners, const TapOffsets& offsets,
                     Stride stride, Use use) {
  const Index start = window_start(rows, cursor, stride), inner = rows.inner.extent;
  for (Index output = 0; output < rows.horizontal.window.output; ++output) {
    const Index window = start + rows.horizontal.window.start(output) * stride(rows.horizontal);
    for (Index lane = 0; lane < inner; ++lane) {
      const auto tap = static_cast<Index>(winners.taps()[output * inner + lane]);
      use(output, lane, window + offsets[tap]);
    }
  }
}

template <class T, Combine kind, Nan nan>
void winners_of(const TangentJob& job) {
  const Rows& rows = job.rows;
  RowWinners<T, kind, nan> winners(rows, static_cast<const T*>(job.in), job.scratch);
  // Indices count cells of the pooled axes; derivatives step through the array of tangents or gradients.
  const bool counts_cells = job.use == WinnerUse::indices;
  const auto stride = [counts_cells](const PooledAxis& axis) {
    return counts_cells ? axis.cell_stride : axis.stride.tangent_in;
  };
  const TapOffsets offsets(rows, reinterpret_cast<Index*>(static_cast<char*>(job.scratch) + 4 * winner_row_bytes(rows)),
                           stride);
  const Index inner = rows.inner.extent;
  if (job.use == WinnerUse::vjp) zero_planes(rows, job.first_row, job.last_row, static_cast<T*>(job.tangent_in));
  RowCursor cursor(rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
    winners.find(cursor);
    const Strides at = cursor.offset();
    const auto out = [&](Index output, Index lane) {
      return at.tangent_out + output * rows.horizontal.stride.tangent_out + lane * rows.inner.stride.tangent_out;
    };
    const auto in = [&](Index lane, Index cell) { return at.tangent_in + cell + lane * rows.inner.stride.tangent_in; };
    const auto each = [&](auto use) { for_each_winner(rows, cursor, winners, offsets, stride, use); };
    if (job.use == WinnerUse::indices) {
      const auto write = [&]<class I>(I* indices) {
        each([&](Index output, Index lane, Index cell) {
          static_cast<T*>(job.out)[at.out + output * rows.horizontal.stride.out + lane * rows.inner.stride.out] =
              winners.values()[output * inner + lane];
          if constexpr (std::is_signed_v<I>)
            indices[out(output, lane)] = cell;
          else
            indices[out(output, lane)] = static_cast<I>(winners.taps()[output * inner + lane]);
        });
      };
      switch (job.index_kind) {
        case IndexKind::u8: write(static_cast<std::uint8_t*>(job.tangent_out)); break;
        case IndexKind::u16: write(static_cast<std::uint16_t*>(job.tangent_out)); break;
        case IndexKind::u32: write(static_cast<std::uint32_t*>(job.tangent_out)); break;
        case IndexKind::flat: write(static_cast<Index*>(job.tangent_out)); break;
      }
    }
    else if (job.use == WinnerUse::jvp)
      each([&](Index output, Index lane, Index cell) {
        static_cast<T*>(job.tangent_out)[out(output, lane)] = static_cast<const T*>(job.tangent_in)[in(lane, cell)];
      });
    else
      each([&](Index output, Index lane, Index cell) {
        static_cast<T*>(job.tangent_in)[in(lane, cell)] += static_cast<const T*>(job.tangent_out)[out(output, lane)];
      });
  }
}

template <class T, Combine kind>
void winners(const TangentJob& job) {
  if (std::is_floating_point_v<T> && job.choice.nan == Nan::ignore)
    winners_of<T, kind, Nan::ignore>(job);
  else
    winners_of<T, kind, Nan::propagate>(job);
}

const WinnerKernels* winner_kernels() {
  static constexpr WinnerKernels kernels = {
      HWY_TARGET,
      {
#define NDPOOL_ROW(name, type) {winners<type, Combine::max>, winners<type, Combine::min>},
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

NDPOOL_EXPORT_KERNELS(winner_kernels, add_winner_kernels, winners)

}  // namespace ndpool
#endif
