// error: raise
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
constexpr auto y = smooth_max_pool<Window<Kernel<2>>>(Tensor<float, Shape<4>>{}, {{.beta = 0}});
