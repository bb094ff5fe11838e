// Where an array lies in memory changes nothing: strides, gaps, directions, broadcasts, layouts, ranks, empty batches.
#include "support/array.hpp"
#include "support/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ndpool::testing {
namespace {

std::vector<Shape> positions_of(const Shape& shape) {
  std::vector<Shape> positions;
  for (Index number = 0; number < element_count(shape); ++number) {
    Shape position = shape;
    Index rest = number;
    for (int a = shape.size() - 1; a >= 0; --a) {
      position[a] = rest % shape[a];
      rest /= shape[a];
    }
    positions.push_back(position);
  }
  return positions;
}

template <class T>
Array<T> copy_of(const View<T>& view) {
  Array<T> copy(view.shape());
  Index number = 0;
  for (const Shape& position : positions_of(view.shape())) copy[number++] = view[position];
  return copy;
}

/// An array laid out by strides of either sign, in memory that holds `gap` wherever it has no element.
template <class T>
class Scattered {
 public:
  Scattered(const Shape& shape, const Shape& strides) : shape_(shape), strides_(strides) {
    Index highest = 0;
    for (int a = 0; a < shape.size(); ++a) {
      const Index reach = (shape[a] - 1) * strides[a];
      (reach < 0 ? first_ : highest) += reach < 0 ? -reach : reach;
    }
    memory_.assign(static_cast<std::size_t>(first_ + highest + 1), gap);
  }
  Scattered(const Array<T>& elements, const Shape& strides) : Scattered(elements.shape(), strides) {
    Index number = 0;
    for (const Shape& position : positions_of(shape_)) view()[position] = elements[number++];
  }

  View<T> view() { return {memory_.data() + first_, shape_, strides_}; }
  const std::vector<T>& memory() const { return memory_; }

  /// True if all memory without an element of the array still is as it was.
  bool gaps_are_untouched() {
    std::vector<T> rest = memory_;
    for (const Shape& position : positions_of(shape_))
      rest[static_cast<std::size_t>(&view()[position] - memory_.data())] = gap;
    return rest == std::vector<T>(rest.size(), gap);
  }

 private:
  static constexpr T gap = T(-12345);
  Shape shape_, strides_;
  Index first_ = 0;
  std::vector<T> memory_;
};

/// Strides that keep elements apart, with gaps, in any order of axes and each axis in its own direction.
Shape scattered_strides(const Shape& shape, std::mt19937_64& random) {
  std::vector<int> order;
  for (int a = 0; a < shape.size(); ++a) order.push_back(a);
  std::shuffle(order.begin(), order.end(), random);
  Shape strides = shape;
  Index stride = std::uniform_int_distribution<Index>(1, 3)(random);
  for (const int a : order) {
    strides[a] = random() % 2 == 0 ? stride : -stride;
    stride *= shape[a] + std::uniform_int_distribution<Index>(0, 2)(random);
  }
  return strides;
}

Array<double> random_array(const Shape& shape, std::mt19937_64& random) {
  Array<double> array(shape);
  for (double& element : array) element = static_cast<double>(std::uniform_int_distribution<int>(-9, 9)(random));
  return array;
}

const char* const problems[] = {
    "max shape=2,5,6 kernel=2,3 stride=1,2 padding=1:0,1:1",
    "min shape=2,5,6 kernel=2,2 dilation=3,2 axes=2,0 padding=1,1",
    "sum shape=2,5,6 kernel=3,2 stride=2,1 ceil",
    "avg shape=2,5,6 kernel=3 stride=2 padding=same axes=1 exclude_pad",
    "smooth-max shape=2,5,6 kernel=2,2 padding=1,1 beta=0.5",
    "lp shape=2,5,6 kernel=2,2,2 p=3",
    "adaptive-max shape=2,5,6 output_size=3,4 ties=split",
    "global-max shape=2,5,6 axes=0,2",
    "global-avg shape=2,5,6 axes=1 keepdims",
};

/// `check(problem, random)` for every problem above, a few times.
template <class Check>
void for_each_problem(Check check) {
  for (const char* line : problems)
    for (unsigned seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(std::string(line) + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      check(parse_problem(line), random);
    }
}

TEST(StridedViews, GiveTheValuesOfPackedOnes) {
  for_each_problem([](const Problem& problem, std::mt19937_64& random) {
    const Array<double> x = random_array(problem.shape, random);
    const Shape out = problem.pool.output_shape(problem.shape);
    Scattered<double> scattered(x, scattered_strides(x.shape(), random)), y(out, scattered_strides(out, random));
    problem.pool.forward(scattered.view(), y.view());
    EXPECT_EQ(copy_of(y.view()), forward(problem.pool, x));
    EXPECT_TRUE(y.gaps_are_untouched());
  });
}

TEST(StridedViews, GiveTheIndicesOfPackedOnes) {
  for (const Pool& pool :
       {max_pool({.kernel = {2, 2}, .stride = {1, 1}}), min_pool({.kernel = {2, 2}, .axes = {0, 2}})})
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::mt19937_64 random(seed);
      const Array<double> x = random_array({2, 5, 6}, random);
      const Shape out = pool.output_shape(x.shape());
      Scattered<double> scattered(x, scattered_strides(x.shape(), random)), y(out, scattered_strides(out, random));
      Scattered<Index> found(out, scattered_strides(out, random));
      pool.forward(scattered.view(), y.view(), found.view());
      EXPECT_EQ(copy_of(found.view()), indices(pool, x)) << "seed " << seed;
      EXPECT_EQ(copy_of(y.view()), forward(pool, x)) << "seed " << seed;
      EXPECT_TRUE(y.gaps_are_untouched() && found.gaps_are_untouched()) << "seed " << seed;
    }
}

TEST(StridedViews, GiveTheDerivativesOfPackedOnes) {
  for_each_problem([](const Problem& problem, std::mt19937_64& random) {
    const Shape out = problem.pool.output_shape(problem.shape);
    const Array<double> x = random_array(problem.shape, random), dx = random_array(problem.shape, random);
    const Array<double> gy = random_array(out, random);
    const auto strides = [&](const Shape& shape) { return scattered_strides(shape, random); };
    Scattered<double> x_apart(x, strides(x.shape())), dx_apart(dx, strides(x.shape())), gy_apart(gy, strides(out));
    Scattered<double> dy(out, strides(out)), gx(x.shape(), strides(x.shape()));
    problem.pool.jvp(x_apart.view(), dx_apart.view(), dy.view());
    problem.pool.vjp(x_apart.view(), gy_apart.view(), gx.view());
    EXPECT_EQ(copy_of(dy.view()), jvp(problem.pool, x, dx));
    EXPECT_EQ(copy_of(gx.view()), vjp(problem.pool, x, gy));
    EXPECT_TRUE(dy.gaps_are_untouched() && gx.gaps_are_untouched());
  });
}

TEST(BroadcastViews, GiveWhatACopyGives) {
  for_each_problem([](const Problem& problem, std::mt19937_64& random) {
    const Array<double> memory = random_array({60}, random);
    const Shape out = problem.pool.output_shape(problem.shape);
    for (const Shape& strides : {Shape{0, 6, 1}, Shape{30, 0, 1}, Shape{30, 6, 0}, Shape{0, 0, 7}, Shape{0, 0, 0}}) {
      const View<const double> broadcast(memory.begin(), problem.shape, strides);
      const View<const double> same_everywhere(memory.begin(), out, Shape::filled(out.size(), 0));
      Array<double> y(out), dy(out), gx(problem.shape);
      problem.pool.forward(broadcast, y.view());
      problem.pool.jvp(broadcast, broadcast, dy.view());
      problem.pool.vjp(broadcast, same_everywhere, gx.view());
      Array<double> x(problem.shape);
      Index number = 0;
      for (const Shape& position : positions_of(problem.shape)) x[number++] = broadcast[position];
      EXPECT_EQ(y, forward(problem.pool, x));
      EXPECT_EQ(dy, jvp(problem.pool, x, x));
      EXPECT_EQ(gx, vjp(problem.pool, x, Array<double>(out, memory[0])));
    }
  });
}

TEST(BroadcastViews, OfOneNumberHaveTheFirstCellAsWinner) {
  const double number = 4;
  Array<double> y({2, 2});
  Array<Index> found({2, 2});
  max_pool({.kernel = {2, 2}}).forward(view(&number, {4, 4}, {0, 0}), y.view(), found.view());
  EXPECT_EQ(y, (Array<double>({2, 2}, 4)));
  EXPECT_EQ(found, (Array<Index>({2, 2}, std::vector<Index>{0, 2, 8, 10})));
}

TEST(BroadcastViews, MayBeOutputsOnAxesOfLengthOne) {
  const double x[] = {3, 5};
  double y = 0;
  global_sum_pool({.axes = {0, 1}, .keepdims = true}).forward(view(x, {1, 2}), view(&y, {1, 1}, {0, 0}));
  EXPECT_EQ(y, 8);
}

TEST(Layouts, ChannelsLastAndChannelsFirstHaveTheSameNumbersAndIndices) {
  std::mt19937_64 random(3);
  const Array<double> first = random_array({2, 3, 5, 6}, random);
  const Window window{.kernel = {2, 3}, .stride = {2, 1}, .padding = {1, 0}};
  Window last_window = window;
  last_window.axes = {1, 2};
  const Pool pool = max_pool(window), last_pool = max_pool(last_window);

  // The channels-first shape over channels-last memory, and that memory as what it is.
  Scattered<double> seen_first(first, {90, 1, 18, 3}), y(Shape{2, 3, 3, 4}, {36, 1, 12, 3});
  Scattered<Index> found(Shape{2, 3, 3, 4}, {36, 1, 12, 3});
  pool.forward(seen_first.view(), y.view(), found.view());
  const Array<double> last({2, 5, 6, 3}, seen_first.memory());
  EXPECT_EQ(forward(last_pool, last), (Array<double>({2, 3, 4, 3}, y.memory())));
  EXPECT_EQ(indices(last_pool, last), (Array<Index>({2, 3, 4, 3}, found.memory())));
  EXPECT_EQ(forward(pool, first), copy_of(y.view()));
  EXPECT_EQ(indices(pool, first), copy_of(found.view()));
}

TEST(Layouts, OrderAndSignOfAxesDoNotMatter) {
  std::mt19937_64 random(4);
  const Array<double> x = random_array({3, 5, 6}, random);
  const Pool pool = max_pool({.kernel = {2, 3}, .padding = {{1, 0}, {0, 2}}, .axes = {0, 2}});
  const Pool same[] = {max_pool({.kernel = {3, 2}, .padding = {{0, 2}, {1, 0}}, .axes = {2, 0}}),
                       max_pool({.kernel = {2, 3}, .padding = {{1, 0}, {0, 2}}, .axes = {-3, -1}}),
                       max_pool({.kernel = {2, 1, 3}, .padding = {{1, 0}, 0, {0, 2}}})};
  for (const Pool& other : same) EXPECT_EQ(forward(other, x), forward(pool, x));
  EXPECT_EQ(indices(same[0], x), indices(pool, x));
  EXPECT_EQ(indices(same[1], x), indices(pool, x));
}

TEST(Layouts, TransposedInputGivesTheTransposedResult) {
  std::mt19937_64 random(5);
  const Array<double> x = random_array({5, 7}, random);
  Array<double> y({3, 2});
  avg_pool({.kernel = {2, 3}, .stride = {2, 2}}).forward(view(x.begin(), {7, 5}, {1, 7}), y.view());
  const Array<double> expected = forward(avg_pool({.kernel = {3, 2}, .stride = {2, 2}}), x);
  EXPECT_EQ(copy_of(view(y.begin(), {2, 3}, {1, 2})), expected);
}

/// The pools of every reducer over a description.
template <class Description>
std::vector<Pool> every_pool(const Description& description) {
  return {{description, reduction::Max{}},     {description, reduction::Min{}},       {description, reduction::Sum{}},
          {description, reduction::Average{}}, {description, reduction::SmoothMax{}}, {description, reduction::Lp{}}};
}

TEST(EmptyBatches, GiveEmptyResultsWithoutTouchingMemory) {
  std::vector<std::pair<Pool, Shape>> cases;
  for (const Pool& pool : every_pool(Window{.kernel = {2}})) cases.emplace_back(pool, Shape{0, 4});
  for (const Pool& pool : every_pool(Window{.kernel = {2}, .axes = {0}})) cases.emplace_back(pool, Shape{4, 0, 3});
  for (const Pool& pool : every_pool(Adaptive{.output_size = {3}})) cases.emplace_back(pool, Shape{2, 0, 5});
  for (const Pool& pool : every_pool(Global{.axes = {1}})) cases.emplace_back(pool, Shape{0, 5});
  for (const Pool& pool : every_pool(Global{.axes = {1}, .keepdims = true})) cases.emplace_back(pool, Shape{0, 5});
  for (const auto& [pool, shape] : cases) {
    const Shape out = pool.output_shape(shape);
    EXPECT_EQ(element_count(out), 0);
    const View<double> x(nullptr, shape), y(nullptr, out);
    EXPECT_NO_THROW(pool.forward(x, y));
    EXPECT_NO_THROW(pool.jvp(x, x, y));
    EXPECT_NO_THROW(pool.vjp(x, y, x));
  }
}

TEST(EmptyBatches, HaveNoIndicesAndNothingToUnpool) {
  const Pool pool = max_pool({.kernel = {2}});
  const View<double> x(nullptr, {0, 4}), y(nullptr, {0, 2});
  const View<Index> found(nullptr, {0, 2});
  const View<std::uint8_t> taps(nullptr, {0, 2});
  EXPECT_NO_THROW(pool.forward(x, y, found));
  EXPECT_NO_THROW(max_unpool({.output_size = {4}}).forward(y, found, x));
  EXPECT_NO_THROW(max_unpool({.output_size = {4}}).vjp(x, found, y));
  EXPECT_NO_THROW(spec::compact_from_flat(pool.geometry({0, 4}), found, taps));
  EXPECT_NO_THROW(spec::flat_from_compact(pool.geometry({0, 4}), taps, found));
  EXPECT_TRUE(spec::fold(pool.geometry({0, 4}), x, 0.0, [](double a, double b) { return a + b; }).empty());
}

TEST(Ranks, AllAxesPooledAwayLeaveOneNumberOfRankZero) {
  const Array<double> x({2, 3}, std::vector<double>{4, 1, 9, 9, 2, 3});
  const Pool pool = global_max_pool({});
  EXPECT_EQ(pool.output_shape(x.shape()), Shape{});
  EXPECT_EQ(forward(pool, x), Array<double>(Shape{}, 9));
  EXPECT_EQ(indices(pool, x), Array<Index>(Shape{}, 2));
  EXPECT_EQ(jvp(pool, x, arange<double>({2, 3})), Array<double>(Shape{}, 2 + 3));
  EXPECT_EQ(vjp(pool, x, Array<double>(Shape{}, 7)), Array<double>({2, 3}, std::vector<double>{0, 0, 7, 7, 0, 0}));
  EXPECT_EQ(forward(global_sum_pool({.keepdims = true}), x), Array<double>(Shape{1, 1}, 28));
}

TEST(Ranks, WindowOfOneCellIsTheIdentityAtEveryRank) {
  for (int rank = 1; rank <= 6; ++rank) {
    const Array<double> x = arange<double>(Shape::filled(rank, 2));
    for (const Pool& pool : every_pool(Window{.kernel = Shape::filled(rank, 1)})) {
      EXPECT_EQ(forward(pool, x), x);
      EXPECT_EQ(vjp(pool, Array<double>(x.shape(), 1), x), x);
    }
    EXPECT_EQ(indices(max_pool({.kernel = Shape::filled(rank, 1)}), x), arange<Index>(x.shape()));
  }
}

TEST(Ranks, SixtyFourAxesCanBePooled) {
  Shape shape = Shape::filled(64, 1);
  shape[0] = 3;
  shape[63] = 4;
  const Array<double> x = arange<double>(shape);
  EXPECT_EQ(forward(global_sum_pool({}), x), Array<double>(Shape{}, 66));
  Shape kernel = Shape::filled(64, 1), out = shape;
  kernel[63] = 2;
  out[63] = 2;
  EXPECT_EQ(indices(max_pool({.kernel = kernel}), x), Array<Index>(out, std::vector<Index>{1, 3, 5, 7, 9, 11}));
}

}  // namespace
}  // namespace ndpool::testing
