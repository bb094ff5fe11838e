// Which executor runs, and the life of ndpool's own: it is made when it is first needed, and rebuilt in a forked child,
// where the threads of the parent do not exist.
#include "plan/available_cpus.hpp"
#include "plan/executor.hpp"
#include "plan/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace ndpool {

namespace {

constexpr int max_threads = 1024;

/// Everything that a fork must not carry over, behind one pointer.
struct State {
  explicit State(int cpus) : cores(cpus), threads(std::min(cpus, max_threads)) {}
  std::mutex mutex;
  int cores;
  int threads;
  std::shared_ptr<ThreadPool> pool;  // shared with the runs that use it
};

std::atomic<Executor*> lent{nullptr};
thread_local Executor* scoped = nullptr;
std::atomic<State*> state{nullptr};

State* first_state() {
  State* first = new State(available_cpus());
  const char* wanted = std::getenv("NDPOOL_NUM_THREADS");
  const long number = wanted == nullptr ? 0 : std::strtol(wanted, nullptr, 10);
  if (number > 0) first->threads = static_cast<int>(std::min<long>(number, max_threads));
  return first;
}

void forget_threads() {
  const State* of_parent = state.load();
  if (of_parent == nullptr) return;
  State* own = new State(of_parent->cores);
  own->threads = of_parent->threads;
  state.store(own);
}

State& current() {
  static const bool handles_fork = [] {
    state.store(first_state());
    return pthread_atfork(nullptr, nullptr, forget_threads) == 0;
  }();
  static_cast<void>(handles_fork);
  return *state.load();
}

/// Some of ndpool's own threads.
class FewThreads final : public Executor {
 public:
  explicit FewThreads(int limit) : limit_(std::max(limit, 1)) {}

  int threads() const override { return limit_ == 1 ? 1 : std::min(limit_, get_threads()); }
  void run(Index count, void (*work)(void*, Index), void* context) override {
    Share share{work, context, count};
    const Index shares = std::min<Index>(count, threads());
    if (shares <= 1)
      take(&share, 0);
    else
      own_executor()->run(shares, &take, &share);
  }

 private:
  struct Share {
    void (*work)(void*, Index);
    void* context;
    Index count;
    std::atomic<Index> next{0};
  };
  static void take(void* context, Index) {
    Share& share = *static_cast<Share*>(context);
    for (Index i = share.next++; i < share.count; i = share.next++) share.work(share.context, i);
  }

  int limit_;
};

}  // namespace

Executor* chosen_executor() { return scoped != nullptr ? scoped : lent.load(); }

Executor* calling_thread() {
  static FewThreads only(1);
  return &only;
}

std::shared_ptr<Executor> own_executor() {
  State& own = current();
  const std::lock_guard lock(own.mutex);
  if (own.pool == nullptr) own.pool = std::make_shared<ThreadPool>(own.threads, own.cores);
  return own.pool;
}

std::shared_ptr<Executor> executor() {
  if (Executor* other = chosen_executor()) return {std::shared_ptr<Executor>(), other};
  return own_executor();
}

bool works_alone() {
  Executor* other = chosen_executor();
  if (other == nullptr) return get_threads() == 1;
  const bool is_callers = other == openmp_executor() || dynamic_cast<FewThreads*>(other) != nullptr;
  return is_callers && other->threads() == 1;
}

void set_executor(Executor* other) { lent.store(other); }

ScopedExecutor::ScopedExecutor(Executor* executor) : before_(scoped) {
  if (executor != nullptr) scoped = executor;
}
ScopedExecutor::~ScopedExecutor() { scoped = before_; }

ScopedThreads::ScopedThreads(int count) : executor_(std::make_unique<FewThreads>(count)), scope_(executor_.get()) {}

void set_threads(int count) {
  State& own = current();
  std::shared_ptr<ThreadPool> former;  // ends, where no run uses it, after the lock is released
  const std::lock_guard lock(own.mutex);
  own.threads = std::clamp(count, 1, max_threads);
  former = std::exchange(own.pool, nullptr);
}

int get_threads() {
  State& own = current();
  const std::lock_guard lock(own.mutex);
  return own.threads;
}

}  // namespace ndpool
