// Graphs with shapes known at compile time: the result type of every operator is computed, and what does not fit does
// not compile. It is the same graph underneath.
//
//   using namespace ndpool::typed;
//   Graph<float> graph;
//   Var<Shape<3, 32, 32>> x = graph.input<Shape<3, 32, 32>>("image");
//   auto y = graph.pool(graph.relu(x), max_pool<Window<Kernel<2, 2>>>);      // Var<Shape<3, 16, 16>>
#pragma once

#include <ndpool/graph/builder.hpp>
#include <ndpool/graph/typed_rules.hpp>

#include <tuple>

namespace ndpool::typed {

/// The typed face of `ndpool::Graph<T>`.
template <class T>
class Graph {
 public:
  /// The type in which the scalar is summed.
  using SumNumber = typename ndpool::Graph<T>::SumNumber;
  /// Options of smooth max with beta in the scalar of sums.
  using SmoothMaxBetaOptions = typename ndpool::Graph<T>::SmoothMaxBetaOptions;

  /// A value that every run brings, and that has a derivative.
  template <class S>
  Var<S> input(const std::string& name = "") {
    return Var<S>(graph_.input(detail::run_time_shape<S>(), name));
  }
  /// A value that every run brings, without a derivative: labels, masks.
  template <class S>
  Var<S> side(const std::string& name = "") {
    return Var<S>(graph_.side(detail::run_time_shape<S>(), name));
  }
  /// A value that the program keeps and that has a derivative.
  template <class S>
  Var<S> parameter(const std::string& name = "") {
    return Var<S>(graph_.parameter(detail::run_time_shape<S>(), name));
  }
  /// A value that the program keeps and that has a derivative.
  template <class S>
  Var<S> parameter(const Tensor<T, S>& values, const std::string& name = "") {
    return Var<S>(graph_.parameter(detail::run_time_shape<S>(), {values.begin(), values.end()}, name));
  }
  /// A value that is part of the graph.
  template <class S>
  Var<S> constant(const Tensor<T, S>& values, const std::string& name = "") {
    return Var<S>(graph_.constant(detail::run_time_shape<S>(), {values.begin(), values.end()}, name));
  }

  /// a + b, number by number.
  template <class A, class B>
  Var<A> add(Var<A> a, Var<B> b, const std::string& name = "") {
    static_assert(std::same_as<A, B>, "ndpool: add needs two nodes of the same shape");
    return Var<A>(graph_.add(known(a), known(b), name));
  }
  /// a * b, number by number.
  template <class A, class B>
  Var<A> multiply(Var<A> a, Var<B> b, const std::string& name = "") {
    static_assert(std::same_as<A, B>, "ndpool: multiply needs two nodes of the same shape");
    return Var<A>(graph_.multiply(known(a), known(b), name));
  }
  /// factor * x.
  template <class S>
  Var<S> scale(Var<S> x, const T& factor, const std::string& name = "") {
    return Var<S>(graph_.scale(known(x), factor, name));
  }
  /// max(x, 0); the derivative at 0 is 0. Throws if the scalar has no order.
  template <class S>
  Var<S> relu(Var<S> x, const std::string& name = "") {
    static_assert(spec::Ordered<T>, "ndpool: relu needs a scalar with an order");
    return Var<S>(graph_.relu(known(x), name));
  }
  /// exp x. Throws if the scalar has none.
  template <class S>
  Var<S> exp(Var<S> x, const std::string& name = "") {
    static_assert(spec::AnalyticField<T>, "ndpool: exp needs a scalar with exp and log");
    return Var<S>(graph_.exp(known(x), name));
  }
  /// log x. Throws if the scalar has none.
  template <class S>
  Var<S> log(Var<S> x, const std::string& name = "") {
    static_assert(spec::AnalyticField<T>, "ndpool: log needs a scalar with exp and log");
    return Var<S>(graph_.log(known(x), name));
  }
  /// The sum of all numbers.
  template <class S>
  Var<Shape<>> sum(Var<S> x, const std::string& name = "") {
    return Var<Shape<>>(graph_.sum(known(x), name));
  }
  /// The mean of all numbers.
  template <class S>
  Var<Shape<>> mean(Var<S> x, const std::string& name = "") {
    return Var<Shape<>>(graph_.mean(known(x), name));
  }
  /// The same numbers in another shape.
  template <class To, class S>
  Var<To> reshape(Var<S> x, const std::string& name = "") {
    static_assert(To::count == S::count, "ndpool: reshape must keep the number of elements");
    return Var<To>(graph_.reshape(known(x), detail::run_time_shape<To>(), name));
  }
  /// All axes from `First` on become one; 1 keeps a batch axis.
  template <int First = 1, class S>
  auto flatten(Var<S> x, const std::string& name = "") {
    static_assert(First >= 0 && First < S::rank, "ndpool: flatten needs an axis that the node has");
    return Var<detail::ShapeByRule<detail::Flattened<S, First>>>(graph_.flatten(known(x), First, name));
  }

  /// The same with a bias per output.
  template <class X, class W, class... Bias>
  requires(sizeof...(Bias) < 2) auto dense(Var<X> x, Var<W> weights, Var<Bias>... bias) {
    check_weights<W::rank == 2 && (X::rank > 0), W, Bias...>();
    static_assert(X::extents[X::rank - 1] == W::extents[1],
                  "ndpool: the weights must have as many columns as the last axis of the input");
    return Var<detail::ShapeByRule<detail::DenseRule<X, W>>>(graph_.dense(known(x), known(weights), known(bias)...));
  }
  /// `Parts` are Stride, Padding and Dilation as in a window.
  template <class... Parts, class X, class W, class... Bias>
  requires(sizeof...(Bias) < 2) auto convolution(Var<X> x, Var<W> weights, Var<Bias>... bias) {
    check_weights<(W::rank > 2) && (X::rank >= W::rank - 1), W, Bias...>();
    using Rule = detail::ConvolutionRule<X, W, Parts...>;
    static_assert(X::extents[Rule::channel_axis] == W::extents[1],
                  "ndpool: the weights must have as many channels as the input");
    using Result = detail::ShapeByRule<Rule>;
    const ndpool::Window window = detail::ConvolutionWindow<W, Parts...>::template describe<max_rank>();
    return Var<Result>(graph_.convolution(
        known(x), known(weights), known(bias)...,
        ConvolutionOptions{.stride = window.stride, .padding = window.padding, .dilation = window.dilation}));
  }

  /// The mean loss of logits [rows, classes] against the numbers of the right classes [rows].
  template <class L, class Labels>
  Var<Shape<>> softmax_cross_entropy(Var<L> logits, Var<Labels> labels, const std::string& name = "") {
    static_assert(L::rank > 0 && std::same_as<detail::Axes<L, 0, (L::rank > 0 ? L::rank - 1 : 0)>, Labels>,
                  "ndpool: softmax_cross_entropy needs one label per row of logits");
    return Var<Shape<>>(graph_.softmax_cross_entropy(known(logits), known(labels), name));
  }
  /// The mean of (a - b)^2.
  template <class A, class B>
  Var<Shape<>> mean_squared_error(Var<A> a, Var<B> b, const std::string& name = "") {
    static_assert(std::same_as<A, B>, "ndpool: mean_squared_error needs two nodes of the same shape");
    return Var<Shape<>>(graph_.mean_squared_error(known(a), known(b), name));
  }

  /// Any typed pool; options come as the reducer: `pool(x, smooth_max_pool<W>, reduction::SmoothMax{{.beta = 4}})`.
  /// Reducers that the dynamic pools do not have, such as your own, are given themselves and run by the reference.
  template <class S, class Description, template <class> class Reducer>
  Var<OutputShape<Description, S>> pool(Var<S> x, Pool<Description, Reducer>,
                                        const detail::ReductionOf<Reducer<T>>& reduction = {},
                                        const std::string& name = "") {
    static_assert(Pool<Description, Reducer>::template accepts<T, S>());
    const auto description = detail::dynamic_description<Description>();
    if constexpr (std::same_as<detail::ReductionOf<Reducer<T>>, Reducer<T>>)
      return Var<OutputShape<Description, S>>(graph_.pool(known(x), description, reduction, name));
    else
      return Var<OutputShape<Description, S>>(
          graph_.pool(known(x), detail::dynamic_pool(description, reduction), name));
  }
  // `Parts` are Kernel, Stride, Padding and Dilation as in a window.
  /// Max over windows.
  template <class... Parts, class S>
  auto max_pool(Var<S> x, ExtremeOptions options = {}, const std::string& name = "") {
    return pool(x, typed::max_pool<Window<Parts...>>, reduction::Max{options}, name);
  }
  /// Average over windows.
  template <class... Parts, class S>
  auto avg_pool(Var<S> x, AverageOptions options = {}, const std::string& name = "") {
    return pool(x, typed::avg_pool<Window<Parts...>>, reduction::Average{options}, name);
  }
  /// Smooth max over windows.
  template <class... Parts, class S>
  auto smooth_max_pool(Var<S> x, const SmoothMaxBetaOptions& options = {}, const std::string& name = "") {
    return smooth_max_node<Parts...>(
        x, [&](const ndpool::Window& window) { return graph_.smooth_max_pool(known(x), window, options, name); });
  }
  /// With a beta that is a node, and can be trained.
  template <class... Parts, class S>
  auto smooth_max_pool(Var<S> x, Var<Shape<>> beta, PadMode pad_mode = PadMode::zero, Empty empty = Empty::error,
                       const std::string& name = "") {
    return smooth_max_node<Parts...>(x, [&](const ndpool::Window& window) {
      return graph_.smooth_max_pool(known(x), window, known(beta), pad_mode, empty, name);
    });
  }
  // The last two axes, with one stride and one padding for both.
  /// Max over kh x kw windows of the last two axes.
  template <Index Kh, Index Kw, Index Step, class S>
  auto max_pool2d(Var<S> x) {
    return max_pool<Kernel<Kh, Kw>, Stride<Step, Step>>(x);
  }
  /// Max over padded kh x kw windows of the last two axes.
  template <Index Kh, Index Kw, Index Step, Index Pad, class S>
  auto max_pool2d_pad(Var<S> x) {
    return max_pool<Kernel<Kh, Kw>, Stride<Step, Step>, Padding<Pad, Pad>>(x);
  }
  /// Smooth max over kh x kw windows of the last two axes.
  template <Index Kh, Index Kw, Index Step, class S>
  auto smooth_max_pool2d(Var<S> x, const SumNumber& beta) {
    return smooth_max_pool<Kernel<Kh, Kw>, Stride<Step, Step>>(x, SmoothMaxBetaOptions{.beta = beta});
  }
  /// Smooth max over kh x kw windows of the last two axes.
  template <Index Kh, Index Kw, Index Step, class S>
  auto smooth_max_pool2d(Var<S> x, Var<Shape<>> beta) {
    return smooth_max_pool<Kernel<Kh, Kw>, Stride<Step, Step>>(x, beta);
  }
  /// Average over kh x kw windows of the last two axes.
  template <Index Kh, Index Kw, Index Step, class S>
  auto avg_pool2d(Var<S> x) {
    return avg_pool<Kernel<Kh, Kw>, Stride<Step, Step>>(x);
  }
  /// Average over padded kh x kw windows of the last two axes.
  template <Index Kh, Index Kw, Index Step, Index Pad, class S>
  auto avg_pool2d_pad(Var<S> x) {
    return avg_pool<Kernel<Kh, Kw>, Stride<Step, Step>, Padding<Pad, Pad>>(x);
  }

  /// A node of the user's own, made of functions of tensors: forward(x...) and jvp(x..., dx...) return the node's
  /// shape Y, vjp(x..., gy) returns a tuple with a gradient per input, or the gradient itself of a single input.
  /// Tensors are held in place: for large arrays the dynamic face, which works on views, is the better one.
  template <class Y, class Forward, class Jvp, class Vjp, class... X>
  Var<Y> custom(Forward forward, Jvp jvp, Vjp vjp, Var<X>... x) {
    return custom_of<Y>(std::make_integer_sequence<int, sizeof...(X)>{}, forward, jvp, vjp, x...);
  }

  /// The graph itself, with the dynamic face.
  ndpool::Graph<T>& dynamic() { return graph_; }
  /// A program for these outputs; all nodes that no other reads if there are none. Allocates.
  Program<T> compile(const std::vector<Node>& outputs = {}) const { return graph_.compile(outputs); }
  /// The graph as Graphviz text.
  std::string dot() const { return graph_.dot(); }

 private:
  template <bool RanksFit, class W, class... Bias>
  static void check_weights() {
    static_assert(RanksFit, "ndpool: the weights do not have the number of axes that this input needs");
    static_assert((std::same_as<Bias, Shape<W::extents[0]>> && ...),
                  "ndpool: the bias must have one number per output");
  }

  /// The node that `make(window)` appends to the dynamic graph, with the shape of a window of these parts.
  template <class... Parts, class S, class Make>
  auto smooth_max_node(Var<S>, Make make) {
    using Description = Window<Parts...>;
    static_assert(Pool<Description, spec::SmoothMax>::template accepts<T, S>());
    return Var<OutputShape<Description, S>>(make(Description::template describe<max_rank>()));
  }

  /// The node, which must have the shape of its type: a Var can be made of any node.
  template <class S>
  Node known(Var<S> x) const {
    const ndpool::Shape found = graph_.shape(x), expected = detail::run_time_shape<S>();
    if (!(found == expected))
      graph::fail(Code::shape_mismatch, "node " + graph::text(graph_.name(x), found) + " does not have the shape " +
                                            graph::text(expected) + " of its type");
    return x;
  }

  /// The array of a view, which has the layout of a tensor, as one. A tensor of no elements has memory for one.
  template <class S>
  static const Tensor<T, S>& tensor(const View<const T>& view) {
    static const Tensor<T, S> none{};
    if (S::count == 0) return none;
    return *reinterpret_cast<const Tensor<T, S>*>(view.data());
  }
  template <class S>
  static void put(const CustomCall<T>& call, const Tensor<T, S>& result) {
    graph::copy(result.data, S::count, call.out(detail::run_time_shape<S>()).data());
  }

  template <class Y, int... I, class Forward, class Jvp, class Vjp, class... X>
  Var<Y> custom_of(std::integer_sequence<int, I...>, Forward forward, Jvp jvp, Vjp vjp, Var<X>... x) {
    static_assert(std::is_invocable_r_v<Tensor<T, Y>, Forward, const Tensor<T, X>&...>,
                  "ndpool: the forward map of a custom node must return a tensor of the node's shape");
    static_assert(std::is_invocable_r_v<Tensor<T, Y>, Jvp, const Tensor<T, X>&..., const Tensor<T, X>&...>,
                  "ndpool: the jvp of a custom node must return a tensor of the node's shape");
    static_assert(std::is_invocable_r_v<std::tuple<Tensor<T, X>...>, Vjp, const Tensor<T, X>&..., const Tensor<T, Y>&>,
                  "ndpool: the vjp of a custom node must return a tensor of the shape of every input");
    CustomMaps<T> maps;
    maps.forward = [=](const CustomCall<T>& call) { put<Y>(call, forward(tensor<X>(call.x(I))...)); };
    maps.jvp = [=](const CustomCall<T>& call) { put<Y>(call, jvp(tensor<X>(call.x(I))..., tensor<X>(call.dx(I))...)); };
    maps.vjp = [=](const CustomCall<T>& call) {
      const std::tuple<Tensor<T, X>...> gradients(vjp(tensor<X>(call.x(I))..., tensor<Y>(call.gy())));
      ((call.slot() == I ? put<X>(call, std::get<I>(gradients)) : void()), ...);
    };
    return Var<Y>(graph_.custom({known(x)...}, detail::run_time_shape<Y>(), std::move(maps)));
  }

  ndpool::Graph<T> graph_;
};

}  // namespace ndpool::typed
