// Global max or min with ties `all` or `split` from one bit per input element: is it an extreme of its plane? A plane
// is the `cells` consecutive elements that one output is the extreme of. Bits are packed, the lowest first, eight to a
// byte. `Count` is the integer that the caller counts elements in.
#pragma once

#include <ndpool/reducer.hpp>
#include <ndpool/spec/scalar.hpp>

#include <cstdint>

namespace ndpool::spec {

template <class Count>
constexpr Count bytes_of_bits(Count bits) {
  return bits / 8 + (bits % 8 != 0);
}

template <class Count>
constexpr bool has_bit(const std::uint8_t* bits, Count position) {
  return (bits[position / 8] >> (position % 8) & 1) != 0;
}

/// Sets the bits of all elements of `x` that tie with the extreme `y` of their plane, and clears the others.
template <class Count, class Reducer, class T>
constexpr void mark_extremes(const Reducer& reducer, Count planes, Count cells, const T* x, const T* y,
                             std::uint8_t* bits) {
  for (Count byte = 0; byte < bytes_of_bits(planes * cells); ++byte) bits[byte] = 0;
  for (Count plane = 0, position = 0; plane < planes; ++plane)
    for (Count cell = 0; cell < cells; ++cell, ++position)
      if (!reducer.beats(y[plane], x[position]))
        bits[position / 8] = static_cast<std::uint8_t>(bits[position / 8] | 1 << (position % 8));
}

/// gx = gy at the extremes of each plane, with `split` divided by their number; 0 elsewhere.
template <class Count, class T>
constexpr void vjp_from_bits(Ties ties, Count planes, Count cells, const std::uint8_t* bits, const T* gy, T* gx) {
  for (Count plane = 0; plane < planes; ++plane) {
    const Count first = plane * cells;
    T share = gy[plane];
    if (ties == Ties::split) {
      Count extremes = 0;
      for (Count cell = 0; cell < cells; ++cell) extremes += has_bit(bits, first + cell);
      if (extremes > 0) share = T(share / from_count<T>(extremes));
    }
    // Added to 0, so that -0 becomes 0 as it does in a sum.
    for (Count cell = 0; cell < cells; ++cell) gx[first + cell] = has_bit(bits, first + cell) ? T(T(0) + share) : T(0);
  }
}

/// The first extreme of a plane, or -1 if no bit of it is set.
template <class Count>
constexpr Count first_extreme(const std::uint8_t* bits, Count plane, Count cells) {
  for (Count cell = 0; cell < cells; ++cell)
    if (has_bit(bits, plane * cells + cell)) return cell;
  return -1;
}

}  // namespace ndpool::spec
