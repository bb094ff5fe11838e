// Measures in a child process: a kernel that never calls back can only be stopped by a signal.
#include "measure.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

namespace ndpool::bench {

namespace {

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

struct Unmap {
  void operator()(Progress* progress) const { munmap(progress, sizeof(Progress)); }
};

/// In memory that a child shares with its parent.
std::unique_ptr<Progress, Unmap> make_shared_progress() {
  void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  return std::unique_ptr<Progress, Unmap>(new (memory) Progress);
}

/// What the child does; it never returns, so that nothing of the parent is destroyed twice.
[[noreturn]] void run_child(Progress& progress, const Case& measured, const Effort& effort) {
  try {
    measure_into(progress, measured, effort);
    _exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\n%s: %s\n", measured.text().c_str(), error.what());
    _exit(1);
  }
}

}  // namespace

std::optional<Result> measure_apart(const Case& measured, Effort effort) {
  effort.kill_limit = 2 * effort.run_limit;
  const std::unique_ptr<Progress, Unmap> progress = make_shared_progress();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) run_child(*progress, measured, effort);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid");
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) throw std::runtime_error("a problem could not be measured");
  if (!WIFSIGNALED(status)) return result_of(measured, *progress);

  Times& times = progress->times;
  const bool has_limit = !std::isinf(times.best[limit]);
  if (WTERMSIG(status) != SIGALRM) {
    std::fprintf(stderr, "\nsignal %d: %s\n", WTERMSIG(status), measured.text().c_str());
    return std::nullopt;
  }
  // The signal came in the first run of a map that has no time yet, or while winners were looked for.
  for (const Purpose purpose : {one_thread, map})
    if (has_limit && std::isinf(times.best[purpose]) && (purpose == map || measured.threads > 1)) {
      times.best[purpose] = effort.kill_limit;
      times.stopped[purpose] = true;
    }
  return result_of(measured, *progress);
}

}  // namespace ndpool::bench
