// Graphs made up from a seed: the same for every scalar, with at least one pool in each.
#pragma once

#include <ndpool/graph.hpp>

#include <random>
#include <vector>

namespace ndpool::testing {

/// Which nodes a graph may have.
struct GraphNodes {
  bool transcendental = false;  ///< those that need exp, log or powers
  bool shared_ties = false;     ///< extremes that give their derivative to several taps
};

template <class T>
class RandomGraph {
 public:
  Graph<T> graph;
  std::vector<Node> inputs, parameters, sinks;
  std::vector<std::pair<Node, Index>> labels;  ///< side data, and the number of classes
  int operations = 0, pools = 0;

  RandomGraph(std::uint64_t seed, GraphNodes allowed) : allowed_(allowed), random_(seed) {
    Shape shape;
    for (int axes = below(3) + 2; axes > 0; --axes) shape.push_back(below(4) + 2);
    for (int leaves = below(2) + 1; leaves > 0; --leaves) {
      inputs.push_back(graph.input(shape));
      known_.push_back({.node = inputs.back(), .is_tame = true});
    }
    const int wanted = below(10) + 3, first_pool = below(wanted);
    for (int attempts = 0; operations < wanted && attempts < 1000; ++attempts) {
      const int choice = operations == first_pool ? 0 : below(14);
      if (choice < 5)
        add_pool();
      else
        add_other(choice - 5);
    }
    std::vector<bool> is_used(known_.size(), false);
    for (const Known& one : known_)
      for (const std::size_t user : one.inputs) is_used[user] = true;
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (!is_used[i] && !known_[i].inputs.empty()) sinks.push_back(known_[i].node);
  }

  int below(Index bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  /// Eighths between -1 and 1, which every scalar can hold: there are ties among them.
  T eighth() { return T(T(below(17) - 8) / T(8)); }

 private:
  struct Known {
    Node node;
    bool is_tame = false;      ///< no number is large
    bool is_positive = false;  ///< every number is above zero
    std::vector<std::size_t> inputs = {};
  };

  Shape shape(std::size_t i) { return graph.shape(known_[i].node); }
  std::size_t any() { return static_cast<std::size_t>(below(static_cast<Index>(known_.size()))); }
  Node node(std::size_t i) { return known_[i].node; }

  void know(Node made, std::vector<std::size_t> from, bool is_tame = false, bool is_positive = false) {
    known_.push_back({made, is_tame, is_positive, std::move(from)});
    ++operations;
  }
  Node weights(const Shape& lengths) {
    std::vector<T> values;
    for (Index i = 0; i < element_count(lengths); ++i) values.push_back(eighth());
    parameters.push_back(graph.parameter(lengths, std::move(values)));
    return parameters.back();
  }

  ExtremeOptions ties() {
    const Ties all[] = {Ties::first, Ties::standard, Ties::all, Ties::split};
    return {.ties = all[allowed_.shared_ties ? below(4) : 0]};
  }

  template <class Description>
  Pool pool_of(const Description& description, int reducer) {
    switch (reducer) {
      case 0: return PoolFamily<Description, reduction::Max>{}(description, ties());
      case 1: return PoolFamily<Description, reduction::Min>{}(description, ties());
      case 2: return PoolFamily<Description, reduction::Sum>{}(description);
      case 3: return PoolFamily<Description, reduction::Average>{}(description, {.count_include_pad = below(2) == 0});
      case 4: return PoolFamily<Description, reduction::SmoothMax>{}(description, {.beta = 1.0 + below(3)});
      default: return LpFamily<Description>{}(2 + below(2), description);
    }
  }

  void add_pool() {
    const std::size_t x = any();
    const int rank = shape(x).size();
    if (rank == 0) return;
    const int axes = below(std::min(rank, 3)) + 1, reducer = below(allowed_.transcendental ? 6 : 4);
    const bool keeps_size = reducer < 2 || reducer == 3;  // extremes and averages of tame numbers are tame
    try {
      know(graph.pool(node(x), random_pool(shape(x), axes, reducer)), {x}, known_[x].is_tame && keeps_size);
      ++pools;
    } catch (const Error&) {
      // The window does not fit, or leaves a window of padding alone: another draw will do.
    }
  }
  Pool random_pool(const Shape& lengths, int axes, int reducer) {
    const int first = lengths.size() - axes;
    switch (below(4)) {
      case 0: {
        Adaptive bins;
        for (int a = first; a < lengths.size(); ++a) bins.output_size.push_back(below(lengths[a]) + 1);
        return pool_of(bins, reducer);
      }
      case 1: {
        Global global{.keepdims = below(2) == 0};
        for (int a = first; a < lengths.size(); ++a) global.axes.push_back(a);
        return pool_of(global, reducer);
      }
      default: {
        Window window{.ceil_mode = below(3) == 0};
        for (int a = first; a < lengths.size(); ++a) {
          window.kernel.push_back(below(std::min<Index>(lengths[a], 3)) + 1);
          window.stride.push_back(below(2) + 1);
          window.padding.push_back(below(window.kernel[a - first] / 2 + 1));
          window.dilation.push_back(below(5) == 0 ? 2 : 1);
        }
        return pool_of(window, reducer);
      }
    }
  }

  void add_other(int choice) {
    const std::size_t x = any();
    switch (choice) {
      case 0: return know(graph.relu(node(x)), {x}, known_[x].is_tame);
      case 1: return know(graph.scale(node(x), T(T(3) / T(4))), {x}, known_[x].is_tame);
      case 2: {
        const std::size_t y = any();
        if (!(shape(x) == shape(y))) return;
        if (below(2) == 0) return know(graph.add(node(x), node(y)), {x, y});
        return know(graph.multiply(node(x), node(y)), {x, y});
      }
      case 3: return know(graph.reshape(node(x), {element_count(shape(x))}), {x}, known_[x].is_tame);
      case 4: return add_dense(x);
      case 5: return add_convolution(x);
      case 6: return know(add_square(node(x)), {x});
      case 7: return add_end(x);
      default: return add_transcendental(x);
    }
  }

  /// A bias for the weights that were made last.
  Node bias_of_last() { return weights({graph.shape(parameters.back())[0]}); }

  void add_dense(std::size_t x) {
    const int rank = shape(x).size();
    if (rank == 0) return;
    const Node w = weights({below(3) + 1, shape(x)[rank - 1]});
    know(graph.dense(node(x), w, bias_of_last()), {x});
  }
  void add_convolution(std::size_t x) {
    const int rank = shape(x).size();
    if (rank < 2) return;
    const int spatial = below(std::min(rank - 1, 2)) + 1, channel_axis = rank - spatial - 1;
    Shape lengths{below(2) + 1, shape(x)[channel_axis]};
    ConvolutionOptions options;
    for (int a = channel_axis + 1; a < rank; ++a) {
      lengths.push_back(below(std::min<Index>(shape(x)[a], 3)) + 1);
      options.stride.push_back(below(2) + 1);
      options.padding.push_back(below(2));
    }
    const Node w = weights(lengths);
    if (below(2) == 0) return know(graph.convolution(node(x), w, options), {x});
    know(graph.convolution(node(x), w, bias_of_last(), options), {x});
  }

  /// A node of a user's own: the square of each number.
  Node add_square(Node x) {
    const Shape lengths = graph.shape(x);
    const auto twice_product = [lengths](const View<const T>& a, const View<const T>& b, const View<T>& to,
                                         const T& by) {
      for (Index i = 0; i < element_count(lengths); ++i) to.data()[i] = by * a.data()[i] * b.data()[i];
    };
    using Call = CustomCall<T>;
    return graph.custom(
        {x}, lengths,
        {.forward = [=](const Call& call) { twice_product(call.x(0), call.x(0), call.out(lengths), T(1)); },
         .jvp = [=](const Call& call) { twice_product(call.x(0), call.dx(0), call.out(lengths), T(2)); },
         .vjp = [=](const Call& call) { twice_product(call.x(0), call.gy(), call.out(lengths), T(2)); }});
  }

  /// A single number.
  void add_end(std::size_t x) {
    const std::size_t y = any();
    switch (below(3)) {
      case 0: return know(graph.sum(node(x)), {x});
      case 1: return know(graph.mean(node(x)), {x});
      default:
        if (shape(x) == shape(y)) know(graph.mean_squared_error(node(x), node(y)), {x, y});
    }
  }

  void add_transcendental(std::size_t x) {
    if (!allowed_.transcendental) return;
    if (known_[x].is_positive) return know(graph.log(node(x)), {x}, true);
    if (!known_[x].is_tame) return;
    const Shape lengths = shape(x);
    if (lengths.empty()) return know(graph.exp(node(x)), {x}, false, true);
    switch (below(3)) {
      case 0: return know(graph.exp(node(x)), {x}, false, true);
      case 1: return add_trained_beta(x);
      default: break;
    }
    const Index classes = lengths[lengths.size() - 1];
    labels.emplace_back(graph.side(Shape(lengths.begin(), lengths.size() - 1)), classes);
    know(graph.softmax_cross_entropy(node(x), labels.back().first), {x});
  }

  /// Smooth max whose beta is a parameter, of a number that is not near 0.
  void add_trained_beta(std::size_t x) {
    if constexpr (spec::AnalyticField<spec::Accumulator<T>>) {
      const Index length = shape(x)[shape(x).size() - 1];
      const Window window{.kernel = {below(length) + 1}, .stride = {1}, .padding = {below(2)}};
      parameters.push_back(graph.parameter({}, {T(below(2) == 0 ? 2 : -1)}));
      know(graph.smooth_max_pool(node(x), window, parameters.back()), {x});
      ++pools;
    }
  }

  GraphNodes allowed_;
  std::mt19937_64 random_;
  std::vector<Known> known_;
};

/// Arrays for nodes, and the list of them that programs take.
template <class T>
class ArraysFor {
 public:
  /// `make()` gives number after number.
  template <class Make>
  void add(const Graph<T>& graph, Node node, Make make) {
    std::vector<T>& array = arrays_.emplace_back();
    for (Index i = element_count(graph.shape(node)); i > 0; --i) array.push_back(make());
    bound_.emplace_back(node, array);
  }
  template <class Make>
  void add(const Graph<T>& graph, const std::vector<Node>& nodes, Make make) {
    for (const Node& node : nodes) add(graph, node, make);
  }
  operator graph::BoundArrays<T>() const { return bound_; }
  const std::vector<Bound<T>>& bound() const { return bound_; }

 private:
  std::vector<std::vector<T>> arrays_;
  std::vector<Bound<T>> bound_;
};

/// The sum of products of the given arrays with those that `find` has for their nodes.
template <class T, class Find>
T inner_product(const ArraysFor<T>& given, Find find) {
  T sum(0);
  for (const Bound<T>& array : given.bound()) {
    const std::span<const T> other = find(array.node());
    for (Index i = 0; i < array.count(); ++i) sum += array.data()[i] * other[static_cast<std::size_t>(i)];
  }
  return sum;
}

}  // namespace ndpool::testing
