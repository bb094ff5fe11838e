// A forward that runs out of memory leaves a layer that can be used: it never goes back through winners of one shape
// with the plan of another.
#include "support/layers.hpp"

#include <cstdlib>
#include <new>

namespace {
/// Larger allocations fail.
std::size_t largest_allocation = SIZE_MAX;
}  // namespace

void* operator new(std::size_t size) {
  void* memory = size > largest_allocation ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ndpool::nn {
namespace {

/// Runs forward while no allocation may be larger than `bytes`.
void expect_out_of_memory(Layer& layer, const Tensor& x, std::size_t bytes) {
  largest_allocation = bytes;
  bool failed = false;
  try {
    layer.forward(x);
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  largest_allocation = SIZE_MAX;
  EXPECT_TRUE(failed);
}

TEST(LayerMemory, NoRoomForTheResultOfAnotherShape) {
  MaxPool1D layer(2);
  layer.set_training(true);
  layer.forward(noise({1, 1, 8}, 1));
  const Tensor x = noise({1, 1, 200000}, 2);
  expect_out_of_memory(layer, x, 100000);
  refusal([&] { layer.backward(Tensor({1, 1, 100000})); }, Code::nothing_kept);
  refusal([&] { layer.backward(Tensor({1, 1, 4})); }, Code::nothing_kept);
  refusal([&] { layer.mask(); }, Code::nothing_kept);
  layer.forward(x);
  EXPECT_EQ(layer.backward(Tensor({1, 1, 100000}, 1)),
            by_spec(max_pool({.kernel = {2}}), x, Tensor({1, 1, 100000}, 1)));
}

TEST(LayerMemory, NoRoomForWhatIsKept) {
  const auto check = [](PoolLayer& layer, const Tensor& then, std::size_t bytes) {
    const Tensor x = noise({1, 1, 40000}, 3);
    layer.set_training(true);
    const Tensor y = layer.forward(x), gx = layer.backward(y);
    expect_out_of_memory(layer, then, bytes);
    refusal([&] { layer.backward(y); }, Code::nothing_kept);
    EXPECT_EQ(layer.forward(x), y);
    EXPECT_EQ(layer.backward(y), gx);
  };
  GlobalMaxPool global(1);  // 5000 bytes of bits
  check(global, noise({1, 1, 40000}, 4), 1000);
  SmoothMaxPoolND smooth({4});  // a copy of x, which is larger than the result
  check(smooth, noise({2, 1, 40000}, 5), 100000);
}

TEST(LayerMemory, NoRoomForACopyOfALayer) {
  const auto check = [](auto small, auto large) {
    const Tensor x = noise({1, 1, 8}, 6), far = noise({2, 1, 200000}, 7);
    small.set_training(true);
    large.set_training(true);
    const Tensor y = small.forward(x), gx = small.backward(y);
    const Tensor far_y = large.forward(far);
    largest_allocation = 1000;
    EXPECT_THROW(small = large, std::bad_alloc);
    largest_allocation = SIZE_MAX;
    EXPECT_EQ(small.backward(y), gx);
    refusal([&] { small.backward(far_y); }, Code::shape_mismatch);
    small = large;
    EXPECT_EQ(small.backward(far_y), large.backward(far_y));
  };
  check(MaxPool1D(2), MaxPool1D(2));
  check(GlobalMaxPool(1), GlobalMaxPool(1));
  check(SmoothMaxPoolND({2}), SmoothMaxPoolND({2}));
}

TEST(LayerMemory, ATensorWithoutRoomForACopyStaysAsItWas) {
  const Tensor large({40000}, 3);
  Tensor small({2}, {1, 2});
  largest_allocation = 1000;
  EXPECT_THROW(small = large, std::bad_alloc);
  largest_allocation = SIZE_MAX;
  EXPECT_EQ(small, Tensor({2}, {1, 2}));
}

}  // namespace
}  // namespace ndpool::nn
