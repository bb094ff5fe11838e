#include "plan/thread_pool.hpp"

#include <pthread.h>

#include <ctime>

#include <algorithm>
#include <system_error>

namespace ndpool {

namespace {

Duration cpu_time_of_process() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

void rest() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Checks again and again until `is_so` or the time is over. True if it came true.
template <class IsSo>
bool spin_for(Duration time, const IsSo& is_so) {
  if (is_so()) return true;
  for (const auto end = Clock::now() + time; Clock::now() < end;)
    for (int i = 0; i < 16; ++i) {
      if (is_so()) return true;
      rest();
    }
  return false;
}

/// condition.wait(lock, is_so), whose symbol in libstdc++ is one of GCC 12: wheels would need a newer system for it
/// alone.
template <class IsSo>
void wait(std::condition_variable& condition, std::unique_lock<std::mutex>& lock, const IsSo& is_so) {
  while (!is_so()) pthread_cond_wait(condition.native_handle(), lock.mutex()->native_handle());
}

/// What waking a sleeping thread takes, until it runs.
constexpr Duration wake_time = std::chrono::microseconds(20);

}  // namespace

ThreadPool::ThreadPool(int threads, int cores) : may_spin_(threads <= cores), core_use_(cores, threads - 1) {
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // The system gives no more threads: those that have started do the work.
  }
}

ThreadPool::~ThreadPool() {
  ends_ = true;
  { const std::lock_guard lock(mutex_); }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(Index count, void (*work)(void*, Index), void* context) {
  const Job job{work, context, count};
  const std::unique_lock busy(busy_, std::try_to_lock);
  if (!busy.owns_lock() || workers_.empty() || count < 2) {  // a caller that comes meanwhile does its work alone
    for (Index i = 0; i < count; ++i) work(context, i);
    return;
  }
  look_at_cores();
  if (loss_.shares())
    run_shared(job);
  else
    run_alone(job);
}

void ThreadPool::run_alone(const Job& job) {
  const auto begin = Clock::now();
  for (Index i = 0; i < job.count; ++i) job.work(job.context, i);
  loss_.ran_alone(Clock::now() - begin);
}

void ThreadPool::run_shared(const Job& job) {
  job_ = job;
  const auto begin = Clock::now();
  open();
  Index own = 0;
  Duration waking{};
  if (const Index first = next_.fetch_add(1); first < job.count) {
    job.work(job.context, first);
    own = 1;
    // Threads that spin have joined by now. Those that sleep are woken if they could have saved more than waking takes,
    // in this run or in those that it follows closely.
    const auto now = Clock::now();
    const Index left = job.count - next_.load();
    if (begin - last_end_ > SpinTime::max) missed_ = Duration::zero();
    if (sleepers_ > 0 && left > 0) missed_ += (now - begin) * left;
    if (missed_ > wake_time) {
      missed_ = Duration::zero();
      wake(left);
      waking = Clock::now() - now;
    }
  }
  own += take_tiles(job);
  const Duration own_time = Clock::now() - begin - waking;
  close_and_wait(own_time / std::max<Index>(own, 1));
  last_end_ = Clock::now();
  if (own > 0) loss_.ran_shared(last_end_ - begin, own_time, static_cast<double>(own), static_cast<double>(job.count));
}

void ThreadPool::open() {
  next_.store(0);
  state_.store((state_.load() + next_run) | open_bit);
}

/// Threads that have not joined by now are not waited for.
void ThreadPool::close_and_wait(Duration tile_time) {
  state_.fetch_and(~open_bit);
  const auto is_done = [this] { return (state_.load() & helpers) == 0; };
  // A thread that takes much longer than the caller for its tile has lost its core. The caller then sleeps, which
  // leaves it this one.
  if (spin_for(may_spin_ ? std::min(2 * tile_time + SpinTime::min, SpinTime::max) : Duration::zero(), is_done)) return;
  std::unique_lock lock(mutex_);
  caller_sleeps_ = true;
  wait(done_, lock, is_done);
  caller_sleeps_ = false;
}

void ThreadPool::wake(Index tiles) {
  { const std::lock_guard lock(mutex_); }  // none is between its last look and its sleep
  if (tiles >= sleepers_)
    wake_.notify_all();
  else
    for (Index i = 0; i < tiles; ++i) wake_.notify_one();
}

void ThreadPool::serve() {
  std::uint64_t seen = 0;
  SpinTime spin;
  while (wait_for_job(seen, spin)) {
    const auto begin = Clock::now();
    take_tiles(job_);
    leave();
    count_as_own(Clock::now() - begin);
  }
}

/// Joins the next run; false at the end.
bool ThreadPool::wait_for_job(std::uint64_t& seen, SpinTime& spin) {
  for (;;) {
    const auto is_new = [&] { return ends_ || number_of(state_.load()) != seen; };
    const bool spins = may_spin_ && !is_contended_ && spin.limit() > Duration::zero();
    const auto begin = Clock::now();
    const bool met = spins && spin_for(spin.limit(), is_new);
    if (spins) count_as_own(Clock::now() - begin);
    if (met) {
      spin.met_work();
    } else {
      if (spins) spin.met_none();
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wait(wake_, lock, is_new);
      --sleepers_;
      lock.unlock();
      spin.slept(Clock::now() - begin);
    }
    if (ends_) return false;
    if (join(seen)) return true;
  }
}

/// Joins the run that is open; false if there is none that this thread has not seen.
bool ThreadPool::join(std::uint64_t& seen) {
  std::uint64_t state = state_.load();
  while ((state & open_bit) != 0)
    if (state_.compare_exchange_weak(state, state + helper)) {
      seen = number_of(state);
      return true;
    }
  seen = number_of(state);
  return false;
}

void ThreadPool::leave() {
  if ((state_.fetch_sub(helper) & helpers) != helper || !caller_sleeps_) return;
  { const std::lock_guard lock(mutex_); }
  done_.notify_one();
}

Index ThreadPool::take_tiles(const Job& job) {
  Index done = 0;
  for (Index i = next_.fetch_add(1); i < job.count; i = next_.fetch_add(1), ++done) job.work(job.context, i);
  return done;
}

void ThreadPool::look_at_cores() {
  const Duration now = Clock::now().time_since_epoch();
  if (!core_use_.is_due(now)) return;
  core_use_.update(now, cpu_time_of_process(), Duration(own_time_.load()));
  is_contended_ = core_use_.is_contended();
}

}  // namespace ndpool
