// The longer checks of the builder, and its way to a program.
#pragma once

namespace ndpool {

template <class T>
Node Graph<T>::softmax_cross_entropy(Node logits, Node labels, const std::string& name) {
  const Shape& shape = at(logits).shape;
  if (shape.empty() || count(shape) == 0 || !(Shape(shape.begin(), shape.size() - 1) == at(labels).shape))
    graph::fail(Code::shape_mismatch, "softmax_cross_entropy: node " + describe(logits) + " needs one label per row, " +
                                          "which node " + describe(labels) + " does not have");
  if (at(labels).is_active)
    graph::fail(Code::no_derivative, "softmax_cross_entropy: the labels, node " + describe(labels) +
                                         ", take no derivative: they must be side data or constant");
  if constexpr (spec::AnalyticField<T>) {
    const Index classes = shape[shape.size() - 1];
    return append(std::make_shared<graph::SoftmaxCrossEntropy<T>>(count(shape) / classes, classes), {},
                  {logits, labels}, name);
  } else {
    return refuse_scalar("softmax_cross_entropy", lacking_analytic, logits);
  }
}

template <class T>
Node Graph<T>::smooth_max_pool(Node x, const Window& window, const SmoothMaxBetaOptions& options,
                               const std::string& name) {
  using Number = spec::Accumulator<T>;
  if constexpr (!spec::AnalyticField<Number>)
    return pool(x, ndpool::smooth_max_pool(window), name);  // which says what the scalar lacks
  else if constexpr (std::floating_point<Number>)
    return pool(x, ndpool::smooth_max_pool(window, options), name);
  else
    return pool_by_reducer("smooth_max_pool", x, window, spec::SmoothMax<T>{options}, name);
}

template <class T>
template <class Description, std::derived_from<Node> Beta>
Node Graph<T>::smooth_max_pool(Node x, const Description& description, const Beta& beta, PadMode pad_mode, Empty empty,
                               const std::string& name) {
  const std::string what = "smooth_max_pool of node " + describe(x) + " with the beta of node " + describe(beta);
  if (count(at(beta).shape) != 1) graph::fail(Code::shape_mismatch, what + ", which is not a single number");
  if constexpr (spec::AnalyticField<spec::Accumulator<T>>)
    return explained(what, [&] {
      return append_pool(description, {x, beta}, name, [&](const Geometry& geometry) {
        return std::make_shared<graph::TrainedBetaPooling<T>>(geometry, pad_mode, empty, what);
      });
    });
  else
    return refuse_scalar("smooth_max_pool", lacking_analytic, x);
}

template <class T>
Node Graph<T>::custom(const std::vector<Node>& inputs, const Shape& shape, CustomMaps<T> maps,
                      const std::string& name) {
  std::vector<Shape> shapes;
  std::vector<bool> takes_derivative;
  for (const Node& input : inputs) {
    shapes.push_back(at(input).shape);
    takes_derivative.push_back(at(input).is_active);
  }
  count_of(shape, name);
  const std::string used_name = name.empty() ? nodes_.free_name("custom") : name;
  const auto operation = std::make_shared<CustomOperation<T>>(used_name, shape, std::move(shapes), std::move(maps));
  explained("custom node " + graph::text(used_name, shape), [&] {
    operation->try_out(takes_derivative);
    return 0;
  });
  return append(operation, shape, inputs, used_name);
}

template <class T>
void Graph<T>::check_bias(const char* kind, const std::vector<Node>& inputs) const {
  if (inputs.size() > 2 && !(at(inputs[2]).shape == Shape{at(inputs[1]).shape[0]}))
    graph::fail(Code::shape_mismatch, std::string(kind) + ": the bias, node " + describe(inputs[2]) +
                                          ", must have one number per row of the weights, node " + describe(inputs[1]));
}

template <class T>
Node Graph<T>::make_dense(const std::vector<Node>& inputs, const std::string& name) {
  const Shape &x = at(inputs[0]).shape, &weights = at(inputs[1]).shape;
  if (x.empty() || weights.size() != 2 || x[x.size() - 1] != weights[1])
    graph::fail(Code::shape_mismatch, "dense: the weights, node " + describe(inputs[1]) +
                                          ", must be outputs x inputs, with as many inputs as the last axis of node " +
                                          describe(inputs[0]) + " has");
  check_bias("dense", inputs);
  Shape shape = x;
  shape[x.size() - 1] = weights[0];
  const Index rows = count(Shape(x.begin(), x.size() - 1));
  return append(std::make_shared<graph::Dense<T>>(rows, weights[1], weights[0]), shape, inputs, name);
}

template <class T>
Node Graph<T>::make_convolution(const std::vector<Node>& inputs, const ConvolutionOptions& options,
                                const std::string& name) {
  const Shape &x = at(inputs[0]).shape, &weights = at(inputs[1]).shape;
  const int spatial = weights.size() - 2, channel_axis = x.size() - spatial - 1;
  if (spatial < 1 || channel_axis < 0 || x[channel_axis] != weights[1])
    graph::fail(Code::shape_mismatch, "convolution: the weights, node " + describe(inputs[1]) +
                                          ", must be outputs x channels x kernel, with the channels and axes of node " +
                                          describe(inputs[0]));
  check_bias("convolution", inputs);
  const Shape lengths(x.begin() + channel_axis + 1, spatial);
  // A convolution moves cell by cell unless it is told otherwise, where a pool moves by its kernel.
  const Window window = {.kernel = Shape(weights.begin() + 2, spatial),
                         .stride = options.stride.empty() ? Shape::filled(spatial, 1) : options.stride,
                         .padding = options.padding,
                         .dilation = options.dilation};
  return explained(
      "convolution of node " + describe(inputs[0]) + " with node " + describe(inputs[1]),
      [&] {
        const Geometry geometry = spec::make_geometry(window, lengths);
        Shape shape(x.begin(), channel_axis);
        shape.push_back(weights[0]);
        for (const Index length : geometry.output_shape()) shape.push_back(length);
        return append(std::make_shared<graph::Convolution<T>>(count(Shape(x.begin(), channel_axis)), weights[1],
                                                              weights[0], geometry),
                      shape, inputs, name);
      },
      channel_axis + 1);
}

template <class T>
void Graph<T>::rewire(Node node, int slot, Node source) {
  at(source);
  const std::vector<int>& inputs = at(node).inputs;
  if (slot < 0 || slot >= static_cast<int>(inputs.size()))
    graph::fail(Code::index_out_of_range, "rewire: node " + describe(node) + " has no input " + std::to_string(slot));
  const Node old(nodes_.identity(), inputs[static_cast<std::size_t>(slot)]);
  if (!(at(old).shape == at(source).shape))
    graph::fail(Code::shape_mismatch, "rewire: node " + describe(source) + " cannot replace node " + describe(old) +
                                          " as an input of node " + describe(node) + ": their shapes differ");
  const std::vector<int> needed = graph::order_of(nodes_.inputs(), {source.number()});
  if (std::find(needed.begin(), needed.end(), node.number()) != needed.end())
    graph::fail(Code::index_out_of_range, "rewire: node " + describe(source) + " depends on node " + describe(node) +
                                              ", so the graph would have a cycle");
  if (at(source).is_active && !at(old).is_active)
    graph::fail(Code::no_derivative, "rewire: node " + describe(source) + " has a derivative, which node " +
                                         describe(old) + ", whose place it takes, has not");
  nodes_.set_input(node, slot, source);
}

template <class T>
Program<T> Graph<T>::compile(const std::vector<Node>& outputs) const {
  std::vector<int> wanted;
  for (const Node& output : outputs) {
    at(output);
    wanted.push_back(output.number());
  }
  if (outputs.empty()) {
    const std::vector<Record>& nodes = nodes_.all();
    std::vector<bool> is_used(nodes.size(), false);
    for (const Record& node : nodes)
      for (const int input : node.inputs) is_used[static_cast<std::size_t>(input)] = true;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (!is_used[n] && nodes[n].source == graph::Source::operation) wanted.push_back(static_cast<int>(n));
  }
  if (wanted.empty()) graph::fail(Code::nothing_to_pool, "the graph has no node to compute");
  return Program<T>(
      graph::make_compiled(nodes_.identity(), nodes_.all(), graph::order_of(nodes_.inputs(), wanted), wanted));
}

template <class T>
std::string Graph<T>::dot() const {
  std::vector<graph::DotNode> nodes;
  for (const Record& node : nodes_.all())
    nodes.push_back({node.name, std::string(node.kind()) + ", " + graph::text(node.shape), node.source, node.inputs});
  return graph::dot_text(nodes);
}

}  // namespace ndpool
