#pragma once

#include <ndpool/threads.hpp>

#include <memory>

namespace ndpool {

/// The executor in use, kept alive for as long as the caller runs work on it.
std::shared_ptr<Executor> executor();

/// ndpool's own threads, whatever executor is in use.
std::shared_ptr<Executor> own_executor();

/// True if the calling thread would work alone, on ndpool's own threads or on those of OpenMP.
bool works_alone();

}  // namespace ndpool
