// Min: the smallest of the taps on input cells. Padding never takes part.
//
//   y = min x_i        w_i = 1 at the first / at every / split over all smallest taps
#pragma once

#include <ndpool/api.h>
#include <ndpool/spec/extreme.hpp>

namespace ndpool::spec {

/// The direction of min.
struct Smallest {
  /// True if a is greater than b: b is the more extreme.
  template <class T>
  static constexpr bool before(const T& a, const T& b) {
    return a < b;
  }
  /// The smaller ends of both.
  template <class T>
  static constexpr T join(const T& a, const T& b) {
    return Join<T>::min(a, b);
  }

  /// Greater than every other number.
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
};

template <class T>
struct NDPOOL_API Min : Extreme<T, Smallest> {};

}  // namespace ndpool::spec
