// What the thread pool learns from its runs: whether sharing work pays, how long a thread may spin for more of it, and
// whether other threads of the process need the cores. Plain arithmetic on times; knows no thread.
#pragma once

#include <algorithm>
#include <chrono>

namespace ndpool {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::nanoseconds;

/// Decides whether a run is shared. One that took longer than the caller alone would have must be paid for: the runs
/// that follow stay on the calling thread for 20 times as long as was lost. So sharing costs at most 5 % of the time in
/// which it does not pay, whatever takes the other cores: threads of this process or of others.
class SharingLoss {
 public:
  bool shares() const { return debt_ <= Duration::zero(); }

  /// A run by the calling thread alone took so long.
  void ran_alone(Duration time) { debt_ = std::max(Duration::zero(), debt_ - time); }

  /// A shared run took `time`; the calling thread was busy with `own_tiles` of `tiles` for `own_time`.
  void ran_shared(Duration time, Duration own_time, double own_tiles, double tiles) {
    const Duration alone(static_cast<Duration::rep>(static_cast<double>(own_time.count()) * tiles / own_tiles));
    if (time > alone) debt_ = std::min(max_debt, 20 * (time - alone));
  }

  /// One descheduled thread holds a run for some milliseconds. Whatever happened, sharing is tried again after this.
  static constexpr Duration max_debt = std::chrono::milliseconds(200);

 private:
  Duration debt_{};
};

/// How long a thread without work looks for more before it sleeps: twice as long after a wait that ended in time, half
/// as long after one that did not. It starts to grow again when work comes so soon after it fell asleep that spinning
/// would have met it.
class SpinTime {
 public:
  static constexpr Duration max = std::chrono::microseconds(200);
  static constexpr Duration min = std::chrono::microseconds(4);  ///< less is not worth the attempt

  Duration limit() const { return limit_; }
  void met_work() { limit_ = std::clamp(2 * limit_, min, max); }
  void met_none() { limit_ = limit_ / 2 < min ? Duration::zero() : limit_ / 2; }
  /// Work came this long after the wait began.
  void slept(Duration time) {
    if (time <= max) met_work();
  }

 private:
  Duration limit_ = max / 4;
};

/// Whether other threads of the process keep the cores busy. Compares times over periods of at least 5 ms: the CPU time
/// of the process, less what the pool's own threads worked, may leave them a core each, but for a quarter of one.
class CoreUse {
 public:
  /// `own_cores`: the cores that the pool's threads would use, of all `cores`.
  CoreUse(int cores, int own_cores) : spare_(static_cast<double>(cores - own_cores) + 0.25) {}

  /// True if a period is over: then `update` is due.
  bool is_due(Duration now) const { return now - since_ >= period; }
  void update(Duration now, Duration of_process, Duration of_own_threads) {
    const Duration elapsed = now - since_, others = (of_process - process_) - (of_own_threads - own_);
    // An average over a longer time would say little about now.
    if (elapsed <= 20 * period)
      is_contended_ = static_cast<double>(others.count()) > spare_ * static_cast<double>(elapsed.count());
    since_ = now;
    process_ = of_process;
    own_ = of_own_threads;
  }
  bool is_contended() const { return is_contended_; }

  static constexpr Duration period = std::chrono::milliseconds(5);

 private:
  double spare_;
  bool is_contended_ = false;
  Duration since_{}, process_{}, own_{};
};

}  // namespace ndpool
