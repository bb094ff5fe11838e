// An executor on the threads of the OpenMP runtime of the process.
#include "plan/executor.hpp"
#include "plan/openmp_runtime.hpp"

#include <atomic>

namespace ndpool {

namespace {

/// Orders what the caller wrote before what a team reads, and the reverse at the end. The runtime does so too, by
/// instructions that the thread sanitizer does not see. One for all: it must be older than any run.
std::atomic<unsigned> handed_over = 0;

/// Tiles that the threads of a team take one by one.
class Loop {
 public:
  Loop(Index count, void (*work)(void*, Index), void* context) : work_(work), context_(context), count_(count) {}

  void run_on(const OpenMpRuntime& runtime) {
    ++handed_over;
    runtime.parallel(&Loop::take_tiles, this);
    static_cast<void>(handed_over.load());
  }

 private:
  static void take_tiles(void* loop) {
    static_cast<void>(handed_over.load());
    static_cast<Loop*>(loop)->take_tiles();
    ++handed_over;
  }
  void take_tiles() {
    for (Index i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) work_(context_, i);
  }

  void (*work_)(void*, Index);
  void* context_;
  Index count_;
  alignas(64) std::atomic<Index> next_ = 0;
};

class OpenMpExecutor final : public Executor {
 public:
  int threads() const override {
    const auto runtime = OpenMpRuntime::find();
    if (runtime == nullptr) return get_threads();
    return runtime->can_run() || runtime->threads() == 1 ? runtime->threads() : get_threads();
  }

  void run(Index count, void (*work)(void*, Index), void* context) override {
    const auto runtime = OpenMpRuntime::find();
    // A limit of one thread, such as torch sets in the workers of its DataLoader, holds for whatever runs.
    if (runtime != nullptr && (count < 2 || runtime->threads() == 1)) {
      for (Index i = 0; i < count; ++i) work(context, i);
      return;
    }
    if (runtime == nullptr || !runtime->can_run()) return own_executor()->run(count, work, context);
    Loop(count, work, context).run_on(*runtime);
  }
};

}  // namespace

Executor* openmp_executor() {
  static OpenMpExecutor* const only = [] {
    static_cast<void>(OpenMpRuntime::find());  // from here on it knows of forks
    return new OpenMpExecutor;                 // threads may use it until the process ends
  }();
  return only;
}

std::string openmp_runtime() {
  const auto runtime = OpenMpRuntime::find();
  return runtime != nullptr && runtime->can_run() ? runtime->file() : std::string();
}

}  // namespace ndpool
