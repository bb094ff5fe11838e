// Short lists of 64-bit numbers, held in place: shapes, strides, kernels.
#pragma once

#include <ndpool/fault.hpp>

#include <initializer_list>

namespace ndpool {

namespace detail {

constexpr Index smaller(Index a, Index b) { return b < a ? b : a; }
constexpr Index larger(Index a, Index b) { return a < b ? b : a; }

}  // namespace detail

/// A list of at most `Capacity` numbers. A longer list can be made, so that validation can report its length, but
/// only its first `Capacity` entries are kept.
template <int Capacity>
class Extents {
 public:
  constexpr Extents() = default;
  constexpr Extents(std::initializer_list<Index> values) : Extents(values.begin(), static_cast<int>(values.size())) {}
  constexpr Extents(const Index* values, int count) : size_(count) {
    for (int i = 0; i < count && i < Capacity; ++i) values_[i] = values[i];
  }
  /// `count` times the same value.
  static constexpr Extents filled(int count, Index value) {
    Extents all;
    all.size_ = count;
    for (int i = 0; i < count && i < Capacity; ++i) all.values_[i] = value;
    return all;
  }

  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr Index operator[](int i) const { return values_[i]; }
  constexpr Index& operator[](int i) { return values_[i]; }
  constexpr const Index* begin() const { return values_; }
  constexpr const Index* end() const { return values_ + (size_ < Capacity ? size_ : Capacity); }
  constexpr void push_back(Index value) {
    if (size_ < Capacity) values_[size_] = value;
    ++size_;
  }

  friend constexpr bool operator==(const Extents& a, const Extents& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_ && i < Capacity; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

 private:
  int size_ = 0;
  Index values_[Capacity > 0 ? Capacity : 1] = {};  // NOLINT(bugprone-branch-clone): a capacity that may be 1
};

/// The extents of an array, outermost axis first.
using Shape = Extents<max_rank>;

/// Product of all extents (1 for an empty list), or -1 if it does not fit 64 bits.
template <int Capacity>
constexpr Index element_count(const Extents<Capacity>& shape) {
  Index count = 1;
  bool wrapped = false;
  for (Index extent : shape) {
    if (extent == 0) return 0;
    if (__builtin_mul_overflow(count, extent, &count)) wrapped = true;
  }
  return wrapped ? -1 : count;
}

}  // namespace ndpool
