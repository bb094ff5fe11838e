// Compiled with -ffreestanding -fno-exceptions -fno-rtti: geometry, spec core, typed pools and tiny layers need no
// hosted library.
// The results of max, min, sum and average are checked by the compiler.
#include <ndpool/half.hpp>
#include <ndpool/tiny.hpp>
#include <ndpool/typed.hpp>

namespace ndpool::typed {

constexpr Tensor<float, Shape<4, 4>> ramp{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
using Halves = Window<Kernel<2, 2>>;
using Overlapping = Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>;

static_assert(max_pool<Halves>(ramp) == Tensor<float, Shape<2, 2>>{{5, 7, 13, 15}});
static_assert(max_pool<Halves>.indices(ramp) == Tensor<Index, Shape<2, 2>>{{5, 7, 13, 15}});
static_assert(min_pool<Halves>(ramp) == Tensor<float, Shape<2, 2>>{{0, 2, 8, 10}});
static_assert(sum_pool<Overlapping>(ramp) == Tensor<float, Shape<2, 2>>{{10, 24, 51, 90}});
static_assert(avg_pool<Halves>(ramp) == Tensor<float, Shape<2, 2>>{{2.5F, 4.5F, 10.5F, 12.5F}});
static_assert(avg_pool<Halves>.jvp(ramp, ramp) == avg_pool<Halves>(ramp));
static_assert(max_pool<Halves>.vjp(ramp, Tensor<float, Shape<2, 2>>{{1, 2, 3, 4}}) ==
              Tensor<float, Shape<4, 4>>{{0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4}});
static_assert(min_pool<Halves>.jvp(ramp, ramp) == min_pool<Halves>(ramp));
static_assert(sum_pool<Overlapping>.vjp(ramp, Tensor<float, Shape<2, 2>>{{1, 2, 3, 4}})(1, 1) == 10);
static_assert(global_avg_pool<2>(ramp) == Tensor<float, Shape<>>{{7.5F}});
static_assert(global_max_pool<2, true>(ramp) == Tensor<float, Shape<1, 1>>{{15}});
static_assert(adaptive_max_pool<3, 3>(Tensor<signed char, Shape<2, 2>>{{1, 2, 3, 4}}) ==
              Tensor<signed char, Shape<3, 3>>{{1, 2, 2, 3, 4, 4, 3, 4, 4}});

constexpr Tensor<f16, Shape<2, 2>> halves{{f16(1), f16(2), f16(60000), f16(60000)}};
static_assert(max_pool<Halves>(halves)(0, 0) == 60000 && max_pool<Halves>.indices(halves)(0, 0) == 2);
static_assert(sum_pool<Halves>(halves)(0, 0) == std::numeric_limits<f16>::infinity());
static_assert(avg_pool<Halves>(halves)(0, 0) == 30000);  // 30000.75 in float, and f16 has steps of 16 there
static_assert(max_pool<Halves>.vjp(halves, Tensor<bf16, Shape<1, 1>>{{bf16(3)}}, {.ties = Ties::split}) ==
              Tensor<bf16, Shape<2, 2>>{{bf16(0), bf16(0), bf16(1.5F), bf16(1.5F)}});

/// The way there and back through a tiny layer.
constexpr Tensor<float, Shape<1, 1, 5>> tiny_gradient() {
  using Layer = tiny::MaxPool1D<Shape<1, 1, 5>, 2, -1, tiny::training>;
  Layer::Input gx;
  Layer::Output y;
  Layer::Memory memory;
  Layer::forward(Layer::Input{{1, 4, 3, 3, 9}}, y, memory);
  Layer::backward(memory, Layer::Output{{5, 7}}, gx);
  return gx;
}
static_assert(tiny_gradient() == Tensor<float, Shape<1, 1, 5>>{{0, 5, 7, 0, 0}});

/// Called by nobody: it makes the compiler emit the code of the pools that need a mathematical library, too.
float pools_at_run_time(const Tensor<float, Shape<4, 4>>& x) {
  return smooth_max_pool<Overlapping>(x)(0, 0) + lp_pool<Overlapping>(x)(0, 0) +
         smooth_max_pool<Overlapping>.vjp(x, Tensor<float, Shape<2, 2>>{})(0, 0) +
         smooth_max_pool<Halves>(halves)(0, 0) + lp_pool<Halves>.jvp(halves, halves)(0, 0);
}

}  // namespace ndpool::typed
