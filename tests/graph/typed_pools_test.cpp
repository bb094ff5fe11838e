// Pools of graphs with shapes as types: the rows of the dynamic graph, and reducers that it does not have.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_int.hpp>

namespace ndpool::typed {
namespace {

using Numbers = std::vector<double>;
using Rational = boost::multiprecision::cpp_rational;

template <class T>
struct Maps {
  std::vector<T> value, tangent, gradient;
};

/// Value, tangent and gradient of a node, for tangents and gradients of 1, 2, 3, ...
template <class T>
Maps<T> maps(ndpool::Graph<T>& graph, const Node& x, const Node& y, const std::vector<T>& at) {
  Program<T> program = graph.compile({y});
  const auto counted = [&](const Node& node) {
    std::vector<T> all;
    for (Index i = 1; i <= element_count(graph.shape(node)); ++i) all.push_back(T(i));
    return all;
  };
  const auto list = [](std::span<const T> values) { return std::vector<T>(values.begin(), values.end()); };
  Maps<T> all;
  all.value = list(program.forward({{x, at}})[y]);
  all.tangent = list(program.jvp({{x, at}}, {{x, counted(x)}}).tangent(y));
  all.gradient = list(program.vjp({{x, at}}, {{y, counted(y)}}).gradient(x));
  return all;
}

template <class T>
void expect(const Maps<T>& found, const Maps<T>& expected) {
  EXPECT_EQ(found.value, expected.value);
  EXPECT_EQ(found.tangent, expected.tangent);
  EXPECT_EQ(found.gradient, expected.gradient);
}

template <class T>
void expect_largest_magnitudes() {
  Graph<T> graph;
  const auto x = graph.template input<Shape<4>>();
  const auto y = graph.pool(x, largest_magnitude_pool<Window<Kernel<2>>>);
  static_assert(std::same_as<decltype(y), const Var<Shape<2>>>);
  expect<T>(maps<T>(graph.dynamic(), x, y, {-5, 1, 2, -3}), {{5, 3}, {-1, -4}, {-1, 0, 0, -2}});
}
TEST(TypedGraphPools, LargestMagnitudeIsNotMax) {
  expect_largest_magnitudes<double>();
  expect_largest_magnitudes<float>();
  expect_largest_magnitudes<Rational>();
}

TEST(TypedGraphPools, LargestMagnitudeTakesItsOptions) {
  Graph<double> graph;
  const auto x = graph.input<Shape<4>>();
  spec::LargestMagnitude<double> every;
  every.options.ties = Ties::all;
  const auto y = graph.pool(x, largest_magnitude_pool<Window<Kernel<4>>>, every, "every");
  expect<double>(maps<double>(graph.dynamic(), x, y, {-5, 1, 5, -3}), {{5}, {2}, {-1, 0, 1, 0}});
  const auto global = graph.pool(x, Pool<Global<1>, spec::LargestMagnitude>{});
  static_assert(std::same_as<decltype(global), const Var<Shape<>>>);
  expect<double>(maps<double>(graph.dynamic(), x, global, {-5, 1, 5, -3}), {{5}, {2}, {-1, 0, 1, 0}});
}

/// Twice the sum; derived from a reducer that the dynamic pools have.
template <class T>
struct TwiceTheSum : spec::Sum<T> {
  using typename spec::Sum<T>::State;
  static constexpr T value(const State& sum) { return T(2 * sum); }
  static constexpr State weight(const State&, const T&, Index) { return State(2); }
};
/// A max of numbers with their signs turned; min, by another way.
template <class T>
struct SmallestByMax : spec::Max<T> {
  using Base = spec::Max<T>;
  static constexpr auto lift(const T& x, Index tap) { return Base::lift(T(-x), tap); }
  constexpr T value(const typename Base::Summary& summary) const { return T(-Base::value(summary)); }
  constexpr auto weight(const typename Base::Summary& summary, const T& x, Index tap) const {
    return Base::weight(summary, T(-x), tap);
  }
};
/// A reducer that is derived from none.
template <class T>
struct SumOfSquares {
  using Scalar = T;
  using State = T;
  using Summary = T;
  static State identity() { return T(0); }
  static State lift(const T& x, Index) { return T(x * x); }
  static State combine(const State& a, const State& b) { return T(a + b); }
  static Summary finish(const State& sum, TapCounts) { return sum; }
  static T value(const Summary& sum) { return sum; }
  static T weight(const Summary&, const T& x, Index) { return T(2 * x); }
  static T scale(const Summary&) { return T(1); }
};

TEST(TypedGraphPools, DerivedReducersComputeThemselves) {
  Graph<double> graph;
  const auto x = graph.input<Shape<4>>();
  using Pairs = Window<Kernel<2>>;
  const Numbers at{-5, 1, 2, -3};
  auto& dynamic = graph.dynamic();
  expect<double>(maps<double>(dynamic, x, graph.pool(x, Pool<Pairs, TwiceTheSum>{}), at),
                 {{-8, -2}, {6, 14}, {2, 2, 4, 4}});
  expect<double>(maps<double>(dynamic, x, graph.pool(x, Pool<Pairs, SmallestByMax>{}), at),
                 {{-5, -3}, {1, 4}, {1, 0, 0, 2}});
  expect<double>(maps<double>(dynamic, x, graph.pool(x, Pool<Pairs, SumOfSquares>{}), at),
                 {{26, 13}, {-6, -12}, {-10, 2, 8, -12}});
}

TEST(TypedGraphPools, TheDynamicFaceTakesReducersToo) {
  ndpool::Graph<double> graph;
  const Node x = graph.input({4}, "x"),
             y = graph.pool(x, ndpool::Window{.kernel = {2}}, SumOfSquares<double>{}, "squares");
  expect<double>(maps<double>(graph, x, y, {-5, 1, 2, -3}), {{26, 13}, {-6, -12}, {-10, 2, 8, -12}});
  EXPECT_EQ(graph.shape(graph.pool(x, ndpool::Global{.keepdims = true}, SumOfSquares<double>{})), (ndpool::Shape{1}));
  EXPECT_EQ(graph.shape(graph.pool(x, ndpool::Global{}, SumOfSquares<double>{})), ndpool::Shape{});
  try {
    graph.pool(x, ndpool::Window{.kernel = {2}, .padding = {2}}, spec::LargestMagnitude<double>{});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::empty_window);
    EXPECT_EQ(std::string(error.what()).find("pool of node \"x\" (4): "), 0U) << error.what();
  }
}

/// The same maps of a typed and of a dynamic node over one input; the type of the typed one is `Expected`.
template <class Expected, class S, class Typed, class Dynamic>
void expect_twins(Typed typed, Dynamic dynamic) {
  Graph<double> graph;
  const auto x = graph.input<S>("x");
  const auto y = typed(graph, x);
  static_assert(std::same_as<decltype(y), const Var<Expected>>);
  const Node same = dynamic(graph.dynamic(), x);
  EXPECT_EQ(graph.dynamic().shape(y), detail::run_time_shape<Expected>());
  Numbers at;
  for (Index i = 0; i < S::count; ++i) at.push_back(static_cast<double>(i * 7919 % 23) / 4 - 3);
  expect(maps<double>(graph.dynamic(), x, y, at), maps<double>(graph.dynamic(), x, same, at));
}

using Channels = Shape<2, 5, 6>;

TEST(TypedGraphPools, MaxPool) {
  expect_twins<Shape<2, 4, 4>, Channels>(
      [](auto& graph, auto x) { return graph.template max_pool<Kernel<2, 3>, Stride<1, 1>, Padding<0, 0>>(x); },
      [](auto& graph, Node x) {
        return graph.max_pool(x, {.kernel = {2, 3}, .stride = {1, 1}});
      });
  expect_twins<Shape<2, 5, 3>, Channels>(
      [](auto& graph, auto x) { return graph.template max_pool<Kernel<2>>(x, {.ties = Ties::split}, "name"); },
      [](auto& graph, Node x) { return graph.max_pool(x, {.kernel = {2}}, {.ties = Ties::split}); });
}
TEST(TypedGraphPools, MaxPool2d) {
  expect_twins<Shape<2, 2, 2>, Channels>([](auto& graph, auto x) { return graph.template max_pool2d<2, 3, 3>(x); },
                                         [](auto& graph, Node x) { return graph.max_pool2d(x, 2, 3, 3); });
}
TEST(TypedGraphPools, MaxPool2dPad) {
  expect_twins<Shape<2, 3, 3>, Channels>(
      [](auto& graph, auto x) { return graph.template max_pool2d_pad<3, 3, 2, 1>(x); },
      [](auto& graph, Node x) { return graph.max_pool2d_pad(x, 3, 3, 2, 1); });
}
TEST(TypedGraphPools, SmoothMaxPool) {
  expect_twins<Shape<2, 3, 4>, Channels>(
      [](auto& graph, auto x) { return graph.template smooth_max_pool<Kernel<2, 2>, Padding<1, 1>>(x, {.beta = 3}); },
      [](auto& graph, Node x) {
        return graph.smooth_max_pool(x, {.kernel = {2, 2}, .padding = {1, 1}}, {.beta = 3});
      });
}
TEST(TypedGraphPools, SmoothMaxPool2d) {
  expect_twins<Shape<2, 4, 5>, Channels>(
      [](auto& graph, auto x) { return graph.template smooth_max_pool2d<2, 2, 1>(x, 0.5); },
      [](auto& graph, Node x) { return graph.smooth_max_pool2d(x, 2, 2, 1, 0.5); });
}
TEST(TypedGraphPools, AvgPool) {
  expect_twins<Shape<2, 3, 3>, Channels>(
      [](auto& graph, auto x) {
        return graph.template avg_pool<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>(x, {.count_include_pad = false});
      },
      [](auto& graph, Node x) {
        return graph.avg_pool(x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, {.count_include_pad = false});
      });
}
TEST(TypedGraphPools, AvgPool2d) {
  expect_twins<Shape<2, 2, 3>, Channels>([](auto& graph, auto x) { return graph.template avg_pool2d<2, 2, 2>(x); },
                                         [](auto& graph, Node x) { return graph.avg_pool2d(x, 2, 2, 2); });
}
TEST(TypedGraphPools, AvgPool2dPad) {
  expect_twins<Shape<2, 3, 4>, Channels>(
      [](auto& graph, auto x) { return graph.template avg_pool2d_pad<2, 2, 2, 1>(x); },
      [](auto& graph, Node x) { return graph.avg_pool2d_pad(x, 2, 2, 2, 1); });
}

}  // namespace
}  // namespace ndpool::typed
