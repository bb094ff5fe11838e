// error: ndpool: the input of a tiny layer has no elements
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool1D<Shape<0, 1, 8>, 2>;
void wrong(const Pool::Input& x, Pool::Output& y) { Pool::forward(x, y); }
