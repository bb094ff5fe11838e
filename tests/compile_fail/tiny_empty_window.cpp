// error: ndpool: the padding leaves a window without an input element
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPoolND<Shape<1, 1, 4>, Window<Kernel<1>, Padding<1>>>;
void wrong(const Pool::Input& x, Pool::Output& y) { Pool::forward(x, y); }
