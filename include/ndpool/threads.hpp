// Threads: how many ndpool uses, and how to lend it others.
#pragma once

#include <ndpool/api.h>
#include <ndpool/fault.hpp>

#include <memory>
#include <string>

namespace ndpool {

/// Runs independent pieces of work. A program with threads of its own can implement it over them.
class NDPOOL_API Executor {
 public:
  virtual ~Executor() = default;

  /// Calls work(context, i) once for every i in [0, count), in any order, on any threads; returns when all are done.
  /// May be called by several threads at a time. `work` does not throw.
  virtual void run(Index count, void (*work)(void* context, Index i), void* context) = 0;

  /// How many pieces can run at a time.
  virtual int threads() const = 0;
};

/// Uses `executor` from now on, which must outlive its use; null means ndpool's own threads.
NDPOOL_API void set_executor(Executor* executor);

/// The threads of the OpenMP runtime that the process has already loaded (libgomp, libiomp5 or libomp): those of torch
/// where torch is loaded, so that two pools of threads do not compete for the cores. A run uses as many as that
/// runtime's omp_get_max_threads() says, one inside of a parallel region. ndpool's own threads serve where no such
/// runtime is loaded, and where libgomp cannot be called: in a forked child of a process that had it. Never null; lives
/// as long as the process. Costs two looks at the list of loaded libraries per run, 15 ns each.
NDPOOL_API Executor* openmp_executor();

/// The file of the OpenMP runtime that openmp_executor() calls; empty if ndpool's own threads serve.
NDPOOL_API std::string openmp_runtime();

/// Uses an executor for the runs that this thread starts while the object lives, whatever set_executor() says. Null
/// changes nothing. Objects are destroyed in the reverse order of their construction.
class NDPOOL_API ScopedExecutor {
 public:
  /// From here on `executor` runs, which must outlive the object.
  explicit ScopedExecutor(Executor* executor);
  ~ScopedExecutor();  ///< What was in use before runs again.
  ScopedExecutor(const ScopedExecutor&) = delete;
  ScopedExecutor& operator=(const ScopedExecutor&) = delete;

 private:
  Executor* before_;
};

/// At most `count` of ndpool's own threads, the caller's included, for the runs that this thread starts while the
/// object lives; set_threads() and other threads are not touched. A count below 1 means 1. Allocates once.
class NDPOOL_API ScopedThreads {
 public:
  explicit ScopedThreads(int count);  ///< From here on.

 private:
  std::unique_ptr<Executor> executor_;
  ScopedExecutor scope_;
};

/// The number of threads ndpool's own executor uses, the caller's included; 1 to 1024. The default is
/// NDPOOL_NUM_THREADS, or as many as there are CPUs in the process's affinity mask, at most as many as the CPU quota of
/// its cgroup pays for. Small problems stay on the calling thread whatever it is.
/// A change reaches the runs that start after it.
NDPOOL_API void set_threads(int count);
NDPOOL_API int get_threads();

}  // namespace ndpool
