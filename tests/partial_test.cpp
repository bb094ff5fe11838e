// Windows made of several parts, against the reference on the whole.
#include <ndpool/ndpool.hpp>
#include <ndpool/partial.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ndpool {
namespace {

template <class T>
std::vector<T> scattered(const Shape& shape) {
  std::vector<T> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>((i * 37 + 11) % 19);
  return values;
}

/// The states of all windows, each made of the parts that a grid of chunks of 3 x 4 cells cuts it into.
template <class T, class Reducer>
std::vector<std::byte> states_of(const Geometry& whole, const Reducer& reducer, const std::vector<T>& x,
                                 bool by_kernels) {
  using State = typename Reducer::State;
  const Shape in = whole.input_shape(), out = whole.output_shape();
  const Index count = element_count(out);
  std::vector<std::byte> all(static_cast<std::size_t>(count) * sizeof(State)), some = all;
  const partial::States<State> states(all.data()), parts(some.data());
  for (Index i = 0; i < count; ++i) states.set(i, reducer.identity());
  for (Index r = 0; r < in[0]; r += 3)
    for (Index c = 0; c < in[1]; c += 4) {
      const partial::Box box{{{0, out[0]}, {0, out[1]}}, {{r, std::min(r + 3, in[0])}, {c, std::min(c + 4, in[1])}}};
      const View<const T> cells(x.data() + r * in[1] + c, box.cell_shape(), {in[1], 1});
      if (by_kernels)
        partial::fold_by_kernels(whole, reducer, box, cells, parts);
      else
        partial::fold(whole, reducer, box, cells, parts);
      partial::combine(reducer, count, parts, states);
    }
  return all;
}

template <class T, class Reducer>
void compare(const Pool& pool, const Reducer& reducer, double tolerance) {
  const Shape in{8, 9};
  const Geometry whole = pool.geometry(in);
  const Shape out = whole.output_shape();
  const std::vector<T> x = scattered<T>(in);
  std::vector<T> expected(static_cast<std::size_t>(element_count(out)));
  pool.forward(view(x, in), view(expected, out));
  const partial::Box box{{{0, out[0]}, {0, out[1]}}, {{0, in[0]}, {0, in[1]}}};
  for (const bool by_kernels : {false, true}) {
    std::vector<std::byte> bytes = states_of<T>(whole, reducer, x, by_kernels);
    const partial::States<typename Reducer::State> states(bytes.data());
    std::vector<T> y(expected.size());
    std::vector<Index> indices(expected.size(), -2), winners(expected.size());
    partial::finish(whole, reducer, box, states, y.data(), indices.data());
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(static_cast<double>(y[i]), static_cast<double>(expected[i]), tolerance) << by_kernels;
    if (pool.has_indices()) {
      std::vector<T> again(expected.size());
      pool.forward(view(x, in), view(again, out), view(winners, out));
      ASSERT_EQ(indices, winners);
    }
    if constexpr (spec::Differentiable<T>) {
      const std::vector<T> dx = scattered<T>(in), gy = scattered<T>(out);
      std::vector<T> dy(y.size()), gx(x.size()), wanted_dy(y.size()), wanted_gx(x.size());
      std::vector<spec::Accumulator<T>> sums(y.size()), gradient(x.size());
      pool.jvp(view(x, in), view(dx, in), view(wanted_dy, out));
      pool.vjp(view(x, in), view(gy, out), view(wanted_gx, in));
      partial::fold_jvp(whole, reducer, box, states, view(x, in), view(dx, in), sums.data());
      partial::finish_jvp(whole, reducer, box, states, sums.data(), dy.data());
      partial::vjp(whole, reducer, box, states, view(x, in), view(gy, out), view(gradient, in));
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(dy[i], wanted_dy[i], 20 * tolerance + 1e-12);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(gradient[i], wanted_gx[i], 20 * tolerance + 1e-12);
    }
  }
}

const Window window{.kernel = {5, 4}, .stride = {2, 3}, .padding = {2, 1}, .dilation = {1, 2}, .ceil_mode = true};

TEST(Partial, ExtremesOfPartsAreThoseOfTheWhole) {
  for (const Ties ties : {Ties::first, Ties::all, Ties::split}) {
    compare<double>(max_pool(window, {.ties = ties}), spec::Max<double>{{{.ties = ties}}}, 0);
    compare<double>(min_pool(window, {.ties = ties}), spec::Min<double>{{{.ties = ties}}}, 0);
  }
  compare<std::uint8_t>(max_pool(window), spec::Max<std::uint8_t>{}, 0);
}

TEST(Partial, SumsOfIntegersAreExactBeforeTheyAreClamped) {
  compare<std::uint8_t>(sum_pool(window), spec::Sum<std::uint8_t>{}, 0);
  compare<std::int64_t>(sum_pool(window), spec::Sum<std::int64_t>{}, 0);
  compare<std::int8_t>(avg_pool(window), spec::Average<std::int8_t>{}, 0);
}

TEST(Partial, SumsOfFloatsAreWithinTheirBound) {
  compare<double>(sum_pool(window), spec::Sum<double>{}, 1e-12);
  compare<double>(avg_pool(window), spec::Average<double>{}, 1e-13);
}

TEST(Partial, SmoothMaximaAndNormsOfParts) {
  compare<double>(smooth_max_pool(window), spec::SmoothMax<double>{}, 1e-13);
  compare<double>(lp_pool(3, window), spec::Lp<double>{3}, 1e-12);
}

TEST(Threads, ScopedThreadsLeaveTheSettingAlone) {
  const int before = get_threads();
  const Shape in{64, 64, 64}, out{64, 32, 32};
  const std::vector<float> x = scattered<float>(in);
  std::vector<float> y(static_cast<std::size_t>(element_count(out))), z = y;
  max_pool({.kernel = {2, 2}}).forward(view(x, in), view(y, out));
  for (const int count : {1, 2, 7}) {
    const ScopedThreads scope(count);
    EXPECT_EQ(get_threads(), before);
    max_pool({.kernel = {2, 2}}).forward(view(x, in), view(z, out));
    EXPECT_EQ(y, z);
  }
  EXPECT_EQ(get_threads(), before);
}

}  // namespace
}  // namespace ndpool
