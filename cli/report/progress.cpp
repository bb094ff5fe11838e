#include "report/progress.hpp"

#include "errors.hpp"
#include "io/new_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace ndpool::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int number) {
  // Whoever asks twice does not want to wait for the end of a tile.
  if (interrupted != 0) {
    remove_hidden_files();
    _exit(exit_code_of(number));
  }
  interrupted = number;
}

void on_bus_error(int) {
  constexpr char text[] = "ndpool: a file became shorter, or its disk failed, while it was in use\n";
  remove_hidden_files();
  static_cast<void>(!write(STDERR_FILENO, text, sizeof text - 1));
  _exit(1);
}

std::string text_of_time(double seconds) {
  const long whole = static_cast<long>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited {};
    sigaction(number, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  action.sa_handler = on_bus_error;
  sigaction(SIGBUS, &action, nullptr);
}

int interrupting_signal() { return interrupted; }

void stop_if_interrupted(bool finished) {
  if (!finished || interrupted != 0) throw Interrupted();
}

Progress::Progress(const std::string& title, double bytes, bool quiet)
    : title_(title), bytes_(bytes), visible_(!quiet && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

bool Progress::keep_going(void* self, double done) {
  static_cast<Progress*>(self)->show(done);
  return interrupted == 0;
}

void Progress::show(double done) {
  if (!visible_) return;
  const Clock::time_point now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (elapsed < 1 || (shown_ && std::chrono::duration<double>(now - last_).count() < 0.1)) return;
  last_ = now;
  shown_ = true;
  const double share = std::clamp(begin_ + (end_ - begin_) * done, 0.0, 1.0);
  constexpr int width = 30;
  const int filled = static_cast<int>(share * width);
  const std::string left = share > 0 ? text_of_time(elapsed * (1 - share) / share) : "?";
  const std::string line = fmt::format("\r\033[K{} [{:=<{}}{:{}}] {:3.0f} %  {:.0f} MB/s  {} left", title_, "", filled,
                                       "", width - filled, 100 * share, bytes_ * share / elapsed / 1e6, left);
  std::fputs(line.c_str(), stderr);  // unlike fmt::print it does not throw if the terminal is gone, which ends no run
  std::fflush(stderr);
}

}  // namespace ndpool::cli
