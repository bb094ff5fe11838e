// error: ndpool: Stride, Padding and Dilation need one number per pooled axis
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<Kernel<2, 2>, Stride<2>>>(Tensor<float, Shape<4, 4>>{});
