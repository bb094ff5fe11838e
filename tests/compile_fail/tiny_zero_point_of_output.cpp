// error: ndpool: the output of a pool has the zero point of its input
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = AvgPool1D<Shape<1, 1, 8>, 2, -1, quantised(3, 4), std::int8_t>;
void wrong(const Pool::Input& x, Pool::Output& y) { Pool::forward(x, y); }
