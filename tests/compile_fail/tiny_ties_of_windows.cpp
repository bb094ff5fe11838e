// error: ndpool: ties all and split are for GlobalMaxPool
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
inline constexpr Settings split{.training = true, .ties = ndpool::Ties::split};
using Pool = MaxPool1D<Shape<1, 1, 8>, 2, -1, split>;
void wrong(const Pool::Input& x, Pool::Output& y, Pool::Memory& memory) { Pool::forward(x, y, memory); }
