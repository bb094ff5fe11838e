// error: ndpool: a pooled axis has length 0
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<Kernel<2>>>(Tensor<float, Shape<3, 0>>{});
