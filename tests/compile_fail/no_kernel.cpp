// error: ndpool: no axis to pool: the window needs a Kernel
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<>>(Tensor<float, Shape<4>>{});
