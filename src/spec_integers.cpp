#include <ndpool/spec/run.hpp>

namespace ndpool::spec {

NDPOOL_COMPILED_INTEGERS()

}  // namespace ndpool::spec
