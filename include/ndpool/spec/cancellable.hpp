// Progress and cancellation of runs by the reference, which itself knows nothing of it: a reducer is wrapped in one
// that counts the taps it is shown, so that even a single window over a whole array can be cancelled.
#pragma once

#include <ndpool/progress_callback.hpp>
#include <ndpool/spec/result.hpp>

#include <algorithm>
#include <limits>

namespace ndpool::spec {

/// Thrown by `StepCounter::tick` through a run that has been cancelled; never leaves the library.
struct Cancelled {};

/// Counts the steps of a run and calls back once in many of them.
class StepCounter {
 public:
  /// `steps` is how many steps there are at most.
  StepCounter(const ProgressCallback& progress, double steps)
      : progress_(progress),
        steps_(steps + 1),
        left_(progress.keep_going == nullptr ? std::numeric_limits<Index>::max() : between) {}

  /// Counts one step.
  void tick() {
    if (--left_ == 0) call_back();
  }
  /// Reports the end of the run.
  void finish() const {
    if (progress_.keep_going != nullptr) progress_.keep_going(progress_.context, 1);
  }

 private:
  static constexpr Index between = Index{1} << 14;

  void call_back() {
    left_ = between;
    done_ += between;
    if (!progress_.keep_going(progress_.context, std::min(1.0, static_cast<double>(done_) / steps_))) throw Cancelled();
  }

  const ProgressCallback& progress_;
  double steps_;  // one more, so that only the end is 1
  Index left_;
  Index done_ = 0;
};

/// The steps of a map by indices, at most: it sees each index twice and each cell once.
inline double index_steps(const Geometry& geometry) {
  return 2.0 * static_cast<double>(element_count(geometry.output_shape())) +
         static_cast<double>(element_count(geometry.input_shape()));
}

/// Runs `f(tick)`, where tick counts a step of at most `steps`. False if `progress` cancelled it.
template <class F>
bool count_steps(const ProgressCallback& progress, double steps, F f) {
  StepCounter counter(progress, steps);
  try {
    f([&counter] { counter.tick(); });
  } catch (const Cancelled&) {
    return false;
  }
  counter.finish();
  return true;
}

/// `Reducer`, calling `tick` for each tap it is shown.
template <class Reducer, class Tick>
struct Ticking : Reducer {
  /// Counts one step.
  Tick tick;

  /// As the reducer's, counted.
  template <class X>
  auto lift(const X& x, Index tap) const {
    tick();
    return Reducer::lift(x, tap);
  }
  /// As the reducer's, counted.
  template <class Summary, class X>
  auto weight(const Summary& summary, const X& x, Index tap) const {
    tick();
    return Reducer::weight(summary, x, tap);
  }
};

/// The wrapped reducer's result in another type.
template <class Y, class Reducer, class Tick>
struct ResultOf<Y, Ticking<Reducer, Tick>> : ResultOf<Y, Reducer> {};

/// What a map by indices calls at each index when nothing counts its steps.
struct NoTick {
  /// Does nothing.
  constexpr void operator()() const {}
};

}  // namespace ndpool::spec
