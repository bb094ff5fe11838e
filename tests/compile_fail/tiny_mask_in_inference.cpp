// error: ndpool: a layer for inference keeps no mask: give it the setting `training`
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool1D<Shape<1, 1, 8>, 2>;
bool wrong(const Pool::Memory& memory, Pool::Mask& mask) { return Pool::mask(memory, mask); }
