// compiles
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
constexpr Tensor<float, Shape<2, 4, 4>> x{};
constexpr auto y = max_pool<Window<Kernel<2, 2>, Stride<2, 2>, Padding<1, 1>>>(x);
constexpr auto gx = max_pool<Window<Kernel<2, 2>, Stride<2, 2>, Padding<1, 1>>>.vjp(x, Tensor<float, Shape<2, 3, 3>>{});
