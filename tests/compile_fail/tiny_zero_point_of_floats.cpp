// error: ndpool: zero points are for layers of integers
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = AvgPool1D<Shape<1, 1, 8>, 2, -1, quantised(3)>;
void wrong(const Pool::Input& x, Pool::Output& y) { Pool::forward(x, y); }
