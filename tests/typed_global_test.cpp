// Global pooling by any function of an image.
#include "support/array.hpp"

#include <ndpool/typed.hpp>

#include <gtest/gtest.h>

#include <string>

namespace ndpool::typed {
namespace {

constexpr Tensor<float, Shape<2, 2, 3>> pair_of_images{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};

/// No fold over elements: it needs to know where they are.
struct CornerProduct {
  template <class T, Index H, Index W>
  constexpr T operator()(const Tensor<T, Shape<H, W>>& image) const {
    return image(0, 0) * image(H - 1, W - 1);
  }
};

static_assert(global_pool<Shape<2, 3>, true>(pair_of_images, CornerProduct()) ==
              Tensor<float, Shape<2, 1, 1>>{{6, 84}});
static_assert(global_pool<Shape<2, 3>>(pair_of_images, CornerProduct()) == Tensor<float, Shape<2>>{{6, 84}});
static_assert(global_pool<Shape<2, 2, 3>>(pair_of_images, [](const auto& all) { return all(1, 1, 2); }) ==
              Tensor<float, Shape<>>{{12}});
static_assert(global_pool<Shape<3>, true>(pair_of_images, [](const auto& row) { return Index{row.size()}; }) ==
              Tensor<Index, Shape<2, 2, 1>>{{3, 3, 3, 3}});

TEST(TypedGlobalPool, TakesFunctionsThatReturnATensorWithoutAxes) {
  const auto largest = [](const Tensor<float, Shape<2, 3>>& image) { return global_max_pool<2>(image); };
  static_assert(std::same_as<decltype(largest(Tensor<float, Shape<2, 3>>{})), Tensor<float, Shape<>>>);
  EXPECT_EQ((global_pool<Shape<2, 3>, true>(pair_of_images, largest)), (global_max_pool<2, true>(pair_of_images)));
  EXPECT_EQ((global_pool<Shape<2, 3>>(pair_of_images, largest)), (global_max_pool<2>(pair_of_images)));
}

TEST(TypedGlobalPool, ResultsMayBeOfAnyTypeAndCallsComeInRowMajorOrder) {
  int calls = 0;
  const auto name = [&calls](const auto& image) { return std::to_string(calls++) + ":" + std::to_string(image(1, 2)); };
  const auto names = global_pool<Shape<2, 3>>(pair_of_images, name);
  EXPECT_EQ(names(0), "0:" + std::to_string(6.0F));
  EXPECT_EQ(names(1), "1:" + std::to_string(12.0F));
}

TEST(TypedGlobalPool, OfABatchWithoutImagesCallsNothing) {
  const auto never = [](const Tensor<float, Shape<2, 2>>&) -> float { throw std::logic_error("called"); };
  EXPECT_EQ((global_pool<Shape<2, 2>, true>(Tensor<float, Shape<0, 2, 2>>{}, never).size()), 0);
}

}  // namespace
}  // namespace ndpool::typed
