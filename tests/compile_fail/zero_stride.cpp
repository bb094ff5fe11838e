// error: ndpool: every stride must be at least 1
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = avg_pool<Window<Kernel<2, 2>, Stride<0, 2>>>(Tensor<float, Shape<4, 4>>{});
