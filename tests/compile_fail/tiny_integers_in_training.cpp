// error: ndpool: layers of this scalar have no backward
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool1D<Shape<1, 1, 8>, 2, -1, training, signed char>;
void wrong(const Pool::Input& x, Pool::Output& y, Pool::Memory& memory) { Pool::forward(x, y, memory); }
