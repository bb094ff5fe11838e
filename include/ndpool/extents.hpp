// Short lists of 64-bit numbers: shapes, strides, kernels.
#pragma once

#include <ndpool/fault.hpp>

#include <initializer_list>
#include <type_traits>

#if __STDC_HOSTED__
#include <memory>
#endif

namespace ndpool {

namespace detail {

constexpr Index smaller(Index a, Index b) { return b < a ? b : a; }
constexpr Index larger(Index a, Index b) { return a < b ? b : a; }

/// Room for `Capacity` entries, in place. `size` may be larger: the entries beyond the capacity do not exist.
template <class T, int Capacity>
class Entries {
 public:
  constexpr T* data() { return entries_; }
  constexpr const T* data() const { return entries_; }
  constexpr int size() const { return size_; }
  /// Only ever grows; new entries are T().
  constexpr void grow(int size) { size_ = size; }

 private:
  int size_ = 0;
  T entries_[Capacity > 0 ? Capacity : 1] = {};  // NOLINT(bugprone-branch-clone): a capacity that may be 1
};

#if __STDC_HOSTED__
/// Lists whose length is known at run time: eight entries in place; with more, all of them behind one allocation.
template <class T>
class Entries<T, max_rank> {
 public:
  static constexpr int in_place = 8;

  constexpr Entries() : small_() {}
  constexpr Entries(const Entries& other) : small_() { copy(other); }
  constexpr Entries(Entries&& other) noexcept : small_() { take(other); }
  constexpr Entries& operator=(const Entries& other) {
    if (this == &other) return *this;
    if (!is_large() && !other.is_large()) {
      small_ = other.small_;
      size_ = other.size_;
    } else {
      Entries copied(other);
      release();
      take(copied);
    }
    return *this;
  }
  constexpr Entries& operator=(Entries&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  constexpr ~Entries() {
    if (is_large()) delete[] large_;
  }

  constexpr T* data() { return is_large() ? large_ : small_.entries; }
  constexpr const T* data() const { return is_large() ? large_ : small_.entries; }
  constexpr int size() const { return size_; }
  /// Only ever grows; new entries are T().
  constexpr void grow(int size) {
    if (size > in_place && !is_large()) {
      T* const entries = new T[max_rank]{};
      for (int i = 0; i < in_place; ++i) entries[i] = small_.entries[i];
      std::construct_at(&large_, entries);
    }
    size_ = size;
  }

 private:
  struct Small {
    T entries[in_place] = {};
  };

  constexpr bool is_large() const { return size_ > in_place; }
  /// Into an empty list.
  constexpr void copy(const Entries& other) {
    if (other.is_large()) {
      T* const entries = new T[max_rank]{};
      for (int i = 0; i < max_rank; ++i) entries[i] = other.large_[i];
      std::construct_at(&large_, entries);
    } else {
      small_ = other.small_;
    }
    size_ = other.size_;
  }
  /// Into an empty list; empties the other one if it has an allocation to give.
  constexpr void take(Entries& other) noexcept {
    if (other.is_large()) {
      std::construct_at(&large_, other.large_);
      size_ = other.size_;
      other.empty_in_place();
    } else {
      small_ = other.small_;
      size_ = other.size_;
    }
  }
  constexpr void release() noexcept {
    if (!is_large()) return;
    delete[] large_;
    empty_in_place();
  }
  constexpr void empty_in_place() noexcept {
    std::construct_at(&small_);
    size_ = 0;
  }

  int size_ = 0;
  union {
    Small small_;
    T* large_;
  };
};
#endif

/// A contiguous container of integers: std::vector, std::array, std::span. Not a list of another capacity.
template <class Range>
concept ContiguousIntegers = requires(const Range& range) {
  requires std::is_integral_v<std::remove_cvref_t<decltype(range.data()[0])>>;
  requires std::is_integral_v<decltype(range.size())>;
};

}  // namespace detail

/// A list of at most `Capacity` numbers, such as a shape. A longer list can be made, so that validation can report its
/// length, but only its first `Capacity` entries are kept.
///
/// Lists of the capacity `max_rank`, which is that of `Shape`, take 72 bytes: eight entries are in place, and a longer
/// list allocates once. Copying a list of up to eight entries allocates nothing. Lists of other capacities never
/// allocate. Nothing is checked: positions passed to operator[] must be below `size()` and `Capacity`.
template <int Capacity>
class Extents {
 public:
  /// An empty list.
  constexpr Extents() = default;
  /// The numbers between braces.
  constexpr Extents(std::initializer_list<Index> values) : Extents(values.begin(), static_cast<int>(values.size())) {}
  /// The first `count` numbers from an address.
  constexpr Extents(const Index* values, int count) { assign(values, count); }
  /// The numbers of any contiguous container of integers, such as std::vector<int> or std::array<std::size_t, 3>.
  /// Numbers that do not fit 64 bits with a sign become negative, which every use of a shape rejects.
  template <class Range>
  requires detail::ContiguousIntegers<Range>
  constexpr Extents(const Range& range) { assign(range.data(), static_cast<int>(range.size())); }
  /// The numbers of an array of integers.
  template <class Integer, unsigned long Count>
  requires std::is_integral_v<Integer>
  constexpr Extents(const Integer (&values)[Count]) { assign(values, static_cast<int>(Count)); }
  /// `count` times the same value.
  [[nodiscard]] static constexpr Extents filled(int count, Index value) {
    Extents all;
    all.entries_.grow(count);
    Index* const values = all.entries_.data();
    for (int i = 0; i < count && i < Capacity; ++i) values[i] = value;
    return all;
  }

  /// The number of entries asked for; more than `Capacity` if the list was longer than that.
  [[nodiscard]] constexpr int size() const { return entries_.size(); }
  /// True if the list has no entry.
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  /// Entry `i`, counted from 0.
  constexpr Index operator[](int i) const { return entries_.data()[i]; }
  /// Entry `i`, counted from 0, to be changed.
  constexpr Index& operator[](int i) { return entries_.data()[i]; }
  /// The first of the entries that are kept.
  constexpr const Index* begin() const { return entries_.data(); }
  /// The end of the entries that are kept.
  constexpr const Index* end() const { return begin() + (size() < Capacity ? size() : Capacity); }
  /// Appends an entry. Allocates when a list of the capacity `max_rank` gets its ninth.
  constexpr void push_back(Index value) {
    const int last = size();
    entries_.grow(last + 1);
    if (last < Capacity) entries_.data()[last] = value;
  }

  /// True if both lists have the same length and the same entries.
  friend constexpr bool operator==(const Extents& a, const Extents& b) {
    if (a.size() != b.size()) return false;
    for (int i = 0; i < a.size() && i < Capacity; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  template <class Integer>
  constexpr void assign(const Integer* from, int count) {
    entries_.grow(count);
    Index* const values = entries_.data();
    for (int i = 0; i < count && i < Capacity; ++i) values[i] = static_cast<Index>(from[i]);
  }

  detail::Entries<Index, Capacity> entries_;
};

/// The extents of an array, outermost axis first.
using Shape = Extents<max_rank>;

/// Product of all extents (1 for an empty list), or -1 if it does not fit 64 bits.
template <int Capacity>
[[nodiscard]] constexpr Index element_count(const Extents<Capacity>& shape) {
  Index count = 1;
  bool wrapped = false;
  for (Index extent : shape) {
    if (extent == 0) return 0;
    if (__builtin_mul_overflow(count, extent, &count)) wrapped = true;
  }
  return wrapped ? -1 : count;
}

}  // namespace ndpool
