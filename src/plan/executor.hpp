#pragma once

#include <ndpool/threads.hpp>

#include <memory>

namespace ndpool {

/// The executor in use, kept alive for as long as the caller runs work on it.
std::shared_ptr<Executor> executor();

/// True if that is ndpool's own, with the calling thread alone.
bool works_alone();

}  // namespace ndpool
