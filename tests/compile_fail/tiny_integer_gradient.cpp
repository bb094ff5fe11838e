// error: ndpool: the result of backward must have the scalar and the shape of the input (floats for integers)
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool1D<Shape<1, 1, 8>, 2, -1, training, signed char>;
void wrong(const Pool::Memory& memory, const Pool::OutputGradient& gy, Pool::Input& gx) {
  Pool::backward(memory, gy, gx);
}
