// What a caller of the C interface describes, as values of C++.
#pragma once

#include <ndpool/c.h>
#include <ndpool/pool.hpp>

namespace ndpool::c {

/// The pool of a description. Throws if a number is out of range, or an option is none of the pool.
Pool read_pool(const ndpool_pool& given);
/// The size of an unpooling.
Adaptive read_unpool(const ndpool_unpool& given);

}  // namespace ndpool::c
