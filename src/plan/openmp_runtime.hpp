// The OpenMP runtime that the process has loaded, if any, called by its own entry points: nothing to link, nothing to
// load.
#pragma once

#include <memory>
#include <string>

namespace ndpool {

/// The entry points of one runtime. The library stays loaded while this lives.
class OpenMpRuntime {
 public:
  /// The runtime in use: that of torch where torch is loaded, else the first one loaded; null if there is none. The
  /// search is repeated only when libraries were loaded since.
  static std::shared_ptr<const OpenMpRuntime> find();

  OpenMpRuntime(void* library, std::string file);
  ~OpenMpRuntime();
  OpenMpRuntime(const OpenMpRuntime&) = delete;
  OpenMpRuntime& operator=(const OpenMpRuntime&) = delete;

  bool is_complete() const { return max_threads_ != nullptr && (gomp_parallel_ != nullptr || fork_call_ != nullptr); }
  /// False for libgomp in a forked child: it does not know of forks, so the next parallel region would wait for threads
  /// that are gone.
  bool can_run() const;
  bool survives_fork() const { return fork_call_ != nullptr; }
  const std::string& file() const { return file_; }

  /// Of the calling thread; 1 inside of a parallel region.
  int threads() const;
  /// Calls body(context) on all threads of a new team, the caller's included; returns when all have returned. Asks
  /// for no number of threads: libgomp ends and starts threads when the number changes from one region to the next.
  void parallel(void (*body)(void*), void* context) const;

 private:
  using Microtask = void (*)(int* thread, int* bound, void* body, void* context);

  void* library_;
  std::string file_;
  int (*max_threads_)() = nullptr;
  int (*in_parallel_)() = nullptr;
  void (*gomp_parallel_)(void (*)(void*), void*, unsigned threads, unsigned flags) = nullptr;
  void (*fork_call_)(void* location, int arguments, Microtask task, ...) = nullptr;
};

}  // namespace ndpool
