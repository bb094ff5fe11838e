// Shapes of results, and the dynamic twins of typed pools, for graphs with shapes as types.
#pragma once

#include <ndpool/graph/node.hpp>
#include <ndpool/pool.hpp>
#include <ndpool/typed.hpp>

#include <type_traits>

namespace ndpool::typed {

/// A node whose shape is known to the compiler. It is a node wherever a program or the dynamic face asks for one.
template <class S>
class Var : public Node {
 public:
  /// The shape of the value, as a type.
  using ShapeType = S;
  Var() = default;
  /// A node whose shape has been checked.
  explicit Var(const Node& node) : Node(node) {}
};

namespace detail {

/// The shape whose lengths `Rule::extents()` computes.
template <class Rule, int... Axis>
consteval auto shape_of_rule(std::integer_sequence<int, Axis...>) {
  return Shape<Rule::extents()[Axis]...>{};
}
template <class Rule>
using ShapeByRule = decltype(shape_of_rule<Rule>(std::make_integer_sequence<int, Rule::extents().size()>{}));

/// Axes [First, Last) of a shape.
template <class S, int First, int Last>
struct Part {
  static constexpr auto extents() { return Extents<S::capacity>(S::extents.begin() + First, Last - First); }
};
template <class S, int First, int Last>
using Axes = ShapeByRule<Part<S, First, Last>>;

template <class S, int First>
struct Flattened {
  static constexpr auto extents() {
    Extents<S::capacity> flat = Part<S, 0, First>::extents();
    flat.push_back(element_count(Part<S, First, S::rank>::extents()));
    return flat;
  }
};

template <class X, class W>
struct DenseRule {
  static constexpr auto extents() {
    Extents<X::capacity> shape = X::extents;
    shape[X::rank - 1] = W::extents[0];
    return shape;
  }
};

/// The window of a convolution: the kernel is that of the weights, and it moves cell by cell unless it is told
/// otherwise.
template <class W, class... Parts>
struct ConvolutionWindow {
  static constexpr bool drops_axes = false;
  template <int Capacity>
  static constexpr auto describe() {
    BasicWindow<Capacity> window;
    for (int a = 2; a < W::rank; ++a) window.kernel.push_back(W::extents[a]);
    window.stride = Extents<Capacity>::filled(W::rank - 2, 1);
    (apply(window, Parts{}), ...);
    return window;
  }
};

template <class X, class W, class... Parts>
struct ConvolutionRule {
  static constexpr int channel_axis = X::rank - (W::rank - 2) - 1;
  static constexpr auto extents() {
    using Lengths = OutputShape<ConvolutionWindow<W, Parts...>, Axes<X, channel_axis + 1, X::rank>>;
    Extents<X::capacity> shape = X::extents;
    shape[channel_axis] = W::extents[0];
    for (int a = 0; a < Lengths::rank; ++a) shape[channel_axis + 1 + a] = Lengths::extents[a];
    return shape;
  }
};

// The reducer of the dynamic pools that belongs to a typed one; itself if there is none. By the exact type: a reducer
// that is derived from one of these computes something else.
template <class Reducer>
Reducer reduction_of(std::type_identity<Reducer>);
template <class T>
reduction::Max reduction_of(std::type_identity<spec::Max<T>>);
template <class T>
reduction::Min reduction_of(std::type_identity<spec::Min<T>>);
template <class T>
reduction::Sum reduction_of(std::type_identity<spec::Sum<T>>);
template <class T>
reduction::Average reduction_of(std::type_identity<spec::Average<T>>);
template <class T>
reduction::SmoothMax reduction_of(std::type_identity<spec::SmoothMax<T>>);
template <class T>
reduction::Lp reduction_of(std::type_identity<spec::Lp<T>>);
template <class Reducer>
using ReductionOf = decltype(reduction_of(std::type_identity<Reducer>{}));

/// The description of a typed pool for the dynamic ones.
template <class Description>
auto dynamic_description() {
  auto described = Description::template describe<max_rank>();
  if constexpr (requires { described.keepdims; }) described.keepdims = !Description::drops_axes;
  return described;
}

template <class Described, class Reduction>
ndpool::Pool dynamic_pool(const Described& description, const Reduction& reduction) {
  if constexpr (requires { reduction.p; })
    return LpFamily<Described>{}(reduction.p, description, reduction.options);
  else if constexpr (requires { reduction.options; })
    return PoolFamily<Described, Reduction>{}(description, reduction.options);
  else
    return PoolFamily<Described, Reduction>{}(description);
}

template <class S>
ndpool::Shape run_time_shape() {
  return {S::extents.begin(), S::rank};
}

}  // namespace detail

}  // namespace ndpool::typed
