// Graphs with shapes known at run time. Every connection is checked when it is made.
#pragma once

#include <ndpool/graph/custom.hpp>
#include <ndpool/graph/linear.hpp>
#include <ndpool/graph/node_list.hpp>
#include <ndpool/graph/pooling_cache.hpp>
#include <ndpool/graph/program.hpp>
#include <ndpool/graph/reduce.hpp>
#include <ndpool/graph/trained_beta.hpp>

#include <initializer_list>

namespace ndpool {

/// How a convolution's window moves; the kernel is that of the weights. Empty lists mean 1, 0 and 1.
struct ConvolutionOptions {
  /// Cells from window to window; 1 if empty.
  Shape stride = {};
  /// Cells around the input.
  Padding padding = {};
  /// Cells from tap to tap; 1 if empty.
  Shape dilation = {};
};

/// Inputs, parameters, constants and the operations over them. Operators take nodes of this graph and return a new one;
/// what does not fit is an `Error` that names the nodes and their shapes. The last argument of each may be a name.
template <class T>
class Graph {
 public:
  /// What T is summed in, and options of smooth max with a beta of that type; a double converts.
  using SumNumber = spec::Parameter<spec::Accumulator<T>>;
  /// Options of smooth max with beta in the scalar of sums.
  using SmoothMaxBetaOptions = BasicSmoothMaxOptions<SumNumber>;

  // A copy is a graph of its own: it does not know the nodes of the other. Nodes follow a graph that is moved; what is
  // left behind is empty.

  // Leaves. Inputs and side data are given to each run; side data (labels, masks) takes no derivative.
  /// A value that every run brings, and that has a derivative.
  Node input(const Shape& shape, const std::string& name = "") { return leaf(graph::Source::input, shape, {}, name); }
  /// A value that every run brings, without a derivative: labels, masks.
  Node side(const Shape& shape, const std::string& name = "") { return leaf(graph::Source::side, shape, {}, name); }
  /// A parameter starts as zeros, or as `values`.
  Node parameter(const Shape& shape) { return parameter(shape, ""); }
  /// A value that the program keeps and that has a derivative.
  template <std::convertible_to<std::string> Name>  // a template, so that a list in braces cannot be meant as a name
  Node parameter(const Shape& shape, const Name& name) {
    return parameter(shape, std::vector<T>(count_of(shape, name), T(0)), name);
  }
  /// A value that the program keeps and that has a derivative.
  Node parameter(const Shape& shape, std::vector<T> values, const std::string& name = "") {
    return leaf(graph::Source::parameter, shape, std::move(values), name);
  }
  /// A value that is part of the graph.
  Node constant(const Shape& shape, std::vector<T> values, const std::string& name = "") {
    return leaf(graph::Source::constant, shape, std::move(values), name);
  }

  // Number by number.
  /// a + b, number by number.
  Node add(Node a, Node b, const std::string& name = "") { return of_equal_shapes<graph::Add<T>>("add", a, b, name); }
  /// a * b, number by number.
  Node multiply(Node a, Node b, const std::string& name = "") {
    return of_equal_shapes<graph::Multiply<T>>("multiply", a, b, name);
  }
  /// factor * x.
  Node scale(Node x, const T& factor, const std::string& name = "") { return map(x, graph::Scale<T>{factor}, name); }
  /// max(x, 0); the derivative at 0 is 0. Throws if the scalar has no order.
  Node relu(Node x, const std::string& name = "") {
    if constexpr (spec::Ordered<T>)
      return map(x, graph::Relu<T>{}, name);
    else
      return refuse_scalar("relu", Code::no_order, x);
  }
  /// exp x. Throws if the scalar has none.
  Node exp(Node x, const std::string& name = "") { return analytic<graph::Exp>("exp", x, name); }
  /// log x. Throws if the scalar has none.
  Node log(Node x, const std::string& name = "") { return analytic<graph::Log>("log", x, name); }

  // Other shapes.
  /// The same numbers in another shape.
  Node reshape(Node x, const Shape& shape, const std::string& name = "") {
    if (count(at(x).shape) != static_cast<Index>(count_of(shape, name)))
      graph::fail(Code::shape_mismatch,
                  "reshape: node " + describe(x) + " does not have as many numbers as " + graph::text(shape));
    return append(std::make_shared<graph::Reshape<T>>(count(shape)), shape, {x}, name);
  }
  /// All axes from `first` on become one; 1 keeps a batch axis.
  Node flatten(Node x, int first = 1, const std::string& name = "") {
    const Shape shape = at(x).shape;
    if (first < 0 || first >= shape.size())
      graph::fail(Code::axis_out_of_range, "flatten: node " + describe(x) + " has no axis " + std::to_string(first));
    Shape flat(shape.begin(), first);
    flat.push_back(count(Shape(shape.begin() + first, shape.size() - first)));
    return reshape(x, flat, name.empty() ? nodes_.free_name("flatten") : name);
  }
  /// The sum of all numbers.
  Node sum(Node x, const std::string& name = "") { return total(x, false, name); }
  /// The mean of all numbers.
  Node mean(Node x, const std::string& name = "") { return total(x, true, name); }

  // With weights. Axes before those named are batch axes.
  /// x (..., inputs), weights (outputs, inputs), bias (outputs) -> (..., outputs).
  Node dense(Node x, Node weights, const std::string& name = "") { return make_dense({x, weights}, name); }
  /// The same with a bias per output.
  Node dense(Node x, Node weights, Node bias, const std::string& name = "") {
    return make_dense({x, weights, bias}, name);
  }
  /// x (..., channels, lengths...), weights (outputs, channels, kernel...), bias (outputs) -> (..., outputs,
  /// lengths...).
  Node convolution(Node x, Node weights, const ConvolutionOptions& options = {}, const std::string& name = "") {
    return make_convolution({x, weights}, options, name);
  }
  /// The same with a bias per output.
  Node convolution(Node x, Node weights, Node bias, const ConvolutionOptions& options = {},
                   const std::string& name = "") {
    return make_convolution({x, weights, bias}, options, name);
  }

  // Losses: single numbers.
  /// logits (..., classes), labels (...): class numbers, which take no derivative. The mean over all rows.
  Node softmax_cross_entropy(Node logits, Node labels, const std::string& name = "");
  /// The mean of (a - b)^2.
  Node mean_squared_error(Node a, Node b, const std::string& name = "") {
    require_numbers("mean_squared_error", a);
    return of_equal_shapes<graph::MeanSquaredError<T>>("mean_squared_error", a, b, name, Shape{});
  }

  // Pools.
  /// Any pool: `graph.pool(x, ndpool::adaptive_avg_pool({.output_size = {7, 7}}))`.
  Node pool(Node x, const Pool& pool, const std::string& name = "") {
    return explained(std::string(graph::kind_of_pool(pool)) + " of node " + describe(x), [&] {
      const Shape shape = at(x).shape;
      return append(pools_.find_or_make(pool, shape), pool.output_shape(shape), {x}, name);
    });
  }
  /// A pool of a reducer of your own (spec/core.hpp says what it needs), over a Window, Adaptive or Global; it runs by
  /// the reference: `graph.pool(x, ndpool::Window{.kernel = {2}}, RootMeanSquare<float>{})`.
  template <class Description, graph::ReducerOf<T> Reducer>
  Node pool(Node x, const Description& description, const Reducer& reducer, const std::string& name = "") {
    return pool_by_reducer("pool", x, description, reducer, name);
  }
  /// Max over windows.
  Node max_pool(Node x, const Window& window, ExtremeOptions options = {}, const std::string& name = "") {
    return pool(x, ndpool::max_pool(window, options), name);
  }
  /// Average over windows.
  Node avg_pool(Node x, const Window& window, AverageOptions options = {}, const std::string& name = "") {
    return pool(x, ndpool::avg_pool(window, options), name);
  }
  /// Beta has the type that T is summed in: that of a dual number has a derivative.
  Node smooth_max_pool(Node x, const Window& window, const SmoothMaxBetaOptions& options = {},
                       const std::string& name = "");
  /// Smooth max whose beta is a node, a single number: its derivative makes beta a parameter that can be trained. Runs
  /// by the reference; a run whose beta is 0, infinite or NaN is an error.
  template <class Description = Window, std::derived_from<Node> Beta>
  Node smooth_max_pool(Node x, const Description& description, const Beta& beta, PadMode pad_mode = PadMode::zero,
                       Empty empty = Empty::error, const std::string& name = "");
  // The last two axes, with one stride and one padding for both.
  /// Max over kh x kw windows of the last two axes.
  Node max_pool2d(Node x, Index kh, Index kw, Index stride) { return max_pool(x, square(kh, kw, stride, 0)); }
  /// Max over padded kh x kw windows of the last two axes.
  Node max_pool2d_pad(Node x, Index kh, Index kw, Index stride, Index padding) {
    return max_pool(x, square(kh, kw, stride, padding));
  }
  /// Smooth max over kh x kw windows of the last two axes.
  Node smooth_max_pool2d(Node x, Index kh, Index kw, Index stride, const SumNumber& beta) {
    return smooth_max_pool(x, square(kh, kw, stride, 0), SmoothMaxBetaOptions{.beta = beta});
  }
  /// Smooth max over kh x kw windows of the last two axes.
  template <std::derived_from<Node> Beta>
  Node smooth_max_pool2d(Node x, Index kh, Index kw, Index stride, const Beta& beta) {
    return smooth_max_pool(x, square(kh, kw, stride, 0), beta);
  }
  /// Average over kh x kw windows of the last two axes.
  Node avg_pool2d(Node x, Index kh, Index kw, Index stride) { return avg_pool(x, square(kh, kw, stride, 0)); }
  /// Average over padded kh x kw windows of the last two axes.
  Node avg_pool2d_pad(Node x, Index kh, Index kw, Index stride, Index padding) {
    return avg_pool(x, square(kh, kw, stride, padding));
  }

  /// A node of the user's own, of `shape`. Its maps are tried once on arrays of ones.
  Node custom(std::initializer_list<Node> inputs, const Shape& shape, CustomMaps<T> maps,
              const std::string& name = "") {
    return custom(std::vector<Node>(inputs), shape, std::move(maps), name);
  }
  /// A node whose maps are the caller's.
  Node custom(const std::vector<Node>& inputs, const Shape& shape, CustomMaps<T> maps, const std::string& name = "");

  /// Makes `source` the input `slot` of a node, in place of another of the same shape.
  void rewire(Node node, int slot, Node source);

  /// The node of a name; the way to the nodes of a copy.
  Node node(const std::string& name) const { return nodes_.find(name); }
  /// Shape of a node.
  Shape shape(Node node) const { return at(node).shape; }
  /// Name of a node.
  std::string name(Node node) const { return at(node).name; }

  /// A program for `outputs` and what they need; without a list, for every node that no other uses.
  Program<T> compile(const std::vector<Node>& outputs = {}) const;

  /// The graph in the language of Graphviz.
  std::string dot() const;

 private:
  using Record = graph::NodeRecord<T>;

  const Record& at(Node node) const { return nodes_.at(node); }
  std::string describe(Node node) const { return graph::text(at(node).name, at(node).shape); }
  static Index count(const Shape& shape) { return element_count(shape); }

  static std::size_t count_of(const Shape& shape, const std::string& name) {
    for (const Index extent : shape)
      if (extent < 0)
        graph::fail(Code::negative,
                    "node \"" + name + "\": the shape " + graph::text(shape) + " has a negative length");
    if (shape.size() > max_rank || element_count(shape) < 0)
      graph::fail(Code::overflow, "node \"" + name + "\": the shape " + graph::text(shape) + " is too large");
    return static_cast<std::size_t>(element_count(shape));
  }

  Node append(Record record) {
    count_of(record.shape, record.name);
    return nodes_.append(std::move(record));
  }
  Node append(std::shared_ptr<const graph::Operation<T>> operation, const Shape& shape, const std::vector<Node>& inputs,
              const std::string& name) {
    Record record{name, shape, graph::Source::operation, std::move(operation)};
    for (const Node& input : inputs) {
      at(input);
      record.inputs.push_back(input.number());
    }
    return append(std::move(record));
  }
  Node leaf(graph::Source source, const Shape& shape, std::vector<T> values, const std::string& name) {
    Record record{name, shape, source};
    if (source == graph::Source::parameter || source == graph::Source::constant)
      if (values.size() != count_of(shape, name))
        graph::fail(Code::too_few_elements, std::string(record.kind()) + " node " + graph::text(name, shape) + " got " +
                                                std::to_string(values.size()) + " numbers");
    record.values = std::move(values);
    return append(std::move(record));
  }

  template <class F>
  Node map(Node x, F f, const std::string& name) {
    return append(std::make_shared<graph::Map<T, F>>(count(at(x).shape), f), at(x).shape, {x}, name);
  }
  template <template <class> class F>
  Node analytic(const char* kind, Node x, const std::string& name) {
    if constexpr (spec::AnalyticField<T>)
      return map(x, F<T>{}, name);
    else
      return refuse_scalar(kind, lacking_analytic, x);
  }
  /// Why a scalar has no exp and log: where it has no order either, that is named.
  static constexpr Code lacking_analytic = spec::Ordered<T> ? Code::no_transcendentals : Code::no_order;
  [[noreturn]] Node refuse_scalar(const char* kind, Code lack, Node x) const {
    graph::fail(lack, std::string(kind) + " of node " + describe(x) + ": the scalar of this graph has no " +
                          (lack == Code::no_order ? "order" : "exp and log"));
  }
  /// A mean of no numbers is none.
  void require_numbers(const char* kind, Node x) const {
    if (count(at(x).shape) == 0)
      graph::fail(Code::zero_length, std::string(kind) + ": node " + describe(x) + " has no numbers");
  }
  Node total(Node x, bool is_mean, const std::string& name) {
    if (is_mean) require_numbers("mean", x);
    return append(std::make_shared<graph::Total<T>>(count(at(x).shape), is_mean), {}, {x}, name);
  }
  template <class Operation>
  Node of_equal_shapes(const char* kind, Node a, Node b, const std::string& name) {
    return of_equal_shapes<Operation>(kind, a, b, name, at(a).shape);
  }
  template <class Operation>
  Node of_equal_shapes(const char* kind, Node a, Node b, const std::string& name, const Shape& result) {
    if (!(at(a).shape == at(b).shape))
      graph::fail(Code::shape_mismatch, std::string(kind) + ": node " + describe(a) + " and node " + describe(b) +
                                            " do not have the same shape");
    return append(std::make_shared<Operation>(count(at(a).shape)), result, {a, b}, name);
  }

  static Window square(Index kh, Index kw, Index stride, Index padding) {
    return {.kernel = {kh, kw}, .stride = {stride, stride}, .padding = {padding, padding}};
  }

  /// What `f` makes; an error of the core is told with what was being built. `first_axis` is the axis of the node that
  /// the core knows as axis 0.
  template <class F>
  static auto explained(const std::string& what, F f, int first_axis = 0) {
    try {
      return f();
    } catch (const graph::Error&) {
      throw;
    } catch (const Error& error) {
      Fault fault = error.fault();
      if (fault.axis >= 0) fault.axis += first_axis;
      throw graph::Error(fault, what + ": " + message(fault));
    }
  }

  /// Resolves a description for the shape of x, and appends the operation that `make(geometry)` makes.
  template <class Description, class Make>
  Node append_pool(const Description& description, const std::vector<Node>& inputs, const std::string& name,
                   Make make) {
    const Geometry geometry = spec::make_geometry(description, at(inputs[0]).shape);
    bool drops_axes = false;
    if constexpr (requires { description.keepdims; }) drops_axes = !description.keepdims;
    return append(make(geometry), drops_axes ? drop_pooled_axes(geometry) : geometry.output_shape(), inputs, name);
  }
  template <class Description, class Reducer>
  Node pool_by_reducer(const char* kind, Node x, const Description& description, const Reducer& reducer,
                       const std::string& name) {
    return explained(std::string(kind) + " of node " + describe(x), [&] {
      return append_pool(description, {x}, name, [&](const Geometry& geometry) {
        return std::make_shared<graph::ReducerPooling<T, Reducer>>(kind, geometry,
                                                                   graph::with_standard_ties<Description>(reducer));
      });
    });
  }
  Node make_dense(const std::vector<Node>& inputs, const std::string& name);
  Node make_convolution(const std::vector<Node>& inputs, const ConvolutionOptions& options, const std::string& name);
  void check_bias(const char* kind, const std::vector<Node>& inputs) const;

  graph::PoolingCache<T> pools_;
  graph::NodeList<T> nodes_;
};

}  // namespace ndpool

#include <ndpool/graph/builder-inl.hpp>
