// What tests of kernels share: settings that are put back, awkward numbers, and what it means to be the same number.
#pragma once

#include "support/array.hpp"

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace ndpool::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool has_sanitizer = true;
#else
inline constexpr bool has_sanitizer = false;
#endif

/// Chooses an instruction set for as long as it lives.
struct ForcedTarget {
  explicit ForcedTarget(const std::string& name) { force_target(name); }
  ~ForcedTarget() { force_target(""); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

/// Chooses the number of threads for as long as it lives.
struct Threads {
  explicit Threads(int count) : before(get_threads()) { set_threads(count); }
  ~Threads() { set_threads(before); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  int before;
};

/// Which numbers beyond the real line may occur.
enum class Specials { none, infinities, all };

/// Numbers that make rounding, ties, clamping and NaN visible.
template <class T>
Array<T> awkward_numbers(const Shape& shape, std::mt19937_64& random, Specials specials = Specials::all) {
  Array<T> values(shape);
  const bool with_nan = random() % 4 == 0 && specials == Specials::all;
  const bool with_infinities = random() % 4 == 0 && specials != Specials::none;
  const bool with_many_ties = random() % 6 == 0;
  const bool is_small = random() % 2 == 0;  // nearly all integers far from the ends of their type, so that sums fit it
  for (T& value : values) {
    const std::uint64_t bits = random();
    if constexpr (std::integral<T>) {
      value = with_many_ties  ? static_cast<T>(bits >> 8 & 3)
              : is_small      ? static_cast<T>(bits % 4096 == 0 ? bits >> 12 : (bits >> 12 & 0xFFFF) - 0x4000)
              : bits % 8 == 0 ? std::numeric_limits<T>::max()
              : bits % 8 == 1 ? std::numeric_limits<T>::lowest()
                              : static_cast<T>(bits >> 8);
    } else {
      using Limits = std::numeric_limits<T>;
      const bool small = with_many_ties || bits % 5 == 0;
      const double full = std::ldexp(static_cast<double>(bits >> 11), -49) - 8;  // all bits of a double, in -8 to 8
      value = static_cast<T>(static_cast<float>(bits >> 8 & 3));
      if (!small) value = std::same_as<T, double> ? static_cast<T>(full) : static_cast<T>(static_cast<float>(full));
      if (bits % 31 == 0) value = static_cast<T>(-0.0F);
      if (with_nan && bits % 7 == 0) value = Limits::quiet_NaN();
      if (with_infinities && bits % 41 == 0)
        value = bits % 2 == 0 ? Limits::infinity() : static_cast<T>(-Limits::infinity());
    }
  }
  return values;
}

/// The same number, or both NaN.
template <class T>
bool same(const T& a, const T& b) {
  return a == b || (a != a && b != b);
}

template <class T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.begin(), b.begin(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}

/// Views that no packed array has: every axis reversed, with gaps, and the axes in reverse order in memory.
template <class T>
struct StridedArray {
  explicit StridedArray(const Array<T>& packed) : memory(Shape{4 * packed.size() + 1}) {
    Shape strides = packed.shape();
    Index stride = 2, offset = 0;
    for (int a = 0; a < packed.shape().size(); ++a) {
      strides[a] = -stride;
      offset += stride * (packed.shape()[a] - 1);
      stride *= packed.shape()[a];
    }
    view = View<T>(memory.begin() + offset, packed.shape(), strides);
    const View<const T> from = packed.view();
    spec::for_each_position(packed.shape(), [&](const Shape& at) { view[at] = from[at]; });
  }
  Array<T> packed() const {
    Array<T> copy(view.shape());
    spec::for_each_position(view.shape(), [&](const Shape& at) { copy.view()[at] = view[at]; });
    return copy;
  }
  Array<T> memory;
  View<T> view;
};

}  // namespace ndpool::testing
