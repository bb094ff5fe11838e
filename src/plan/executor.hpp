#pragma once

#include <ndpool/threads.hpp>

#include <memory>

namespace ndpool {

/// The executor in use, kept alive for as long as the caller runs work on it.
std::shared_ptr<Executor> executor();

/// ndpool's own threads, whatever executor is in use.
std::shared_ptr<Executor> own_executor();

/// The executor that set_executor() or a ScopedExecutor has chosen; null for ndpool's own threads.
Executor* chosen_executor();

/// An executor that runs everything on the calling thread.
Executor* calling_thread();

/// True if the calling thread would work alone: by choice, on ndpool's own threads or on those of OpenMP.
bool works_alone();

}  // namespace ndpool
