// error: ndpool: every number of bins must be at least 1
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = adaptive_avg_pool<2, 0>(Tensor<float, Shape<4, 4>>{});
