// Progress and cancellation of a run.
#pragma once

#include <type_traits>
#include <utility>

namespace ndpool {

/// Progress and cancellation of a run: a reference to a callable, which every map takes as its last argument.
///
///   pool.forward(x, y, [&](double done) { bar.show(done); return !cancelled; });
///
/// The callable gets the share of the run that is done, from 0 to 1, between tiles. Returning false cancels the run:
/// the callable is not called again, the rest of the output is not written, and the map returns false. A callable that
/// returns nothing only listens. An exception cancels the run as well, and reaches the caller of the map once every
/// thread has stopped.
///
/// Thread-safety: called on the calling thread or on one that helps it, never by two threads at a time. It must not
/// pool arrays itself. A run by the reference calls it once in 16,384 taps.
///
/// The callback refers to the callable and does not copy it: a callable that is kept in a variable must outlive the
/// run. Costs no allocation, and without a callable nothing.
struct ProgressCallback {
  /// What is called; null if nothing is. `context` is passed on.
  bool (*keep_going)(void* context, double done) = nullptr;
  /// The first argument of `keep_going`.
  void* context = nullptr;

  /// No callback.
  constexpr ProgressCallback() = default;
  /// A function and its first argument, for callers without closures.
  constexpr ProgressCallback(bool (*function)(void* context, double done), void* first)
      : keep_going(function), context(first) {}
  /// Any callable that takes a double and returns bool, or nothing.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, ProgressCallback> &&
           std::is_invocable_v<
               F&, double>) constexpr ProgressCallback(F&& callable)  // NOLINT(bugprone-forwarding-reference-overload):
                                                                      // constrained
      : keep_going(&call<std::remove_reference_t<F>>), context(const_cast<void*>(static_cast<const void*>(&callable))) {
    static_assert(!std::is_function_v<std::remove_reference_t<F>>,
                  "ndpool: pass a pointer to the function, or a lambda");
  }

 private:
  template <class F>
  static bool call(void* callable, double done) {
    using Result = std::invoke_result_t<F&, double>;
    static_assert(std::is_void_v<Result> || std::is_same_v<Result, bool>,
                  "ndpool: a progress callback returns bool (false cancels the run) or nothing");
    F& function = *static_cast<F*>(callable);
    if constexpr (std::is_void_v<Result>) {
      function(done);
      return true;
    } else {
      return function(done);
    }
  }
};

}  // namespace ndpool
