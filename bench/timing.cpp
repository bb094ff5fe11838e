#include "timing.hpp"

#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace ndpool::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The kernel sends SIGALRM after so many seconds, which ends the process; 0 takes that back.
void set_alarm(double seconds) {
  const double whole = std::floor(seconds);
  const itimerval timer{{0, 0}, {static_cast<time_t>(whole), static_cast<suseconds_t>((seconds - whole) * 1e6)}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Times::Times() { std::ranges::fill(best, std::numeric_limits<double>::infinity()); }

bool run_within(double seconds, const Effort& effort, const std::function<bool(const ProgressCallback&)>& run) {
  struct Deadline {
    Clock::time_point start;
    double seconds;
  } deadline{Clock::now(), seconds};
  const auto keep_going = [](void* context, double) {
    const Deadline& end = *static_cast<const Deadline*>(context);
    return seconds_since(end.start) < end.seconds;
  };
  set_alarm(effort.kill_limit);
  const bool finished = run(ProgressCallback{keep_going, &deadline});
  set_alarm(0);
  return finished;
}

void measure_times(const Effort& effort, const std::vector<Activity>& activities, Times& times) {
  double total = 0;
  for (int round = 0; round < effort.rounds || total < effort.seconds; ++round) {
    if (round >= 3 && total > 4 * effort.seconds) break;
    for (const Activity& activity : activities) {
      double& best = times.best[activity.purpose];
      // Four times: where other programs run, one run of a millisecond can wait a tenth of a second for its turn.
      if (times.stopped[activity.purpose] || (round > 0 && best > 4 * effort.seconds)) continue;
      const auto start = Clock::now();
      // Only the first run has a deadline: watched runs are cut into more tiles.
      const bool finished = round == 0 ? run_within(effort.run_limit, effort, activity.run) : activity.run({});
      const double once = seconds_since(start);
      times.stopped[activity.purpose] = !finished;
      best = std::min(best, once);
      total += once;
    }
  }
}

}  // namespace ndpool::bench
