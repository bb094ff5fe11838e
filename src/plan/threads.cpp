// The default executor: a few threads that wait for work. It is made when it is first needed, and made anew in a forked
// child, where the threads of the parent do not exist.
//
// A small pool instead of oneTBB: nothing to bundle with a wheel, nothing that a fork leaves in an undefined state, and
// short enough for the thread sanitizer to see all of it.
#include "plan/executor.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ndpool {

namespace {

class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads) : may_spin_(threads <= static_cast<int>(std::thread::hardware_concurrency())) {
    workers_.reserve(static_cast<std::size_t>(threads - 1));
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that have started do the work.
    }
  }
  ~ThreadPool() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int threads() const override { return static_cast<int>(workers_.size()) + 1; }

  void run(Index count, void (*work)(void*, Index), void* context) override {
    // One caller at a time has the threads; another one that comes meanwhile does its work alone.
    std::unique_lock busy(busy_, std::try_to_lock);
    if (!busy.owns_lock() || workers_.empty()) {
      for (Index i = 0; i < count; ++i) work(context, i);
      return;
    }
    bool some_sleep = false;
    {
      const std::lock_guard lock(mutex_);
      work_ = work;
      context_ = context;
      count_ = count;
      next_ = 0;
      is_open_ = true;
      some_sleep = sleepers_ > 0;
      ++generation_;
    }
    if (some_sleep) wake_.notify_all();
    take_pieces(work, context, count);
    {
      // Threads that have not come by now are not waited for.
      const std::lock_guard lock(mutex_);
      is_open_ = false;
    }
    if (wait_a_moment([this] { return helpers_ == 0; })) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return helpers_ == 0; });
  }

 private:
  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      // Calls often follow one another closely, and waking a thread takes longer than many of them.
      wait_a_moment([&] { return generation_ != seen; });
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, [&] { return ends_ || generation_ != seen; });
      --sleepers_;
      if (ends_) return;
      seen = generation_;
      if (!is_open_) continue;
      ++helpers_;
      const auto work = work_;
      void* const context = context_;
      const Index count = count_;
      lock.unlock();
      take_pieces(work, context, count);
      lock.lock();
      if (--helpers_ == 0) done_.notify_one();
    }
  }

  void take_pieces(void (*work)(void*, Index), void* context, Index count) {
    for (Index i = next_.fetch_add(1); i < count; i = next_.fetch_add(1)) work(context, i);
  }

  /// Looks again and again for some microseconds, unless there are more threads than cores. True if `is_so` came true.
  template <class IsSo>
  bool wait_a_moment(const IsSo& is_so) const {
    if (is_so()) return true;
    if (!may_spin_) return false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (std::chrono::steady_clock::now() < end)
      for (int i = 0; i < 16; ++i) {
        if (is_so()) return true;
        rest();
      }
    return false;
  }
  static void rest() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }

  const bool may_spin_;
  std::vector<std::thread> workers_;
  std::mutex busy_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  bool ends_ = false;
  bool is_open_ = false;  ///< threads may still come to the current work
  int sleepers_ = 0;
  std::atomic<std::uint64_t> generation_ = 0;
  std::atomic<int> helpers_ = 0;  ///< threads at work, besides the caller
  void (*work_)(void*, Index) = nullptr;
  void* context_ = nullptr;
  Index count_ = 0;
  std::atomic<Index> next_ = 0;
};

constexpr int most_threads = 1024;

int default_threads() {
  const char* wanted = std::getenv("NDPOOL_NUM_THREADS");
  const long number = wanted == nullptr ? 0 : std::strtol(wanted, nullptr, 10);
  const long cores = std::max(1L, static_cast<long>(std::thread::hardware_concurrency()));
  return static_cast<int>(std::min<long>(number > 0 ? number : cores, most_threads));
}

/// Everything that a fork must not carry over, behind one pointer.
struct State {
  std::mutex mutex;
  int threads = default_threads();
  std::shared_ptr<ThreadPool> pool;  // shared with the runs that use it
};

std::atomic<Executor*> lent{nullptr};
std::atomic<State*> state{nullptr};

void forget_threads() {
  const State* of_parent = state.load();
  if (of_parent == nullptr) return;
  State* own = new State;
  own->threads = of_parent->threads;
  state.store(own);
}

State& current() {
  static const bool handles_fork = [] {
    state.store(new State);
    return pthread_atfork(nullptr, nullptr, forget_threads) == 0;
  }();
  static_cast<void>(handles_fork);
  return *state.load();
}

}  // namespace

std::shared_ptr<Executor> executor() {
  if (Executor* other = lent.load()) return {std::shared_ptr<Executor>(), other};
  State& own = current();
  const std::lock_guard lock(own.mutex);
  if (own.pool == nullptr) own.pool = std::make_shared<ThreadPool>(own.threads);
  return own.pool;
}

bool works_alone() { return lent.load() == nullptr && get_threads() == 1; }

void set_executor(Executor* other) { lent.store(other); }

void set_threads(int count) {
  State& own = current();
  std::shared_ptr<ThreadPool> former;  // ends, where no run uses it, after the lock is released
  const std::lock_guard lock(own.mutex);
  own.threads = std::clamp(count, 1, most_threads);
  former = std::exchange(own.pool, nullptr);
}

int get_threads() {
  State& own = current();
  const std::lock_guard lock(own.mutex);
  return own.threads;
}

}  // namespace ndpool
