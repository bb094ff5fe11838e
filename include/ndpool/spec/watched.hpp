// Runs of the spec that can be watched and stopped. The spec itself knows nothing of it: a reducer is wrapped in one
// that counts the taps it is shown, so that even a single window over a whole array can be stopped.
#pragma once

#include <ndpool/kernels.hpp>
#include <ndpool/spec/result.hpp>

#include <algorithm>
#include <limits>

namespace ndpool::spec {

/// Thrown by `Pace::tick` through a run that the watch has stopped; never leaves the library.
struct Stopped {};

/// Counts the steps of a run and asks the watch once in many of them.
class Pace {
 public:
  /// `steps` is how many steps there are at most.
  Pace(const Watch& watch, double steps)
      : watch_(watch),
        steps_(steps + 1),
        left_(watch.keep_going == nullptr ? std::numeric_limits<Index>::max() : between) {}

  void tick() {
    if (--left_ == 0) look();
  }
  void finish() const {
    if (watch_.keep_going != nullptr) watch_.keep_going(watch_.context, 1);
  }

 private:
  static constexpr Index between = Index{1} << 14;

  void look() {
    left_ = between;
    done_ += between;
    if (!watch_.keep_going(watch_.context, std::min(1.0, static_cast<double>(done_) / steps_))) throw Stopped();
  }

  const Watch& watch_;
  double steps_;  // one more, so that only the end is 1
  Index left_;
  Index done_ = 0;
};

/// The steps of a map by indices, at most: it sees each index twice and each cell once.
inline double index_steps(const Geometry& geometry) {
  return 2.0 * static_cast<double>(element_count(geometry.output_shape())) +
         static_cast<double>(element_count(geometry.input_shape()));
}

/// Runs `f(tick)`, where tick counts a step of at most `steps`. False if the watch stopped it.
template <class F>
bool watched(const Watch& watch, double steps, F f) {
  Pace pace(watch, steps);
  try {
    f([&pace] { pace.tick(); });
  } catch (const Stopped&) {
    return false;
  }
  pace.finish();
  return true;
}

/// `Reducer`, calling `tick` for each tap it is shown.
template <class Reducer, class Tick>
struct Watched : Reducer {
  Tick tick;

  template <class X>
  auto lift(const X& x, Index tap) const {
    tick();
    return Reducer::lift(x, tap);
  }
  template <class Summary, class X>
  auto weight(const Summary& summary, const X& x, Index tap) const {
    tick();
    return Reducer::weight(summary, x, tap);
  }
};

/// The wrapped reducer's result in another type.
template <class Y, class Reducer, class Tick>
struct ResultOf<Y, Watched<Reducer, Tick>> : ResultOf<Y, Reducer> {};

/// What a map by indices calls at each index when nobody watches it.
struct Unwatched {
  constexpr void operator()() const {}
};

}  // namespace ndpool::spec
