// A strided view over memory that belongs to the caller.
#pragma once

#include <ndpool/extents.hpp>

#if __STDC_HOSTED__
#include <ndpool/error.hpp>
#endif

#include <cstdint>
#include <type_traits>

namespace ndpool {

/// Strides, in elements, of a packed row-major array. They are meaningless, but made without harm, for a shape whose
/// product does not fit 64 bits: validation rejects such a shape before anything is read.
template <int Capacity>
[[nodiscard]] constexpr Extents<Capacity> packed_strides(const Extents<Capacity>& shape) {
  Extents<Capacity> strides = Extents<Capacity>::filled(shape.size(), 1);
  for (int a = (shape.size() < Capacity ? shape.size() : Capacity) - 2; a >= 0; --a)
    static_cast<void>(__builtin_mul_overflow(strides[a + 1], detail::larger(shape[a + 1], 1), &strides[a]));
  return strides;
}

/// `data` is the element at position 0 of every axis; strides count elements and may be negative or (for inputs) zero.
/// A view owns no elements. With shapes of run-time rank it takes 152 bytes, and allocates only for more than eight
/// axes; views of another capacity never allocate. Nothing is checked when a view is made: the call that uses it does.
template <class T, int Capacity = max_rank>
class View {
 public:
  /// The scalar, without const.
  using value_type = std::remove_const_t<T>;

  /// A view of nothing, without axes.
  constexpr View() = default;
  /// A packed row-major view.
  constexpr View(T* data, const Extents<Capacity>& shape) : View(data, shape, packed_strides(shape)) {}
  /// A view with strides in elements.
  constexpr View(T* data, const Extents<Capacity>& shape, const Extents<Capacity>& strides)
      : data_(data), shape_(shape), strides_(strides) {}
  /// A view to read through can be made of every view.
  constexpr operator View<const T, Capacity>() const requires(!std::is_const_v<T>) { return {data_, shape_, strides_}; }

  /// The element at position 0 of every axis.
  [[nodiscard]] constexpr T* data() const { return data_; }
  /// The number of axes.
  [[nodiscard]] constexpr int rank() const { return shape_.size(); }
  /// The length of each axis.
  [[nodiscard]] constexpr const Extents<Capacity>& shape() const { return shape_; }
  /// The elements from one position of each axis to the next.
  [[nodiscard]] constexpr const Extents<Capacity>& strides() const { return strides_; }

  /// The element at a position. Not checked.
  constexpr T& operator[](const Extents<Capacity>& position) const {
    Index offset = 0;
    for (int a = 0; a < shape_.size(); ++a) offset += position[a] * strides_[a];
    return data_[offset];
  }

 private:
  T* data_ = nullptr;
  Extents<Capacity> shape_ = {};
  Extents<Capacity> strides_ = {};
};
#if __STDC_HOSTED__
static_assert(sizeof(View<float>) <= 160);
#endif

namespace detail {

/// The bytes a view touches, as a half-open range of addresses; empty for an empty view.
struct ByteRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// The elements a view touches, counted from the one at position 0: from `begin` up to `end`, and none if both are 0.
struct Reach {
  Index begin = 0;
  Index end = 0;

  template <int Capacity>
  constexpr Reach(const Extents<Capacity>& shape, const Extents<Capacity>& strides) {
    Index lowest = 0, highest = 0;
    for (int a = 0; a < shape.size(); ++a) {
      if (shape[a] == 0) return;
      const Index reach = (shape[a] - 1) * strides[a];
      (reach < 0 ? lowest : highest) += reach;
    }
    begin = lowest;
    end = highest + 1;
  }
  constexpr bool is_empty() const { return begin == end; }
  template <class T>
  ByteRange bytes(T* data) const {
    if (is_empty()) return {};
    return {reinterpret_cast<std::uintptr_t>(data + begin), reinterpret_cast<std::uintptr_t>(data + end)};
  }
};

template <class T, int Capacity>
ByteRange byte_range(const View<T, Capacity>& view) {
  return Reach(view.shape(), view.strides()).bytes(view.data());
}

}  // namespace detail

/// What is wrong with the view `argument`, which should have shape `expected`.
template <class T, int Capacity>
constexpr Fault check_view(const View<T, Capacity>& view, const Extents<Capacity>& expected, Argument argument) {
  if (view.rank() > Capacity) return {Code::rank_too_large, argument, -1, {view.rank(), Capacity}};
  if (view.strides().size() != view.rank())
    return {Code::wrong_count, Argument::strides, -1, {view.strides().size(), view.rank()}};
  if (view.rank() != expected.size()) return {Code::rank_mismatch, argument, -1, {view.rank(), expected.size()}};
  for (int a = 0; a < view.rank(); ++a)
    if (view.shape()[a] != expected[a]) return {Code::shape_mismatch, argument, a, {view.shape()[a], expected[a]}};
  if (element_count(expected) == 0) return {};
  if (view.data() == nullptr) return {Code::null_data, argument, -1, {}};
  Index lowest = 0, highest = 0;
  for (int a = 0; a < view.rank(); ++a) {
    Index reach = 0;
    if (__builtin_mul_overflow(view.shape()[a] - 1, view.strides()[a], &reach) ||
        (reach < 0 ? __builtin_add_overflow(lowest, reach, &lowest) : __builtin_add_overflow(highest, reach, &highest)))
      return {Code::overflow, Argument::strides, a, {view.strides()[a]}};
  }
  return {};
}

/// What is wrong with an output of shape `expected` in addition: cells that share memory.
template <class T, int Capacity>
constexpr Fault check_output(const View<T, Capacity>& view, const Extents<Capacity>& expected, Argument argument) {
  if (Fault fault = check_view(view, expected, argument)) return fault;
  if (element_count(expected) == 0) return {};
  for (int a = 0; a < view.rank(); ++a)
    if (view.shape()[a] > 1 && view.strides()[a] == 0) return {Code::zero_stride, argument, a, {}};
  return {};
}

/// A fault if the bytes of an output overlap those of an input.
inline Fault check_overlap(const detail::ByteRange& output, const detail::ByteRange& input, Argument argument) {
  const bool is_one_empty = output.begin == output.end || input.begin == input.end;
  if (is_one_empty || output.end <= input.begin || input.end <= output.begin) return {};
  return {Code::overlap, argument, -1, {}};
}
template <class Out, class In, int Capacity>
Fault check_overlap(const View<Out, Capacity>& output, const View<In, Capacity>& input, Argument argument) {
  return check_overlap(detail::byte_range(output), detail::byte_range(input), argument);
}

namespace detail {

/// What can be said of views of one shape and set of strides wherever they are, so that it is found out once: what
/// `check_view` and `check_output` would say of them, and which elements they reach.
class CheckedLayout {
 public:
  template <int Capacity>
  CheckedLayout(const Extents<Capacity>& shape, const Extents<Capacity>& strides) {
    const char somewhere = 0;
    const View<const char, Capacity> view(&somewhere, shape, strides);
    fault_ = check_view(view, shape, Argument::strides);
    if (fault_) return;
    stores_fault_ = check_output(view, shape, Argument::strides);
    reach_ = {shape, strides};
  }

  Fault check(const void* data, Argument argument) const {
    if (fault_) return fault_;  // of strides, whatever the array
    if (data == nullptr && !reach_.is_empty()) return {Code::null_data, argument, -1, {}};
    return {};
  }
  /// In addition, for outputs: cells that share memory.
  Fault check_stores(Argument argument) const {
    Fault fault = stores_fault_;
    fault.argument = argument;
    return fault;
  }
  template <class T>
  ByteRange bytes(T* data) const {
    return reach_.bytes(data);
  }

 private:
  Fault fault_, stores_fault_;
  Reach reach_ = {Extents<1>{0}, Extents<1>{0}};
};

}  // namespace detail

#if __STDC_HOSTED__
/// A packed row-major view from an address. Shape and memory are checked by the call that uses the view.
template <class T>
[[nodiscard]] View<T> view(T* data, const Shape& shape) {
  return {data, shape};
}
/// A view from the address of position 0, with strides in elements. Checked by the call that uses the view.
template <class T>
[[nodiscard]] View<T> view(T* data, const Shape& shape, const Shape& strides) {
  return {data, shape, strides};
}

namespace detail {

/// Throws if a shape has a negative length, or more elements than 64 bits can count; the number of its elements.
inline Index checked_count(const Shape& shape) {
  for (int a = 0; a < shape.size() && a < max_rank; ++a)
    if (shape[a] < 0) raise({Code::negative, Argument::shape, a, {shape[a]}});
  const Index count = element_count(shape);
  if (count < 0) raise({Code::overflow, Argument::shape, -1, {}});
  return count;
}

template <class Range>
concept Container = requires(Range& range) {
  range.data();
  range.size();
};

}  // namespace detail

/// A packed view of a vector, array or span, which must outlive it. Throws if it holds fewer elements than the shape.
template <detail::Container Range>
[[nodiscard]] auto view(Range& range, const Shape& shape) {
  const Index needed = detail::checked_count(shape), held = static_cast<Index>(range.size());
  if (held < needed) raise({Code::too_few_elements, Argument::shape, -1, {held, needed}});
  return View<std::remove_pointer_t<decltype(range.data())>>(range.data(), shape);
}
/// A view of a vector, array or span with strides in elements; position 0 is the first element. Throws unless there is
/// one stride per axis and every position is in the container; a view from an address allows negative strides.
template <detail::Container Range>
[[nodiscard]] auto view(Range& range, const Shape& shape, const Shape& strides) {
  detail::checked_count(shape);
  const View<std::remove_pointer_t<decltype(range.data())>> strided(range.data(), shape, strides);
  const char element = 0;  // stands for the first element of an empty container
  require(check_view(View<const char>(&element, shape, strides), shape, Argument::shape));
  const detail::Reach reach(shape, strides);
  if (reach.begin < 0) raise({Code::before_container, Argument::strides, -1, {-reach.begin}});
  if (static_cast<Index>(range.size()) < reach.end)
    raise({Code::too_few_elements, Argument::strides, -1, {static_cast<Index>(range.size()), reach.end}});
  return strided;
}
#endif

}  // namespace ndpool
