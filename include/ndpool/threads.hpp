// Threads: how many ndpool uses, and how to lend it others.
#pragma once

#include <ndpool/fault.hpp>

namespace ndpool {

/// Runs independent pieces of work. A program with threads of its own can implement it over them.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Calls work(context, i) once for every i in [0, count), in any order, on any threads; returns when all are done.
  /// May be called by several threads at a time. `work` does not throw.
  virtual void run(Index count, void (*work)(void* context, Index i), void* context) = 0;

  /// How many pieces can run at a time.
  virtual int threads() const = 0;
};

/// Uses `executor` from now on, which must outlive its use; null means ndpool's own threads.
void set_executor(Executor* executor);

/// The number of threads ndpool's own executor uses, the caller's included; 1 to 1024. The default is
/// NDPOOL_NUM_THREADS, or as many as the machine has cores. Small problems stay on the calling thread whatever it is.
/// A change reaches the runs that start after it.
void set_threads(int count);
int get_threads();

}  // namespace ndpool
