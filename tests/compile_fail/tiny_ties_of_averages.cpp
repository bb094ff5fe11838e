// error: ndpool: averages have no ties
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
inline constexpr Settings split{.training = true, .ties = ndpool::Ties::split};
using Pool = GlobalAvgPool<Shape<1, 1, 8>, split>;
void wrong(const Pool::Input& x, Pool::Output& y, Pool::Memory& memory) { Pool::forward(x, y, memory); }
