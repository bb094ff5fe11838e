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

/// An array for a node: the value of an input, a tangent, or a gradient. It is read while the program runs.
template <class T>
class Bound {
 public:
  /// Any packed array with `data()` and `size()`; a view; a typed tensor.
  template <class V, class Range>
  Bound(const V& node, Range&& array) : node_(node) {
    using Array = std::remove_cvref_t<Range>;
    if constexpr (graph::is_view<Array>) {
      take_view(array);
    } else if constexpr (requires { typename Array::ShapeType; }) {
      if constexpr (requires { typename V::ShapeType; })
        static_assert(std::same_as<typename V::ShapeType, typename Array::ShapeType>,
                      "ndpool: the tensor must have the shape of the node it is given for");
      data_ = array.data;
      count_ = array.size();
    } else {
      data_ = array.data();
      count_ = static_cast<Index>(array.size());
    }
    is_temporary_ = !std::is_lvalue_reference_v<Range> && !graph::is_view<Array> && !std::ranges::borrowed_range<Array>;
  }

  const Node& node() const { return node_; }
  const T* data() const { return data_; }
  Index count() const { return count_; }
  /// The shape of the array, if it has told one.
  const Shape* shape() const { return has_shape_ ? &shape_ : nullptr; }
  /// True if the array ends with the expression that it was written in.
  bool is_temporary() const { return is_temporary_; }

 private:
  void take_view(const View<const T>& array) {
    require(check_view(array, array.shape(), Argument::x));
    if (!(array.strides() == packed_strides(array.shape())))
      graph::fail(Code::zero_stride, "an array for a program must be packed, but this view of " +
                                         graph::text(array.shape()) + " has other strides");
    data_ = array.data();
    count_ = element_count(array.shape());
    shape_ = array.shape();
    has_shape_ = true;
  }

  Node node_;
  const T* data_ = nullptr;
  Index count_ = 0;
  Shape shape_ = {};
  bool has_shape_ = false, is_temporary_ = false;
};

/// A list of them that can be kept and passed to many runs: `Bindings<float> in = {{image, pixels}, {labels,
/// classes}}`. It refers to the arrays, which must last as long.
template <class T>
class Bindings {
 public:
  Bindings() = default;
  Bindings(std::initializer_list<Bound<T>> list) : Bindings(std::span<const Bound<T>>(list.begin(), list.size())) {}
  Bindings(std::span<const Bound<T>> list) : all_(list.begin(), list.end()) {
    for (const Bound<T>& bound : all_)
      if (bound.is_temporary())
        graph::fail(Code::null_data, "bindings that are kept cannot hold the array for node number " +
                                         std::to_string(bound.node().number()) + ": it is a temporary");
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<Bound<T>> all_;
};

namespace graph {

/// The parameter of a run: refers to a list that lasts as long as the call. Braces, `Bindings`, a vector, a span.
template <class T>
class BoundArrays {
 public:
  BoundArrays() = default;
  BoundArrays(std::initializer_list<Bound<T>> list) : all_(list.begin(), list.size()) {}
  template <class List>
  requires std::convertible_to<const List&, std::span<const Bound<T>>> BoundArrays(const List& list) : all_(list) {}
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::span<const Bound<T>> all_ = {};
};

}  // namespace graph
}  // namespace ndpool
