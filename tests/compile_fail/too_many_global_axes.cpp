// error: ndpool: more pooled axes than the tensor has
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = global_max_pool<3>(Tensor<float, Shape<4, 4>>{});
