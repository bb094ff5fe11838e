// error: ndpool: the mask must have the type Mask of the layer
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool2D<Shape<1, 1, 8, 8>, 2, 2, -1, -1, training>;
bool wrong(const Pool::Memory& memory, Tensor<std::uint16_t, Shape<1, 1, 4, 4>>& mask) {
  return Pool::mask(memory, mask);
}
