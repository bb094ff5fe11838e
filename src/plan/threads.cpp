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

class CallingThread final : public Executor {
 public:
  void run(Index count, void (*work)(void*, Index), void* context) override {
    for (Index i = 0; i < count; ++i) work(context, i);
  }
  int threads() const override { return 1; }
};

}  // namespace

Executor* chosen_executor() { return scoped != nullptr ? scoped : lent.load(); }

Executor* calling_thread() {
  static CallingThread only;
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
  if (other == calling_thread()) return true;
  return other == openmp_executor() && other->threads() == 1;
}

void set_executor(Executor* other) { lent.store(other); }

ScopedExecutor::ScopedExecutor(Executor* executor) : before_(scoped) {
  if (executor != nullptr) scoped = executor;
}
ScopedExecutor::~ScopedExecutor() { scoped = before_; }

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
