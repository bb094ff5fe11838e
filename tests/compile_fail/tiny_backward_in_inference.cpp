// error: ndpool: a layer for inference has no way back: give it the setting `training`
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool1D<Shape<1, 1, 8>, 2>;
void wrong(const Pool::Memory& memory, const Pool::Output& gy, Pool::Input& gx) { Pool::backward(memory, gy, gx); }
