// Indices of winners: flat ones in 8 bytes, compact ones (the number of the tap inside the window) in 1, 2 or 4; each
// can be made of the other, and derivatives of max and min need nothing else.
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

/// Flat indices are signed 64-bit numbers, compact ones are unsigned.
template <class I>
concept IndexScalar = std::same_as<std::remove_const_t<I>, Index> || std::unsigned_integral<std::remove_const_t<I>>;

/// The same with compact indices: y = R(x), and the tap number of each winner.
template <class Reducer, class X, class Y, std::unsigned_integral Small>
void forward(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<Y>& y,
             const View<Small>& taps) {
  check_forward(geometry, reducer, x, y, taps);
  core::forward(geometry, reducer, x, y, [&](const Shape& output, const auto& summary) {
    const Index tap = reducer.winner(summary);
    taps[output] = tap < 0 ? no_winner<Small> : static_cast<Small>(tap);
  });
}

namespace detail {

/// True if the entry for an output names no winner.
template <class I>
bool names_none(I index) {
  if constexpr (std::same_as<I, Index>)
    return index == -1;
  else
    return index == no_winner<I>;
}

/// The cell that the entry for an output names.
template <class I>
Shape winner_cell(const Geometry& geometry, const Shape& output, I index) {
  if constexpr (std::same_as<I, Index>)
    return geometry.cell_from_flat(output, index);
  else
    return geometry.cell_from_flat(output, geometry.flat_from_tap(output, static_cast<Index>(index)));
}

}  // namespace detail

/// Throws if an array cannot hold indices of this geometry, whatever they are.
template <IndexScalar I>
void check_index_array(const Geometry& geometry, const View<I>& indices) {
  using Value = std::remove_const_t<I>;
  constexpr bool flat = std::same_as<Value, Index>;
  if constexpr (!flat) detail::check_compact<Value>(geometry);
  require(check_view(indices, geometry.output_shape(), flat ? Argument::indices : Argument::taps));
}

/// Throws if an index names neither a cell of the pooled axes nor none. A flat index may name any cell, so that indices
/// of other systems serve; a tap must be one of its window.
template <IndexScalar I>
void check_indices(const Geometry& geometry, const View<I>& indices) {
  using Value = std::remove_const_t<I>;
  constexpr bool flat = std::same_as<Value, Index>;
  constexpr Argument argument = flat ? Argument::indices : Argument::taps;
  check_index_array(geometry, indices);
  const Index limit = flat ? geometry.cell_count() : geometry.tap_count();
  for_each_position(geometry.output_shape(), [&](const Shape& at) {
    const Value index = indices[at];
    if (detail::names_none(index)) return;
    bool known = false;
    if constexpr (flat)
      known = index >= 0 && index < limit;
    else
      known = geometry.is_real_tap(at, static_cast<Index>(index));
    if (!known) raise({Code::index_out_of_range, argument, -1, {static_cast<Index>(index), limit}});
  });
}

/// What `jvp_from_indices` asks of its arrays, but for the indices in them.
template <IndexScalar I, class DX, class DY>
void check_jvp_arrays(const Geometry& geometry, const View<I>& indices, const View<DX>& dx, const View<DY>& dy) {
  check_index_array(geometry, indices);
  require(check_view(dx, geometry.input_shape(), Argument::dx));
  require(check_output(dy, geometry.output_shape(), Argument::dy));
  require(check_overlap(dy, dx, Argument::dy));
  require(check_overlap(dy, indices, Argument::dy));
}

/// dy = the tangent of each winner, 0 where there is none: the JVP of max and min with ties `first`.
template <IndexScalar I, class DX, class DY, class Tick = NoTick>
void jvp_from_indices(const Geometry& geometry, const View<I>& indices, const View<DX>& dx, const View<DY>& dy,
                      Tick tick = {}) {
  check_jvp_arrays(geometry, indices, dx, dy);
  check_indices(geometry, indices);
  for_each_position(geometry.output_shape(), [&](const Shape& at) {
    tick();
    dy[at] = detail::names_none(indices[at]) ? DY(0) : convert<DY>(dx[detail::winner_cell(geometry, at, indices[at])]);
  });
}

/// What `vjp_from_indices` asks of its arrays, but for the indices in them.
template <IndexScalar I, class GY, class GX>
void check_vjp_arrays(const Geometry& geometry, const View<I>& indices, const View<GY>& gy, const View<GX>& gx) {
  check_index_array(geometry, indices);
  require(check_view(gy, geometry.output_shape(), Argument::gy));
  require(check_output(gx, geometry.input_shape(), Argument::gx));
  require(check_overlap(gx, gy, Argument::gx));
  require(check_overlap(gx, indices, Argument::gx));
}

/// gx = the gradients of all outputs that each cell has won: the VJP of max and min with ties `first`.
template <IndexScalar I, class GY, class GX, class Tick = NoTick>
void vjp_from_indices(const Geometry& geometry, const View<I>& indices, const View<GY>& gy, const View<GX>& gx,
                      Tick tick = {}) {
  check_vjp_arrays(geometry, indices, gy, gx);
  check_indices(geometry, indices);
  using Number = Accumulator<WorkScalar<GY, GX>>;
  std::vector<Number> sums(static_cast<std::size_t>(element_count(geometry.input_shape())), Number(0));
  const View<Number> sums_view(sums.data(), geometry.input_shape());
  for_each_position(geometry.output_shape(), [&](const Shape& at) {
    tick();
    if (!detail::names_none(indices[at]))
      sums_view[detail::winner_cell(geometry, at, indices[at])] += static_cast<Number>(gy[at]);
  });
  for_each_position(geometry.input_shape(), [&](const Shape& cell) {
    tick();
    gx[cell] = convert<GX>(sums_view[cell]);
  });
}

}  // namespace ndpool::spec
