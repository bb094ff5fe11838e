// error: ndpool: the windows leave cells at the end of an axis
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
inline constexpr Settings strict{.edges = ndpool::Edges::error};
Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>, Stride<2>>, strict>::Output y;
