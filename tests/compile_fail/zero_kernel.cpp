// error: ndpool: every kernel length must be at least 1
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<Kernel<2, 0>>>(Tensor<float, Shape<4, 4>>{});
