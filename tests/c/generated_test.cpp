// The generated problems through the C interface: every map writes byte for byte what C++ writes, and nothing else.
#include "support/generated.hpp"
#include "c/described.hpp"
#include "support/kernels.hpp"
#include "support/placed.hpp"

#include <gtest/gtest.h>

namespace ndpool::testing {
namespace {

/// A block of memory with an array in it, and a copy of both.
template <class T>
struct Twins {
  Twins(const Array<T>& values, const Layout& layout) : c(values, layout), cpp(values, layout), layout_(layout) {}
  Twins(const Shape& shape, const Layout& layout) : c(shape, layout), cpp(shape, layout), layout_(layout) {}

  T* data() { return c.view.data(); }
  /// True if both blocks have the same bytes.
  bool are_equal() const {
    const auto bytes = [&](const Placed<T>& placed) { return placed.view.data() - layout_.offset; };
    return std::memcmp(static_cast<const void*>(bytes(c)), static_cast<const void*>(bytes(cpp)),
                       static_cast<std::size_t>(layout_.elements) * sizeof(T)) == 0;
  }

  Placed<T> c, cpp;

 private:
  Layout layout_;
};

template <class T>
class Checker {
 public:
  Checker(const std::string& line, std::mt19937_64& random)
      : random_(random), problem_(parse_problem(line)), described_(problem_.pool), shape_(problem_.shape) {
    uses_reference_ = random() % 8 == 0;
    if (uses_reference_) problem_.pool = problem_.pool.without_kernels();
    out_ = problem_.pool.output_shape(shape_);
    in_layout_ = draw(shape_);
    out_layout_ = draw(out_);
  }

  void run() {
    check_shape();
    const auto x = numbers(shape_, in_layout_);
    PlanPointer plan = make(NDPOOL_SAME_DTYPE);
    if (plan == nullptr) return;
    check_forward<T>(*plan, *x);
    if (problem_.pool.has_indices()) {
      check_indices<Index>(*plan, *x, ndpool_dtype_i64);
      switch (ndpool_plan_compact_index_dtype(plan.get())) {
        case ndpool_dtype_u8: check_indices<std::uint8_t>(*plan, *x, ndpool_dtype_u8); break;
        case ndpool_dtype_u16: check_indices<std::uint16_t>(*plan, *x, ndpool_dtype_u16); break;
        default: check_indices<std::uint32_t>(*plan, *x, ndpool_dtype_u32); break;
      }
    }
    if constexpr (!std::integral<T>) check_derivatives(*plan, *x);
    check_mixed<f16>(*x);
    check_mixed<double>(*x);
    check_mixed<std::int64_t>(*x);
  }

 private:
  /// Half the problems are packed, and say so by no strides at all.
  Layout draw(const Shape& shape) {
    return problem_.memory == 0 ? packed_layout(shape) : draw_layout(shape, random_, false);
  }
  std::unique_ptr<Twins<T>> numbers(const Shape& shape, const Layout& layout) {
    return std::make_unique<Twins<T>>(awkward_numbers<T>(shape, random_), layout);
  }

  void check_shape() {
    std::int64_t output[NDPOOL_MAX_RANK];
    std::int32_t rank = -1;
    ASSERT_EQ(ndpool_output_shape(&described_.pool, shape_.begin(), shape_.size(), output, &rank, nullptr), 0);
    EXPECT_EQ(Shape(output, rank), out_);
  }

  PlanPointer make(std::int32_t result_dtype) {
    ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
    arrays.dtype = static_cast<std::int32_t>(dtype_of<T>());
    arrays.result_dtype = result_dtype;
    arrays.rank = shape_.size();
    arrays.shape = shape_.begin();
    if (problem_.memory != 0) arrays.strides = in_layout_.strides.begin();
    if (problem_.memory != 0) arrays.result_strides = out_layout_.strides.begin();
    ndpool_plan_options options = NDPOOL_PLAN_OPTIONS_INIT;
    if (uses_reference_) options.implementation = "reference";
    ndpool_error error = NDPOOL_ERROR_INIT;
    ndpool_plan* plan = nullptr;
    const std::int32_t code = ndpool_plan_create(&described_.pool, &arrays, &options, &plan, &error);
    EXPECT_EQ(code, 0) << error.sentence;
    return PlanPointer(plan);
  }

  void succeeds(std::int32_t code) { EXPECT_EQ(code, 0) << error_.sentence; }

  template <class Y>
  void check_forward(const ndpool_plan& plan, Twins<T>& x) {
    Twins<Y> y(out_, out_layout_);
    succeeds(ndpool_forward(&plan, x.data(), y.data(), nullptr, &error_));
    problem_.pool.forward(x.cpp.read(), y.cpp.view);
    EXPECT_TRUE(y.are_equal()) << "y as " << ndpool_dtype_name(static_cast<std::int32_t>(dtype_of<Y>()));
  }

  template <class Y>
  void check_mixed(Twins<T>& x) {
    if constexpr (!std::same_as<Y, T>)
      if (const PlanPointer plan = make(static_cast<std::int32_t>(dtype_of<Y>()))) check_forward<Y>(*plan, x);
  }

  template <class I>
  void check_indices(const ndpool_plan& plan, Twins<T>& x, std::int32_t index_dtype) {
    Twins<T> y(out_, out_layout_);
    Twins<I> indices(out_, out_layout_);
    succeeds(ndpool_forward_with_indices(&plan, x.data(), y.data(), indices.data(), index_dtype, nullptr, &error_));
    problem_.pool.forward(x.cpp.read(), y.cpp.view, indices.cpp.view);
    EXPECT_TRUE(y.are_equal() && indices.are_equal()) << "values with indices";
    if constexpr (!std::integral<T>) {
      const View<const I> winners = indices.cpp.read();
      const auto dx = numbers(shape_, in_layout_), gy = numbers(out_, out_layout_);
      Twins<T> dy(out_, out_layout_), gx(shape_, in_layout_);
      succeeds(ndpool_jvp_from_indices(&plan, indices.data(), index_dtype, dx->data(), dy.data(), nullptr, &error_));
      problem_.pool.jvp_from_indices(winners, dx->cpp.read(), dy.cpp.view);
      EXPECT_TRUE(dy.are_equal()) << "dy from indices";
      succeeds(ndpool_vjp_from_indices(&plan, indices.data(), index_dtype, gy->data(), gx.data(), nullptr, &error_));
      problem_.pool.vjp_from_indices(winners, gy->cpp.read(), gx.cpp.view);
      EXPECT_TRUE(gx.are_equal()) << "gx from indices";
    }
  }

  void check_derivatives(const ndpool_plan& plan, Twins<T>& x) {
    const auto dx = numbers(shape_, in_layout_), gy = numbers(out_, out_layout_);
    Twins<T> dy(out_, out_layout_), gx(shape_, in_layout_);
    succeeds(ndpool_jvp(&plan, x.data(), dx->data(), dy.data(), nullptr, &error_));
    problem_.pool.jvp(x.cpp.read(), dx->cpp.read(), dy.cpp.view);
    EXPECT_TRUE(dy.are_equal()) << "dy";
    const void* const read = problem_.pool.is_linear() && random_() % 2 == 0 ? nullptr : x.data();
    succeeds(ndpool_vjp(&plan, read, gy->data(), gx.data(), nullptr, &error_));
    problem_.pool.vjp(x.cpp.read(), gy->cpp.read(), gx.cpp.view);
    EXPECT_TRUE(gx.are_equal()) << "gx";
    if (!std::holds_alternative<reduction::SmoothMax>(problem_.pool.reduction())) return;
    Twins<T> by_beta(out_, out_layout_);
    succeeds(ndpool_beta_derivative(&plan, x.data(), by_beta.data(), nullptr, &error_));
    problem_.pool.beta_derivative(x.cpp.read(), by_beta.cpp.view);
    EXPECT_TRUE(by_beta.are_equal()) << "derivative by beta";
  }

  std::mt19937_64& random_;
  Problem problem_;
  const Described described_;
  const Shape shape_;
  Shape out_;
  Layout in_layout_, out_layout_;
  bool uses_reference_ = false;
  ndpool_error error_ = NDPOOL_ERROR_INIT;
};

template <class T>
class ProblemsInC : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, f16, bf16, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                 std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, bool>;
TYPED_TEST_SUITE(ProblemsInC, Scalars);

TYPED_TEST(ProblemsInC, HaveTheBytesOfCpp) {
  const long wanted = has_sanitizer ? 60 : 250;
  std::mt19937_64 random(seed() + 26 + static_cast<std::uint64_t>(dtype_of<TypeParam>()));
  for (long i = 0; i < wanted && !this->HasFailure(); ++i) {
    const std::string line = generated_problem(random, !std::integral<TypeParam>);
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + " problem: " + line);
    Checker<TypeParam>(line, random).run();
  }
}

/// Cells of the pooled axes, of which some repeat and some name none.
template <class T>
void check_unpool(std::mt19937_64& random) {
  const auto below = [&](Index limit) { return static_cast<Index>(random() % static_cast<std::uint64_t>(limit)); };
  const Shape values_shape = {1 + below(4), 1 + below(6), 1 + below(6)}, size = {1 + below(9), 1 + below(9)};
  const Unpool unpool = max_unpool({.output_size = size});
  const Shape cells_shape = unpool.output_shape(values_shape);
  const bool is_packed = below(3) == 0;
  const auto draw = [&](const Shape& shape) {
    return is_packed ? packed_layout(shape) : draw_layout(shape, random, false);
  };
  const Layout values_layout = draw(values_shape), cells_layout = draw(cells_shape);
  Array<Index> winners(values_shape);
  for (Index& winner : winners) winner = below(8) == 0 ? -1 : below(size[0] * size[1]);
  Twins<Index> indices(winners, values_layout);

  ndpool_unpool described = NDPOOL_UNPOOL_INIT;
  described.output_size = {size.begin(), size.size()};
  ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
  arrays.dtype = static_cast<std::int32_t>(dtype_of<T>());
  arrays.rank = values_shape.size();
  arrays.shape = values_shape.begin();
  if (!is_packed) arrays.strides = values_layout.strides.begin();
  if (!is_packed) arrays.result_strides = cells_layout.strides.begin();
  ndpool_error error = NDPOOL_ERROR_INIT;
  ndpool_plan* made = nullptr;
  ASSERT_EQ(ndpool_unpool_plan_create(&described, &arrays, &made, &error), 0) << error.sentence;
  const PlanPointer plan(made);
  ASSERT_EQ(Shape(ndpool_plan_output_shape(made), ndpool_plan_output_rank(made)), cells_shape);

  Twins<T> values(awkward_numbers<T>(values_shape, random), values_layout), cells(cells_shape, cells_layout);
  ASSERT_EQ(ndpool_unpool_forward(made, values.data(), indices.data(), cells.data(), nullptr, &error), 0)
      << error.sentence;
  unpool.forward(values.cpp.read(), indices.cpp.read(), cells.cpp.view);
  EXPECT_TRUE(cells.are_equal()) << "x";
  if constexpr (!std::integral<T>) {
    Twins<T> dx(cells_shape, cells_layout), gy(values_shape, values_layout);
    ASSERT_EQ(ndpool_unpool_jvp(made, values.data(), indices.data(), dx.data(), nullptr, &error), 0) << error.sentence;
    unpool.jvp(values.cpp.read(), indices.cpp.read(), dx.cpp.view);
    EXPECT_TRUE(dx.are_equal()) << "dx";
    ASSERT_EQ(ndpool_unpool_vjp(made, cells.data(), indices.data(), gy.data(), nullptr, &error), 0) << error.sentence;
    unpool.vjp(cells.cpp.read(), indices.cpp.read(), gy.cpp.view);
    EXPECT_TRUE(gy.are_equal()) << "gy";
  }
}

TYPED_TEST(ProblemsInC, UnpoolToTheBytesOfCpp) {
  std::mt19937_64 random(seed() + 27 + static_cast<std::uint64_t>(dtype_of<TypeParam>()));
  for (int i = 0; i < 50 && !this->HasFailure(); ++i) check_unpool<TypeParam>(random);
}

}  // namespace
}  // namespace ndpool::testing
