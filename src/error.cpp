#include <ndpool/error.hpp>

namespace ndpool {

void raise(const Fault& fault) { throw Error(fault); }

}  // namespace ndpool
