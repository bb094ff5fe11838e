#include <ndpool/spec/run.hpp>

namespace ndpool::spec {

#define NDPOOL_ROW(name, type) NDPOOL_COMPILED_INTEGER(, type)
NDPOOL_INTEGERS(NDPOOL_ROW)
#undef NDPOOL_ROW

}  // namespace ndpool::spec
