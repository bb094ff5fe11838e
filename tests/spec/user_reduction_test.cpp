// Reductions that users bring: a fold of any function, and a reducer type with all three maps.
#include "support/sweep.hpp"

#include <boost/multiprecision/cpp_int.hpp>

namespace ndpool::testing {

using Rational = boost::multiprecision::cpp_rational;

/// Contraharmonic mean: sum of squares over sum. dy/dx_i = (2 x_i - y) / sum. Needs field operations only.
template <class T>
struct ContraharmonicMean {
  using Scalar = T;
  struct State {
    T sum, squares;
  };
  struct Summary {
    T value, sum;
  };
  static constexpr State identity() { return {T(0), T(0)}; }
  static constexpr State lift(const T& x, Index) { return {x, T(x * x)}; }
  static constexpr State combine(const State& a, const State& b) {
    return {T(a.sum + b.sum), T(a.squares + b.squares)};
  }
  static constexpr Summary finish(const State& state, TapCounts) { return {T(state.squares / state.sum), state.sum}; }
  static constexpr T value(const Summary& summary) { return summary.value; }
  static constexpr T weight(const Summary& summary, const T& x, Index) { return T(2 * x - summary.value); }
  static constexpr T scale(const Summary& summary) { return summary.sum; }
};

const Geometry overlapping =
    spec::make_geometry(Window{.kernel = {2, 3}, .stride = {1, 2}, .padding = {{0, 0}, {1, 0}}}, {3, 5});

TEST(UserReducer, GetsItsValueFromTheFold) {
  const Array<double> x({2}, std::vector<double>{1, 3});
  Array<double> y({1});
  spec::forward(spec::make_geometry(Window{.kernel = {2}}, {2}), ContraharmonicMean<double>{}, x.view(), y.view());
  EXPECT_EQ(y[0], 2.5);
}

TEST(UserReducer, GetsAdjointDerivativesFromItsWeights) {
  const Array<Rational> x = arange<Rational>({3, 5}, 1), dx = arange<Rational>({3, 5}, -4);
  const Array<Rational> gy = arange<Rational>(overlapping.output_shape(), 2);
  Array<Rational> dy(overlapping.output_shape()), gx({3, 5});
  spec::jvp(overlapping, ContraharmonicMean<Rational>{}, x.view(), dx.view(), dy.view());
  spec::vjp(overlapping, ContraharmonicMean<Rational>{}, x.view(), gy.view(), gx.view());
  EXPECT_EQ(inner_product(dy, gy), inner_product(dx, gx));
}

TEST(UserReducer, DerivativeEqualsFiniteDifferences) {
  const Array<double> x = arange<double>({3, 5}, 1), dx = arange<double>({3, 5}, -4);
  Array<double> above(overlapping.output_shape()), below(above.shape()), dy(above.shape()), moved(x.shape());
  const double step = 1e-6;
  for (Index i = 0; i < x.size(); ++i) moved[i] = x[i] + step * dx[i];
  spec::forward(overlapping, ContraharmonicMean<double>{}, moved.view(), above.view());
  for (Index i = 0; i < x.size(); ++i) moved[i] = x[i] - step * dx[i];
  spec::forward(overlapping, ContraharmonicMean<double>{}, moved.view(), below.view());
  spec::jvp(overlapping, ContraharmonicMean<double>{}, x.view(), dx.view(), dy.view());
  for (Index i = 0; i < dy.size(); ++i) EXPECT_NEAR((above[i] - below[i]) / (2 * step), dy[i], 1e-7);
}

TEST(UserReducer, WorksOnCompileTimeShapes) {
  using namespace typed;
  constexpr typed::Pool<typed::Window<Kernel<2>>, ContraharmonicMean> mean;
  constexpr Tensor<double, typed::Shape<4>> x{{1, 3, 2, 2}};
  static_assert(mean(x) == Tensor<double, typed::Shape<2>>{{2.5, 2}});
  static_assert(mean.vjp(x, Tensor<double, typed::Shape<2>>{{4, 4}}) ==
                Tensor<double, typed::Shape<4>>{{-0.5, 3.5, 2, 2}});
}

/// Half of the maximum, and how many taps hold it: neither is a tap of the window.
template <class T>
struct HalfOfMax : spec::Max<T> {
  constexpr T value(const typename spec::Max<T>::Summary& summary) const { return summary.value / 2; }
};
template <class T>
struct CountOfMin : spec::Min<T> {
  constexpr T value(const typename spec::Min<T>::Summary& summary) const { return T(summary.ties); }
};

TEST(UserReducer, ThatIsDerivedFromMaxOrMinComputesItselfOnCompileTimeShapes) {
  using namespace typed;
  constexpr Tensor<double, typed::Shape<6>> x{{2, 4, 6, 6, -3, 1}};
  constexpr typed::Pool<typed::Window<Kernel<2>>, HalfOfMax> half;
  static_assert(half(x) == Tensor<double, typed::Shape<3>>{{2, 3, 0.5}});
  constexpr typed::Pool<typed::Adaptive<3>, CountOfMin> count;
  static_assert(count(x) == Tensor<double, typed::Shape<3>>{{1, 2, 1}});
  constexpr typed::Pool<typed::Global<1, false>, HalfOfMax> all;
  EXPECT_EQ(all(x).data[0], 3);
}

TEST(Fold, VisitsTheTapsOfEachWindowInRowMajorOrder) {
  const Array<char> letters({2, 3}, std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f'});
  const Geometry geometry =
      spec::make_geometry(Window{.kernel = {2, 2}, .stride = {1, 1}, .padding = {{0, 0}, {1, 0}}}, {2, 3});
  const std::vector<std::string> words = spec::fold(geometry, letters.view(), std::string(),
                                                    [](const std::string& word, char letter) { return word + letter; });
  EXPECT_EQ(words, (std::vector<std::string>{"ad", "abde", "bcef"}));
}

TEST(Fold, WorksOnEveryGeometry) {
  const Array<int> x = arange<int>({2, 5});
  const auto count = [](int seen, int) { return seen + 1; };
  EXPECT_EQ(spec::fold(spec::make_geometry(Adaptive{.output_size = {3}}, x.shape()), x.view(), 0, count),
            (std::vector<int>{2, 3, 2, 2, 3, 2}));
  EXPECT_EQ(spec::fold(spec::make_geometry(Global{}, x.shape()), x.view(), 0, count), std::vector<int>{10});
}

TEST(Fold, RejectsAViewOfAnotherShape) {
  const Array<int> x({4});
  EXPECT_THROW(spec::fold(overlapping, x.view(), 0, [](int sum, int tap) { return sum + tap; }), Error);
}

}  // namespace ndpool::testing
