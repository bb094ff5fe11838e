// compiles
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
inline constexpr Settings strict{.training = true, .edges = ndpool::Edges::error};
using Pool = MaxPool1D<Shape<1, 1, 8>, 2, 2, strict>;
void right(const Pool::Input& x, Pool::Output& y, Pool::Memory& memory, Pool::Input& gx) {
  Pool::forward(x, y);
  Pool::forward(x, y, memory);
  Pool::backward(memory, y, gx);
}
