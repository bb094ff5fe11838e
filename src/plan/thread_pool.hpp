// ndpool's own threads.
#pragma once

#include "plan/sharing.hpp"

#include <ndpool/threads.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace ndpool {

/// A few threads that take tiles with the calling thread. They spin for a while between runs, then sleep. A thread
/// holds at most one tile, and the caller does what no thread has begun; how much that can cost is bounded by
/// `SharingLoss`.
///
/// A small pool instead of oneTBB: nothing to bundle with a wheel, nothing that a fork leaves in an undefined state,
/// and short enough for the thread sanitizer to see all of it.
class ThreadPool final : public Executor {
 public:
  /// `threads` counts the caller's; `cores` are those that the process may use.
  ThreadPool(int threads, int cores);
  ~ThreadPool() override;

  int threads() const override { return static_cast<int>(workers_.size()) + 1; }
  void run(Index count, void (*work)(void*, Index), void* context) override;

 private:
  struct Job {
    void (*work)(void*, Index) = nullptr;
    void* context = nullptr;
    Index count = 0;
  };

  void serve();
  void run_alone(const Job& job);
  void run_shared(const Job& job);
  void open();
  void close_and_wait(Duration tile_time);
  void wake(Index tiles);
  bool wait_for_job(std::uint64_t& seen, SpinTime& spin);
  bool join(std::uint64_t& seen);
  void leave();
  Index take_tiles(const Job& job);
  void count_as_own(Duration time) { own_time_ += time.count(); }
  void look_at_cores();

  /// The state of a run in one word: its number, whether threads may still join, and how many have.
  static constexpr std::uint64_t helper = 1, helpers = 0xFFFF, open_bit = 0x1'0000, next_run = 0x2'0000;
  static std::uint64_t number_of(std::uint64_t state) { return state / next_run; }

  const bool may_spin_;
  std::vector<std::thread> workers_;

  std::mutex busy_;  ///< one caller at a time has the threads; guards what follows
  SharingLoss loss_;
  CoreUse core_use_;
  Clock::time_point last_end_{};
  Duration missed_{};  ///< what sleeping threads could have taken of the last runs

  Job job_;  ///< written while no thread can join
  alignas(64) std::atomic<std::uint64_t> state_ = 0;
  alignas(64) std::atomic<Index> next_ = 0;
  alignas(64) std::atomic<bool> is_contended_ = false;
  std::atomic<Duration::rep> own_time_ =
      0;  ///< what the threads have worked and spun, by the wall: a CPU clock costs 6 us

  // Whoever goes to sleep says so first and looks once more; whoever changes the state looks for sleepers after it.
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> caller_sleeps_ = false;
  std::atomic<bool> ends_ = false;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
};

}  // namespace ndpool
