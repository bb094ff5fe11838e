// The VJP of max and min from their input, by way of the winners' tap numbers.
#pragma once

#include "kernels/indices/maps.hpp"
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

  /// Of one plane, or of one that is made floats: packed taps, and the gradients that the map has.
  static std::unique_ptr<const indices::Layout> make_layout(const Rows& rows, bool as_floats) {
    Rows plane = one_plane_of(rows);
    pack_plane(plane, &Strides::out, false);
    if (as_floats) {
      pack_plane(plane, &Strides::tangent_in, true);
      pack_plane(plane, &Strides::tangent_out, false);
    }
    return std::make_unique<const indices::Layout>(indices::make_layout(plane, false));
  }

  TapPlanes(const Rows& rows, const indices::Layout& layout, const KernelChoice& choice, ScalarKind kind,
            std::size_t size)
      : rows_(rows),
        layout_(layout),
        to_taps_(one_plane_of(rows)),
        choice_(choice),
        kind_(kind),
        size_(static_cast<Index>(size)),
        find_(kernels().winners->of[static_cast<int>(kind)][static_cast<int>(choice.combine)]) {
    pack_plane(to_taps_, &Strides::out, false);
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
      const indices::MapJob job = {.layout = layout_,
                                   .map = indices::IndexMap::add,
                                   .form = indices::Form::tap8,
                                   .kind = kind_,
                                   .indices = taps,
                                   .cells = at(arrays.tangent_in, offset.tangent_in),
                                   .values = at(arrays.tangent_out, offset.tangent_out)};
      for (Index tile = 0; tile < layout_.by_cells.count; ++tile) indices::run_tile(job, tile, rest);
    }
  }

 private:
  const Rows& rows_;
  const indices::Layout& layout_;
  Rows to_taps_;
  const KernelChoice& choice_;
  const ScalarKind kind_;
  const Index size_;
  const TangentKernel find_;
};

}  // namespace ndpool
