// Runs without the GIL that Ctrl-C can end.
#pragma once

#include <nanobind/nanobind.h>
#include <ndpool/ndpool.hpp>

#include <chrono>

namespace ndpool::python {

namespace nb = nanobind;

/// Asks Python now and then whether a signal has come. Only the main thread of Python handles signals, so only a run
/// that it has started asks, and not on the threads that help it.
class Interrupts {
 public:
  Interrupts() : caller_(PyThread_get_thread_ident()) {
    const nb::object main = nb::module_::import_("threading").attr("main_thread")().attr("ident");
    listens_ = nb::cast<unsigned long>(main) == caller_;
  }
  ProgressCallback callback() { return listens_ ? ProgressCallback{&keep_going, this} : ProgressCallback{}; }
  /// True if a handler has raised an exception, which is then Python's current one.
  bool raised() const { return raised_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds between{50};

  static bool keep_going(void* context, double) {
    Interrupts& self = *static_cast<Interrupts*>(context);
    if (PyThread_get_thread_ident() != self.caller_) return true;
    const Clock::time_point now = Clock::now();
    if (now - self.last_ < between) return true;
    self.last_ = now;
    const nb::gil_scoped_acquire acquire;
    self.raised_ = PyErr_CheckSignals() != 0;
    return !self.raised_;
  }

  unsigned long caller_;
  bool listens_ = false;
  bool raised_ = false;
  Clock::time_point last_ = Clock::now();
};

/// Runs `f(callback)` without the GIL; raises what a signal handler has raised.
template <class F>
void run_released(F f) {
  Interrupts interrupts;
  {
    const nb::gil_scoped_release release;
    f(interrupts.callback());
  }
  if (interrupts.raised()) throw nb::python_error();  // even if the run was over by then
}

/// The same, but a run on few elements, which is over before another thread could take the GIL, keeps it.
template <class F>
void run(Index elements, F f) {
  constexpr Index few = Index{1} << 14;
  if (elements <= few)
    f(ProgressCallback{});
  else
    run_released(f);
}

}  // namespace ndpool::python
