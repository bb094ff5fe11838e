// error: ndpool: the padding leaves a window without an input element
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = lp_pool<Window<Kernel<2>, Stride<2>, Pads<0, 4>>>(Tensor<float, Shape<5>>{});
