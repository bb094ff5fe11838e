// error: ndpool: averages have no mask
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = AvgPool1D<Shape<1, 1, 8>, 2, -1, training>;
bool wrong(const Pool::Memory& memory, Pool::Mask& mask) { return Pool::mask(memory, mask); }
