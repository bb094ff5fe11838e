// The row of docs/origins.md for tiny_pool's recipe of convolutions and pools.
#pragma once

#include "origins/support.hpp"

#include <ndpool/tiny.hpp>

namespace ndpool {
namespace {

/// Conv1D, ReLU, MaxPool1D(2), twice, of a ramp: the later of two cells wins.
struct Recipe {
  using Conv1 = tiny::Conv1D<tiny::Shape<1, 1, 32>, 4, tiny::Window<tiny::Kernel<5>, tiny::Padding<2>>, tiny::training>;
  using Pool1 = tiny::MaxPool1D<Conv1::OutputShape, 2, -1, tiny::training>;
  using Conv2 = tiny::Conv1D<Pool1::OutputShape, 8, tiny::Window<tiny::Kernel<3>, tiny::Padding<1>>, tiny::training>;
  using Pool2 = tiny::MaxPool1D<Conv2::OutputShape, 2, -1, tiny::training>;
  Conv1::Parameters first;
  Conv2::Parameters second;
  Conv1::Input x, gx;
  Conv1::Output a1, g_a1;
  Pool1::Output p1, g_p1;
  Pool1::Memory memory1;
  Conv2::Output a2, g_a2;
  Pool2::Output p2;
  Pool2::Memory memory2;

  Recipe() {
    for (float& weight : first.weight) weight = 1;
    for (float& weight : second.weight) weight = 1;
    for (Index i = 0; i < 32; ++i) x.data[i] = static_cast<float>(i + 1);
    first.bias.data[3] = -1000;  // a channel that ReLU cuts off
    Conv1::forward(x, first, a1);
    for (float& a : a1) a = std::max(a, 0.0F);
    Pool1::forward(a1, p1, memory1);
    Conv2::forward(p1, second, a2);
    for (float& a : a2) a = std::max(a, 0.0F);
    Pool2::forward(a2, p2, memory2);
  }
  /// The cells of x that a gradient behind the first pool reaches.
  Index cells_seen() {
    Pool1::backward(memory1, g_p1, g_a1);
    for (Index i = 0; i < a1.size(); ++i) g_a1.data[i] *= a1.data[i] > 0 ? 1.0F : 0.0F;
    Conv1::backward_input(first, g_a1, gx);
    return std::count_if(gx.begin(), gx.end(), [](float g) { return g != 0; });
  }
};
TEST(Origins, TinyRecipe) {
  // A dense layer behind both blocks has a quarter of the weights that it would have without pools.
  EXPECT_EQ(Recipe::Pool2::OutputShape::count, 8 * 32 / 4);
  Recipe recipe;
  EXPECT_EQ(recipe.p1.data[7], 14 + 15 + 16 + 17 + 18);
  EXPECT_EQ(recipe.p1.data[3 * 16 + 7], 0);
  EXPECT_EQ(recipe.p2.data[3], 3 * (70 + 80 + 90));
  // One cell behind the first block sees 5 cells; one behind the second sees three of those fields, 2 cells apart.
  recipe.g_p1.data[7] = 1;
  EXPECT_EQ(recipe.cells_seen(), 5);
  Recipe::Pool2::Output one;
  one.data[3] = 1;
  Recipe::Pool2::backward(recipe.memory2, one, recipe.g_a2);
  Recipe::Conv2::backward_input(recipe.second, recipe.g_a2, recipe.g_p1);
  EXPECT_EQ(recipe.cells_seen(), 5 + 2 * 2);
}

}  // namespace
}  // namespace ndpool
