// error: ndpool: the image must have the last axes of the tensor
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
const auto y = global_pool<Shape<3, 2>>(Tensor<float, Shape<4, 2, 3>>{}, [](const auto& image) { return image(0, 0); });
