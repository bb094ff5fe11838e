// Two ways to pool with a reduction of your own: a fold of any function, and a reducer that gets all three maps.
#include <ndpool/ndpool.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

/// Root mean square. A reducer says how a tap becomes a state, how states combine, what a finished window is worth, and
/// the weight of a tap in the derivative: here dy/dx_i = x_i / (n y). Forward, JVP and VJP follow.
template <class T>
struct RootMeanSquare {
  using Scalar = T;
  struct State {
    T squares;
    ndpool::Index count;
  };
  struct Summary {
    T value;
    ndpool::Index count;
  };

  static State identity() { return {T(0), 0}; }
  static State lift(const T& x, ndpool::Index) { return {x * x, 1}; }
  static State combine(const State& a, const State& b) { return {a.squares + b.squares, a.count + b.count}; }
  static Summary finish(const State& state, ndpool::TapCounts) {
    return {std::sqrt(state.squares / static_cast<T>(state.count)), state.count};
  }
  static T value(const Summary& summary) { return summary.value; }
  static T weight(const Summary&, const T& x, ndpool::Index) { return x; }
  static T scale(const Summary& summary) { return static_cast<T>(summary.count) * summary.value; }
};

int main() {
  const std::vector<double> x = {3, 4, 0, 6, 8, 1};
  const ndpool::Shape shape = {6};
  const ndpool::Geometry pairs = ndpool::spec::make_geometry(ndpool::Window{.kernel = {2}}, shape);

  std::vector<double> y(3), ones(3, 1.0), gx(6);
  ndpool::spec::forward(pairs, RootMeanSquare<double>{}, ndpool::view(x, shape), ndpool::view(y, {3}));
  ndpool::spec::vjp(pairs, RootMeanSquare<double>{}, ndpool::view(x, shape), ndpool::view(ones, {3}),
                    ndpool::view(gx, shape));
  std::printf("root mean square of pairs: %.3f %.3f %.3f\n", y[0], y[1], y[2]);
  std::printf("its gradient: %.3f %.3f %.3f %.3f %.3f %.3f\n", gx[0], gx[1], gx[2], gx[3], gx[4], gx[5]);

  // A fold may carry any state, here the list of the taps, to take their median.
  const ndpool::Geometry triples =
      ndpool::spec::make_geometry(ndpool::Window{.kernel = {3}, .stride = {1}, .padding = {1}}, shape);
  auto windows = ndpool::spec::fold(triples, ndpool::view(x, shape), std::vector<double>{},
                                    [](std::vector<double> taps, double tap) {
                                      taps.push_back(tap);
                                      return taps;
                                    });
  std::printf("median of triples:");
  for (std::vector<double>& taps : windows) {
    std::sort(taps.begin(), taps.end());
    std::printf(" %g", taps[(taps.size() - 1) / 2]);
  }
  std::printf("\n");
}
