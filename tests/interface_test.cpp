// What programmers touch: shapes from containers, views, plans, progress callbacks, reducers of their own.
#include "support/array.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <span>
#include <stdexcept>

namespace ndpool {
namespace {

using testing::Array;

static_assert(sizeof(View<float>) <= 160);
static_assert(sizeof(Pool) <= 512);
static_assert(sizeof(Plan<float>) <= 16);

Shape counting(int size) {
  Shape shape;
  for (int i = 0; i < size; ++i) shape.push_back(i + 1);
  return shape;
}

TEST(Shapes, AreMadeOfAnyContiguousRangeOfIntegers) {
  const std::vector<int> signed_numbers = {2, 3, 5};
  const std::array<std::size_t, 3> unsigned_numbers = {2, 3, 5};
  const short array[] = {2, 3, 5};
  const Shape expected = {2, 3, 5};
  EXPECT_EQ(Shape(signed_numbers), expected);
  EXPECT_EQ(Shape(unsigned_numbers), expected);
  EXPECT_EQ(Shape(std::span<const int>(signed_numbers)), expected);
  EXPECT_EQ(Shape(array), expected);
  EXPECT_EQ(max_pool({.kernel = {1, 1}}).output_shape(signed_numbers), expected);
  EXPECT_EQ(Shape(std::vector<int>()), Shape());
  EXPECT_EQ(Shape(std::vector<std::uint64_t>{~std::uint64_t{0}})[0], -1) << "which every use rejects";
}

TEST(Shapes, HoldEightAxesInPlaceAndMoreBehindAnAllocation) {
  for (const int size : {0, 1, 7, 8, 9, 40, 64}) {
    const Shape shape = counting(size);
    ASSERT_EQ(shape.size(), size);
    for (const int other : {0, 8, 9, 64}) {
      Shape copied = counting(other), moved = counting(other), source = shape;
      copied = shape;
      moved = std::move(source);
      EXPECT_EQ(copied, shape) << size << " over " << other;
      EXPECT_EQ(moved, shape) << size << " over " << other;
      moved.push_back(-3);
      EXPECT_EQ(copied, shape) << "a copy is another list";
      EXPECT_EQ(moved.size(), size + 1);
      if (size < max_rank) {
        EXPECT_EQ(moved[size], -3);
      }
    }
    const Shape& itself = shape;
    Shape assigned = shape;
    assigned = static_cast<const Shape&>(assigned);
    EXPECT_EQ(assigned, itself);
    EXPECT_EQ(Shape(std::move(assigned)), shape);
  }
  EXPECT_EQ(counting(80).size(), 80) << "so that an error can name the length";
  const Shape longer = counting(80);
  EXPECT_EQ(longer.end() - longer.begin(), 0 + max_rank) << "but only 64 are kept";
  EXPECT_EQ(Shape::filled(12, 4), Shape(std::vector<int>(12, 4)));
}

TEST(Shapes, LongListsWorkInConstantExpressions) {
  constexpr auto sum_of_copies = [] {
    Shape shape = Shape::filled(9, 2), other = {1};
    other = shape;
    shape = Shape{5};
    shape.push_back(6);
    return other[8] + shape[0] + shape[1];
  };
  static_assert(sum_of_copies() == 13);
}

TEST(Pools, TakeMoreThanEightAxes) {
  const Shape shape = {1, 2, 1, 2, 1, 2, 1, 2, 1, 4, 4};
  Array<float> x(shape);
  std::iota(x.begin(), x.end(), 0.0F);
  for (const Pool& pool : {max_pool({.kernel = {2, 2}}), sum_pool({.kernel = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 2}}),
                           avg_pool({.kernel = {2, 2}, .padding = {1, 1}, .axes = {1, 10}})}) {
    Array<float> y(pool.output_shape(shape)), expected(y.shape());
    pool.forward(x.view(), y.view());
    pool.without_kernels().forward(x.view(), expected.view());
    EXPECT_EQ(y, expected);
    const Pool copied = pool;
    copied.plan<float>(shape).forward(x.view(), y.view());
    EXPECT_EQ(y, expected);
  }
}

TEST(Views, OfContainersTakeStrides) {
  std::vector<float> x = {1, 9, 2, 9, 3, 9, 4}, y(2);
  max_pool({.kernel = {2}}).forward(view(x, {4}, {2}), view(y, {2}));
  EXPECT_EQ(y, (std::vector<float>{2, 4}));
  const std::vector<float> one = {7};
  EXPECT_EQ(view(one, {3}, {0}).strides(), Shape{0}) << "a broadcast stays within the container";
  std::vector<float> nothing;
  EXPECT_NO_THROW(static_cast<void>(view(nothing, {0, 3}, {3, 1})));
}

TEST(Plans, AreDefaultConstructibleCopiedAndMoved) {
  Plan<float> plan;
  EXPECT_FALSE(plan);
  plan = max_pool({.kernel = {2}}).plan<float>({4});
  ASSERT_TRUE(plan);
  const Plan<float> copied = plan;
  Plan<float> moved = std::move(plan);
  EXPECT_FALSE(plan);  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_THROW(static_cast<void>(plan.output_shape()), Error);
  const std::vector<float> x = {1, 3, 2, 0};
  for (const Plan<float>& whole : {copied, moved}) {
    std::vector<float> y(2);
    whole.forward(x.data(), y.data());
    EXPECT_EQ(y, (std::vector<float>{3, 2}));
    EXPECT_EQ(whole.output_shape(), Shape{2});
  }
}

TEST(Plans, TakeViewsInEveryMap) {
  const Shape shape = {3, 4}, strides = {1, 3};
  const auto plan = max_pool({.kernel = {2, 2}, .stride = {1, 2}}).plan<float>(shape, strides);
  std::vector<float> x = {5, 1, 2, 8, 0, 3, 4, 4, 9, 7, 6, 2}, dx(12, 0.5F), gx(12), expected_gx(12);
  std::vector<float> y(4), expected(4), gy = {1, 2, 3, 4};
  std::vector<Index> indices(4), expected_indices(4);
  const auto in = [&](auto& array) { return view(array, shape, strides); };
  const auto out = [&](auto& array) { return view(array, {2, 2}); };
  plan.forward(in(x), out(y), out(indices));
  plan.forward(x.data(), expected.data(), expected_indices.data());
  EXPECT_EQ(y, expected);
  EXPECT_EQ(indices, expected_indices);
  plan.forward(in(x), out(y));
  EXPECT_EQ(y, expected);
  plan.vjp(in(x), out(gy), in(gx));
  plan.vjp(x.data(), gy.data(), expected_gx.data());
  EXPECT_EQ(gx, expected_gx);
  plan.vjp_from_indices(out(indices), out(gy), in(gx));
  EXPECT_EQ(gx, expected_gx);
  plan.jvp(in(x), in(dx), out(y));
  EXPECT_EQ(y, std::vector<float>(4, 0.5F));
  plan.jvp_from_indices(out(indices), in(dx), out(y));
  EXPECT_EQ(y, std::vector<float>(4, 0.5F));
  const auto linear = sum_pool({.kernel = {2, 2}}).plan<float>(shape, strides);
  std::vector<float> two = {1, 2};
  linear.vjp_of_linear(view(two, {1, 2}), in(gx));
  EXPECT_EQ(gx, (std::vector<float>{1, 1, 0, 1, 1, 0, 2, 2, 0, 2, 2, 0}));
}

TEST(ProgressCallbacks, AreAnyCallable) {
  const Shape shape = {64, 64, 64};
  const auto pool = avg_pool({.kernel = {2, 2}});
  const auto plan = pool.plan<float>(shape);
  const Array<float> x(shape, 1.0F);
  Array<float> y(plan.output_shape());
  double last = 0;
  EXPECT_TRUE(plan.forward(x.view(), y.view(), [&](double done) { last = done; })) << "one that only listens";
  EXPECT_EQ(last, 1.0);
  int calls = 0;
  const auto cancel = [&](double) { return ++calls < 2; };
  EXPECT_FALSE(pool.forward(x.view(), y.view(), cancel)) << "a const lambda that is kept";
  EXPECT_EQ(calls, 2);
  struct Counter {
    int calls = 0;
    bool operator()(double) {
      ++calls;
      return true;
    }
  } counter;
  EXPECT_TRUE(plan.forward(x.begin(), y.begin(), counter)) << "an object, not a copy of it";
  EXPECT_GT(counter.calls, 1);
  EXPECT_THROW(plan.forward(x.view(), y.view(), [](double) { throw std::runtime_error("cancelled"); }),
               std::runtime_error);
}

/// The number of taps that are not zero, and the sum of their squares, which has a derivative.
template <class T>
struct SumOfSquares {
  using Scalar = T;
  using State = T;
  using Summary = T;
  static constexpr State identity() { return T(0); }
  static constexpr State lift(const T& x, Index) { return x * x; }
  static constexpr State combine(const State& a, const State& b) { return a + b; }
  static constexpr Summary finish(const State& sum, TapCounts) { return sum; }
  static constexpr T value(const Summary& sum) { return sum; }
  static constexpr T weight(const Summary&, const T& x, Index) { return x + x; }
  static constexpr T scale(const Summary&) { return T(1); }
};

TEST(OwnReducers, PoolInTheDynamicFormAsInTheTypedOne) {
  using namespace typed;
  using Pairs = typed::Window<Kernel<2, 2>, Stride<1, 2>>;
  constexpr typed::Pool<Pairs, SumOfSquares> expected{};
  const Tensor<double, typed::Shape<3, 4>> x{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  const auto y = expected(x);
  const auto squares = ndpool::pool(ndpool::Window{.kernel = {2, 2}, .stride = {1, 2}}, SumOfSquares<double>());
  const ndpool::Shape shape = {3, 4}, out = squares.output_shape(shape);
  ASSERT_EQ(out, (ndpool::Shape{2, 2}));
  std::vector<double> result(4), gradient(12);
  squares.forward(view(x.data, shape), view(result, out));
  EXPECT_TRUE(std::equal(result.begin(), result.end(), y.begin()));
  squares.jvp(view(x.data, shape), view(x.data, shape), view(result, out));
  const auto dy = expected.jvp(x, x);
  EXPECT_TRUE(std::equal(result.begin(), result.end(), dy.begin()));
  squares.vjp(view(x.data, shape), view(y.data, out), view(gradient, shape));
  const auto gx = expected.vjp(x, y);
  EXPECT_TRUE(std::equal(gradient.begin(), gradient.end(), gx.begin()));
}

TEST(OwnReducers, DropTheAxesOfGlobalPoolsHaveIndicesAndCanBeCancelled) {
  const std::vector<double> x = {1, 5, 2, 4, 0, 3};
  std::vector<double> y(2);
  std::vector<Index> indices(2);
  const auto largest = pool(Global{.axes = {1}}, spec::Max<double>());
  EXPECT_EQ(largest.output_shape({2, 3}), Shape{2});
  EXPECT_TRUE(largest.forward(view(x, {2, 3}), view(y, {2}), view(indices, {2})));
  EXPECT_EQ(y, (std::vector<double>{5, 4}));
  EXPECT_EQ(indices, (std::vector<Index>{1, 0}));
  const Array<double> large({1 << 16});
  Array<double> one(Shape{});
  EXPECT_FALSE(pool(Global{}, spec::Sum<double>()).forward(large.view(), one.view(), [](double) { return false; }));
  EXPECT_THROW(largest.forward(view(x, {2, 3}), view(y, {1, 2})), Error);
}

TEST(TypedAndDynamicPools, HaveTheSameDefaultsAndOptions) {
  const typed::Tensor<float, typed::Shape<2, 3>> x{{2, 5, 5, 1, 7, 7}};
  static_assert(std::is_same_v<typed::OutputShape<typed::Global<1>, typed::Shape<2, 3>>, typed::Shape<2>>);
  static_assert(std::is_same_v<typed::OutputShape<typed::Global<1, true>, typed::Shape<2, 3>>, typed::Shape<2, 1>>);
  EXPECT_EQ(global_max_pool({.axes = {1}}).output_shape({2, 3}), Shape{2});
  EXPECT_EQ(global_max_pool({.axes = {1}, .keepdims = true}).output_shape({2, 3}), (Shape{2, 1}));
  const typed::Tensor<float, typed::Shape<2>> gy{{4, 6}};
  const auto gx = typed::global_max_pool<1>.vjp(x, gy, {.ties = Ties::split});
  std::vector<float> expected(6);
  global_max_pool({.axes = {1}}, {.ties = Ties::split})
      .vjp(view(x.data, {2, 3}), view(gy.data, {2}), view(expected, {2, 3}));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), gx.begin()));
  EXPECT_EQ(expected, (std::vector<float>{0, 2, 2, 0, 3, 3}));
  EXPECT_EQ((typed::avg_pool<typed::Window<typed::Kernel<3>>>(x, {.divisor = 2})(0, 0)), 6);
  EXPECT_EQ((typed::smooth_max_pool<typed::Window<typed::Kernel<1>>>(x, {.beta = 4})(1, 2)), 7);
  EXPECT_EQ((typed::min_pool<typed::Window<typed::Kernel<3>>>.indices(x, {.ties = Ties::all})(1, 0)), 0);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(DeprecatedNames, StillWorkForOneRelease) {
  const std::vector<float> x = {1, 3, 2, 0};
  std::vector<float> y(2);
  double last = 0;
  const auto look = [](void* context, double done) {
    *static_cast<double*>(context) = done;
    return true;
  };
  EXPECT_TRUE(max_pool({.kernel = {2}}).by_spec().forward(view(x, {4}), view(y, {2}), Watch{look, &last}));
  EXPECT_EQ(y, (std::vector<float>{3, 2}));
  EXPECT_EQ(last, 1.0);
  const std::vector<Index> indices = {1, 2};
  std::vector<float> expected(2), gradient(2);
  const Unpool unpool = max_unpool({.output_size = {4}});
  unpool.vjp(view(x, {4}), view(indices, {2}), view(expected, {2}));
  unpool.by_spec().vjp(view(indices, {2}), view(x, {4}), view(gradient, {2}));
  EXPECT_EQ(expected, (std::vector<float>{3, 2}));
  EXPECT_EQ(gradient, expected);
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace ndpool
