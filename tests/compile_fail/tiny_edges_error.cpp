// error: ndpool: the windows leave cells at the end of an axis
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
inline constexpr Settings strict{.edges = ndpool::Edges::error};
using Pool = MaxPool1D<Shape<1, 1, 9>, 2, 2, strict>;
void wrong(const Pool::Input& x, Pool::Output& y) { Pool::forward(x, y); }
