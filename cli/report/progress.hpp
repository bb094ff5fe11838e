// How far a run is, on a terminal, and whether somebody wants it to end.
#pragma once

#include <ndpool/progress_callback.hpp>

#include <chrono>
#include <string>

namespace ndpool::cli {

/// Ends runs at SIGINT, SIGTERM and SIGHUP, except those that the parent process has set to be ignored (nohup);
/// removes hidden files and says so if a mapped file shrinks below us.
void install_signal_handlers();
/// The first of these signals that came, or 0.
int interrupting_signal();
/// Throws Interrupted if a signal came, or if a run that returns `finished` was stopped by one.
void stop_if_interrupted(bool finished = true);

/// A line on standard error with a bar, the rate and the time left, once a run has taken a second. Nothing where
/// standard error is no terminal, or if `quiet`.
class Progress {
 public:
  /// `bytes` is what the run will read and write in all.
  Progress(const std::string& title, double bytes, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// From here on a run is the share [begin, end) of the whole.
  void stage(double begin, double end) {
    begin_ = begin;
    end_ = end;
  }
  /// For the maps of pools: shows how far they are, and stops them when interrupted.
  ProgressCallback callback() { return {&Progress::keep_going, this}; }

 private:
  static bool keep_going(void* self, double done);
  void show(double done);

  using Clock = std::chrono::steady_clock;
  std::string title_;
  double bytes_;
  bool visible_;
  bool shown_ = false;
  double begin_ = 0, end_ = 1;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace ndpool::cli
