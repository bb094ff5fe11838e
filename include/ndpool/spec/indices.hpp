// Compact indices: the winner as the number of its tap inside the window, in 1, 2 or 4 bytes instead of 8.
#pragma once

#include <ndpool/spec/maps.hpp>

#include <concepts>

namespace ndpool::spec {

/// All bits set: the window has no winner.
template <std::unsigned_integral Small>
inline constexpr Small no_winner = static_cast<Small>(-1);

/// Bytes a tap number needs: 1 up to 255 taps, then 2, then 4; 0 if a window has too many taps for 4.
template <int Capacity>
constexpr int compact_bytes(const BasicGeometry<Capacity>& geometry) {
  const Index taps = geometry.tap_count();
  return taps <= 0xFF ? 1 : taps <= 0xFFFF ? 2 : taps <= 0xFFFFFFFF ? 4 : 0;
}

namespace detail {

template <class Small>
void check_compact(const Geometry& geometry) {
  const int bytes = compact_bytes(geometry);
  if (bytes == 0 || static_cast<int>(sizeof(Small)) < bytes)
    raise({Code::taps_do_not_fit, Argument::taps, -1, {geometry.tap_count(), static_cast<Index>(sizeof(Small))}});
}

}  // namespace detail

/// Tap numbers of flat indices. An index of a cell that its window does not see is an error.
template <std::unsigned_integral Small, class Indices>
void compact_from_flat(const Geometry& geometry, const View<Indices>& indices, const View<Small>& taps) {
  detail::check_compact<Small>(geometry);
  require(check_view(indices, geometry.output_shape(), Argument::indices));
  require(check_output(taps, geometry.output_shape(), Argument::taps));
  require(check_overlap(taps, indices, Argument::taps));
  for_each_position(geometry.output_shape(), [&](const Shape& output) {
    if (indices[output] != -1 && geometry.tap_from_flat(output, indices[output]) < 0)
      raise({Code::index_out_of_range, Argument::indices, -1, {indices[output], geometry.tap_count()}});
  });
  for_each_position(geometry.output_shape(), [&](const Shape& output) {
    const Index tap = geometry.tap_from_flat(output, indices[output]);
    taps[output] = tap < 0 ? no_winner<Small> : static_cast<Small>(tap);
  });
}

/// Flat indices of tap numbers. A tap that lies outside its window, or not on an input cell, is an error.
template <class Small>
requires std::unsigned_integral<std::remove_const_t<Small>>
void flat_from_compact(const Geometry& geometry, const View<Small>& taps, const View<Index>& indices) {
  using Value = std::remove_const_t<Small>;
  detail::check_compact<Value>(geometry);
  require(check_view(taps, geometry.output_shape(), Argument::taps));
  require(check_output(indices, geometry.output_shape(), Argument::indices));
  require(check_overlap(indices, taps, Argument::indices));
  for_each_position(geometry.output_shape(), [&](const Shape& output) {
    if (taps[output] != no_winner<Value> && !geometry.is_real_tap(output, static_cast<Index>(taps[output])))
      raise({Code::index_out_of_range, Argument::taps, -1, {static_cast<Index>(taps[output]), geometry.tap_count()}});
  });
  for_each_position(geometry.output_shape(), [&](const Shape& output) {
    indices[output] =
        taps[output] == no_winner<Value> ? -1 : geometry.flat_from_tap(output, static_cast<Index>(taps[output]));
  });
}

}  // namespace ndpool::spec
