// error: ndpool: the padding leaves a window without an input element
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<Kernel<2>, Stride<2>, Padding<3>>>(Tensor<float, Shape<5>>{});
