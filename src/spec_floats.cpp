#include <ndpool/spec/run.hpp>

namespace ndpool::spec {

#define NDPOOL_ROW(name, type) NDPOOL_COMPILED_FLOAT(, type)
NDPOOL_FLOATS(NDPOOL_ROW)
#undef NDPOOL_ROW

}  // namespace ndpool::spec
