// The executor on the OpenMP runtime of the process: libgomp, and LLVM's libomp in a process of its own. The program is
// linked with neither.
#include "support/kernels.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <thread>

namespace ndpool::testing {

/// A runtime as a program that is linked with it calls it.
struct Runtime {
  explicit Runtime(const char* file) : library(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (library == nullptr) return;
    set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
    parallel = reinterpret_cast<Parallel>(dlsym(library, "GOMP_parallel"));
  }
  using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
  void* library;
  void (*set_threads)(int) = nullptr;
  Parallel parallel = nullptr;
};

/// Loaded once and never unloaded: its threads would lose their code.
const Runtime& gomp() {
  static const Runtime only("libgomp.so.1");
  return only;
}

/// The threads that ran `count` tiles of a millisecond.
std::set<std::thread::id> threads_of_run(Index count) {
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    Index tiles = 0;
  } seen;
  openmp_executor()->run(
      count,
      [](void* context, Index) {
        Seen& shared = *static_cast<Seen*>(context);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const std::lock_guard lock(shared.mutex);
        shared.threads.insert(std::this_thread::get_id());
        ++shared.tiles;
      },
      &seen);
  EXPECT_EQ(seen.tiles, count);
  return seen.threads;
}

bool pools_correctly() {
  const Pool pool = max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  const Array<float> x = arange<float>({16, 64, 64});
  const Array<float> expected = forward(pool.without_kernels(), x);
  const ScopedExecutor scope(openmp_executor());
  return same_bits(forward(pool, x), expected);
}

#define REQUIRE_GOMP() \
  if (gomp().library == nullptr) GTEST_SKIP() << "there is no libgomp.so.1: " << dlerror()

TEST(OpenMp, OwnThreadsServeUntilARuntimeIsLoaded) {
  // In a process of its own, since the other tests load one.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const bool before =
            openmp_runtime().empty() && openmp_executor()->threads() == get_threads() && pools_correctly();
        const bool is_loaded = gomp().library != nullptr;
        const bool after = openmp_runtime().find("libgomp") != std::string::npos && pools_correctly();
        _exit(before && (after || !is_loaded) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(OpenMp, RunsOnTheThreadsOfTheRuntimeInTheNumberThatItHas) {
  REQUIRE_GOMP();
  for (const int count : {1, 2, 3}) {
    gomp().set_threads(count);
    EXPECT_EQ(openmp_executor()->threads(), count);
    const auto threads = threads_of_run(30);
    EXPECT_LE(threads.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
    EXPECT_EQ(threads.size() > 1, count > 1);
    EXPECT_TRUE(pools_correctly());
  }
}

TEST(OpenMp, RunsInsideOfParallelRegionsWorkAlone) {
  REQUIRE_GOMP();
  gomp().set_threads(2);
  gomp().parallel(
      [](void*) {
        EXPECT_EQ(openmp_executor()->threads(), 1);
        EXPECT_EQ(threads_of_run(4), std::set{std::this_thread::get_id()});
      },
      nullptr, 2, 0);
}

TEST(OpenMp, ServesManyCallersAtOnce) {
  REQUIRE_GOMP();
  std::vector<std::thread> callers;
  std::vector<char> results(6);
  for (char& result : results)
    callers.emplace_back([&result] {
      gomp().set_threads(2);
      result = 1;
      for (int repeat = 0; repeat < 5; ++repeat) result = static_cast<char>(result & pools_correctly());
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(results, std::vector<char>(6, 1));
}

TEST(OpenMp, AForkedChildOfAGompParentUsesOwnThreads) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer does not support threads after a fork";
#endif
  REQUIRE_GOMP();
  const Threads own(2);
  gomp().set_threads(2);
  EXPECT_TRUE(pools_correctly());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a region of libgomp would wait for ever
    const bool is_own = openmp_runtime().empty() && openmp_executor()->threads() == 2 && pools_correctly();
    gomp().set_threads(1);  // as torch's DataLoader does in its workers
    const bool is_limited = openmp_executor()->threads() == 1 && threads_of_run(4).size() == 1;
    _exit((is_own ? 0 : 1) + (is_limited ? 0 : 2));
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(openmp_runtime(), "") << "the parent goes on as before";
}

/// Works as every runtime must; in a process that has no other.
int check_other_runtime(const char* file) {
  const Runtime other(file);
  if (other.library == nullptr) return 2;
  other.set_threads(3);
  const auto threads = threads_of_run(30);
  const bool runs = openmp_executor()->threads() == 3 && threads.size() > 1 && threads.size() <= 3 && pools_correctly();
  other.set_threads(2);
  const bool changes = openmp_executor()->threads() == 2 && pools_correctly();
  // It knows of forks: a child goes on with it.
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(!openmp_runtime().empty() && pools_correctly() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return runs && changes && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

TEST(OpenMp, LlvmsRuntimeServesToo) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer does not support threads after a fork";
#endif
  const char* const file = "libomp.so.5";
  void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  dlclose(library);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(check_other_runtime(file)), ::testing::ExitedWithCode(0), "");
}

TEST(ScopedExecutor, HoldsForTheThreadAndItsBlock) {
  struct Counter final : Executor {
    void run(Index count, void (*work)(void*, Index), void* context) override {
      for (Index i = 0; i < count; ++i) work(context, i);
      ++runs;
    }
    int threads() const override { return 1; }
    int runs = 0;
  } outer, inner, global;
  const Pool pool = max_pool({.kernel = {2, 2}});
  const Array<float> x = arange<float>({64, 64, 64});
  set_executor(&global);
  {
    const ScopedExecutor first(&outer);
    {
      const ScopedExecutor second(&inner), unchanged(nullptr);
      forward(pool, x);
    }
    forward(pool, x);
    std::thread([&] { forward(pool, x); }).join();
  }
  forward(pool, x);
  set_executor(nullptr);
  EXPECT_EQ(inner.runs, 1);
  EXPECT_EQ(outer.runs, 1);
  EXPECT_EQ(global.runs, 2);
}

}  // namespace ndpool::testing
