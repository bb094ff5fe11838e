// error: ndpool: the function must take an image
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
const auto y =
    global_pool<Shape<2, 3>>(Tensor<float, Shape<4, 2, 3>>{}, [](float state, float x) { return state + x; });
