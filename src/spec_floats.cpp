#include <ndpool/spec/run.hpp>

namespace ndpool::spec {

NDPOOL_COMPILED_FLOATS()

}  // namespace ndpool::spec
