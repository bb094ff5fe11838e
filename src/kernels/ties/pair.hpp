// What derivatives by ties fold: the order of an extreme, and the sum of what belongs to the cells, or windows, that
// have it.
#pragma once

#include <bit>
#include <cstdint>

namespace ndpool::ties {

/// A key and a sum. Keys are ordered as values, the largest wins; all zeros are what a missing tap folds as.
template <class T>
struct Pair;

/// Both in one integer, the key above.
template <>
struct Pair<float> {
  using Key = std::uint32_t;
  std::uint64_t bits = 0;
  static constexpr Pair of(Key key, float sum) {
    return {std::uint64_t{key} << 32 | std::bit_cast<std::uint32_t>(sum)};
  }
  constexpr Key key() const { return static_cast<Key>(bits >> 32); }
  constexpr float sum() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
};

template <>
struct Pair<double> {
  using Key = std::uint64_t;
  Key high = 0;
  double low = 0;
  static constexpr Pair of(Key key, double sum) { return {key, sum}; }
  constexpr Key key() const { return high; }
  constexpr double sum() const { return low; }
};

}  // namespace ndpool::ties
