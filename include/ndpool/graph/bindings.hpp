// The arrays that callers give to a program.
#pragma once

#include <ndpool/graph/node.hpp>
#include <ndpool/typed.hpp>
#include <ndpool/view.hpp>

#include <initializer_list>
#include <ranges>
#include <span>
#include <vector>

namespace ndpool {

namespace graph {

template <class Range>
inline constexpr bool is_view = false;
template <class E>
inline constexpr bool is_view<View<E>> = true;

}  // namespace graph

/// An array for a node: the value of an input, a tangent, or a gradient. It is read while the program runs. One that
/// refers to a temporary is for the call that it is written in: copying it is an error, since a copy could outlive it.
template <class T>
class Bound {
 public:
  /// Any packed array with `data()` and `size()`; a view; a typed tensor.
  template <class V, class Range>
  Bound(const V& node, Range&& array) : to_{.node = node} {
    using Array = std::remove_cvref_t<Range>;
    if constexpr (graph::is_view<Array>) {
      take_view(array);
    } else if constexpr (requires { typename Array::ShapeType; }) {
      if constexpr (requires { typename V::ShapeType; })
        static_assert(std::same_as<typename V::ShapeType, typename Array::ShapeType>,
                      "ndpool: the tensor must have the shape of the node it is given for");
      to_.data = array.data;
      to_.count = array.size();
    } else {
      to_.data = array.data();
      to_.count = static_cast<Index>(array.size());
    }
    to_.is_temporary =
        !std::is_lvalue_reference_v<Range> && !graph::is_view<Array> && !std::ranges::borrowed_range<Array>;
  }
  /// Throws if the array is a temporary.
  Bound(const Bound& other) : to_(other.lasting()) {}
  /// Throws if the array is a temporary.
  Bound& operator=(const Bound& other) {
    to_ = other.lasting();
    return *this;
  }
  ~Bound() = default;

  /// The node that the array is for.
  const Node& node() const { return to_.node; }
  /// The first element.
  const T* data() const { return to_.data; }
  /// The number of elements.
  Index count() const { return to_.count; }
  /// The shape of the array, if it has told one.
  const Shape* shape() const { return to_.has_shape ? &to_.shape : nullptr; }
  /// An error if the array ends with the expression that it was written in.
  void require_lasting() const {
    if (to_.is_temporary)
      graph::fail(Code::null_data, "bindings that are kept cannot hold the array for node number " +
                                       std::to_string(to_.node.number()) + ": it is a temporary");
  }

 private:
  struct Target {
    Node node;
    const T* data = nullptr;
    Index count = 0;
    Shape shape = {};
    bool has_shape = false, is_temporary = false;
  };

  const Target& lasting() const {
    require_lasting();
    return to_;
  }
  void take_view(const View<const T>& array) {
    require(check_view(array, array.shape(), Argument::x));
    if (!(array.strides() == packed_strides(array.shape())))
      graph::fail(Code::zero_stride, "an array for a program must be packed, but this view of " +
                                         graph::text(array.shape()) + " has other strides");
    to_.data = array.data();
    to_.count = element_count(array.shape());
    to_.shape = array.shape();
    to_.has_shape = true;
  }

  Target to_;
};

/// A list of them that can be kept and passed to many runs: `Bindings<float> in = {{image, pixels}, {labels,
/// classes}}`. It refers to the arrays, which must last as long.
template <class T>
class Bindings {
 public:
  Bindings() = default;
  /// A list of arrays. Allocates.
  Bindings(std::initializer_list<Bound<T>> list) : Bindings(std::span<const Bound<T>>(list.begin(), list.size())) {}
  /// A list of arrays. Allocates.
  Bindings(std::span<const Bound<T>> list) : all_(list.begin(), list.end()) {}
  /// The first.
  auto begin() const { return all_.begin(); }
  /// One past the last.
  auto end() const { return all_.end(); }

 private:
  std::vector<Bound<T>> all_;
};

namespace graph {

/// The parameter of a run: refers to a list that lasts as long as the call. Braces; or `Bindings`, a vector or a span,
/// none of whose arrays may be a temporary.
template <class T>
class BoundArrays {
 public:
  BoundArrays() = default;
  /// Braces in the call itself, whose temporaries live as long as the call.
  BoundArrays(std::initializer_list<Bound<T>>&& list) : all_(list.begin(), list.size()) {}
  /// A list in braces that was given a name before: its temporaries have ended.
  BoundArrays(const std::initializer_list<Bound<T>>& list) : BoundArrays(std::span<const Bound<T>>(list)) {}
  /// A list of arrays, not copied.
  template <class List>
  requires std::convertible_to<const List&, std::span<const Bound<T>>> BoundArrays(const List& list) : all_(list) {
    for (const Bound<T>& bound : all_) bound.require_lasting();
  }
  /// The first.
  auto begin() const { return all_.begin(); }
  /// One past the last.
  auto end() const { return all_.end(); }

 private:
  std::span<const Bound<T>> all_ = {};
};

}  // namespace graph
}  // namespace ndpool
