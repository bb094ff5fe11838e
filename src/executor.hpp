#pragma once

#include <ndpool/threads.hpp>

namespace ndpool {

/// The executor in use.
Executor& executor();

}  // namespace ndpool
