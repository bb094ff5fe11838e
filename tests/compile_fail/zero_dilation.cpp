// error: ndpool: every dilation must be at least 1
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = sum_pool<Window<Kernel<2>, Dilation<0>>>(Tensor<float, Shape<4>>{});
