// Best times of several activities that take turns, because the speed of a machine changes from one second to the next.
#pragma once

#include <ndpool/ndpool.hpp>

#include <functional>
#include <vector>

namespace ndpool::bench {

/// How long to measure: at least so many rounds and seconds, but no new round after four times as many seconds. What
/// always took longer than `seconds` in the first round is not repeated.
struct Effort {
  int rounds = 15;
  double seconds = 0.25;
  double run_limit = 1;   ///< a run is stopped after so many seconds, and counts as that long
  double kill_limit = 0;  ///< unless 0, a run that has not stopped after so many seconds ends the process
};

/// Something to be timed. Activities with one purpose are ways to the same thing: the best of them counts.
enum Purpose : unsigned char { limit, map, one_thread, pass, purposes };
struct Activity {
  Purpose purpose;
  std::function<bool(const ProgressCallback&)> run;  ///< false if the callback has cancelled it
};

/// Plain values, so that another process can read them while they are made.
struct Times {
  double best[purposes];     ///< in seconds, infinite for what has not been run
  bool stopped[purposes]{};  ///< the time is that after which the run was stopped
  Times();
};

/// Improves the times. The activities take turns.
void measure_times(const Effort& effort, const std::vector<Activity>& activities, Times& times);

/// Runs once. False if it was stopped after so many seconds, which are at most those of the effort's kill limit.
bool run_within(double seconds, const Effort& effort, const std::function<bool(const ProgressCallback&)>& run);

}  // namespace ndpool::bench
