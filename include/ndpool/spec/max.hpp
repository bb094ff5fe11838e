// Max: the largest of the taps on input cells. Padding never takes part.
//
//   y = max x_i        w_i = 1 at the first / at every / split over all largest taps
#pragma once

#include <ndpool/api.h>
#include <ndpool/spec/extreme.hpp>

namespace ndpool::spec {

/// The direction of max.
struct Largest {
  /// True if a is less than b: b is the more extreme.
  template <class T>
  static constexpr bool before(const T& a, const T& b) {
    return b < a;
  }
  /// The larger ends of both.
  template <class T>
  static constexpr T join(const T& a, const T& b) {
    return Join<T>::max(a, b);
  }

  /// Less than every other number.
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return T(-std::numeric_limits<T>::infinity());
    else
      return std::numeric_limits<T>::lowest();
  }
};

template <class T>
struct NDPOOL_API Max : Extreme<T, Largest> {};

}  // namespace ndpool::spec
