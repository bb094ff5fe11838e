#include "c/pool_plan.hpp"

namespace ndpool::c {

#define NDPOOL_ROW(name, type) \
  template std::unique_ptr<ndpool_plan> make_pool_plan<type>(const Pool&, const Arrays&, const PlanOptions&);
NDPOOL_INTEGERS(NDPOOL_ROW)
#undef NDPOOL_ROW

}  // namespace ndpool::c
