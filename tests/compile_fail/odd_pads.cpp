// error: ndpool: Pads needs two numbers per pooled axis, before and after
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<Kernel<2>, Pads<1>>>(Tensor<float, Shape<4>>{});
