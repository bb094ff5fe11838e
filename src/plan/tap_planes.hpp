// The VJP of max and min from their input, by way of the winners' tap numbers.
#pragma once

#include "plan/float_planes.hpp"

namespace ndpool {

/// Finds the tap numbers of a plane, and uses them as given ones.
class TapPlanes {
 public:
  /// True if the winners of a plane are few enough to be kept: a byte for each.
  static bool fit(const Rows& rows) {
    constexpr double most_bytes = 4 << 20;
    double bytes = static_cast<double>(rows.rows_per_plane) * static_cast<double>(rows.horizontal.window.output);
    bytes *= static_cast<double>(rows.inner.extent);
    return rows.tap_count <= 0xFF && bytes <= most_bytes;
  }
  static std::size_t bytes(const Rows& rows) { return (static_cast<std::size_t>(plane_outputs(rows)) + 127) / 64 * 64; }

  TapPlanes(const Rows& rows, const KernelChoice& choice, ScalarKind kind, std::size_t size)
      : rows_(rows),
        to_taps_(one_plane_of(rows)),
        choice_(choice),
        size_(static_cast<Index>(size)),
        find_(kernels().winners->of[static_cast<int>(kind)][static_cast<int>(choice.combine)]),
        use_(kernels().indices->of[static_cast<int>(kind)]) {
    pack_plane(to_taps_, &Strides::out, false);
    from_taps_ = to_taps_;
    pack_plane(to_taps_, &Strides::tangent_out, false);
  }

  void operator()(const Arrays& arrays, Index begin, Index end, void* scratch) const {
    auto* taps = static_cast<std::uint8_t*>(scratch);
    void* rest = static_cast<char*>(scratch) + bytes(rows_);
    for (Index row = begin; row < end; row += rows_.rows_per_plane) {
      const Strides offset = RowCursor(rows_, row).offset();
      const auto at = [&](const void* array, Index by) {
        return static_cast<char*>(const_cast<void*>(array)) + by * size_;
      };
      find_({to_taps_, choice_, WinnerUse::indices, IndexKind::u8, at(arrays.in, offset.in), nullptr, nullptr, taps, 0,
             rows_.rows_per_plane, rest});
      use_({from_taps_, IndexUse::vjp, IndexKind::u8, taps, at(arrays.tangent_in, offset.tangent_in),
            at(arrays.tangent_out, offset.tangent_out), 0, rows_.rows_per_plane, rest});
    }
  }

 private:
  const Rows& rows_;
  Rows to_taps_, from_taps_;
  const KernelChoice& choice_;
  const Index size_;
  const TangentKernel find_;
  const IndexKernel use_;
};

}  // namespace ndpool
