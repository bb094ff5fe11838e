// ndpool's own threads: every tile once, whatever happens at the same time; and what a thread that is held up may cost.
#include "plan/thread_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace ndpool::testing {

using namespace std::chrono_literals;

/// Runs a function of the tile's number.
void run(Executor& executor, Index count, const std::function<void(Index)>& tile) {
  executor.run(
      count, [](void* context, Index i) { (*static_cast<const std::function<void(Index)>*>(context))(i); },
      const_cast<void*>(static_cast<const void*>(&tile)));
}

TEST(ThreadPool, RunsEveryTileOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads, 2);
    EXPECT_EQ(pool.threads(), threads);
    for (int repeat = 0; repeat < 500; ++repeat)
      for (const Index count : {0, 1, 2, 3, 17}) {
        std::vector<int> done(static_cast<std::size_t>(count));
        run(pool, count, [&](Index i) { ++done[static_cast<std::size_t>(i)]; });
        ASSERT_TRUE(std::all_of(done.begin(), done.end(), [](int times) { return times == 1; }));
      }
  }
}

TEST(ThreadPool, RunsEveryTileOnceWhetherItsThreadsSpinOrSleep) {
  ThreadPool pool(3, 4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    if (repeat % 10 == 0) std::this_thread::sleep_for(500us);
    std::vector<int> done(40);
    run(pool, 40, [&](Index i) {
      ++done[static_cast<std::size_t>(i)];
      if (repeat % 3 == 0) std::this_thread::sleep_for(10us);
    });
    ASSERT_EQ(done, std::vector<int>(40, 1));
  }
}

TEST(ThreadPool, ServesOneCallerAndLetsTheOthersWorkAlone) {
  ThreadPool pool(3, 4);
  std::vector<std::thread> callers;
  std::atomic<int> tiles = 0;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 100; ++repeat) run(pool, 9, [&](Index) { ++tiles; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(tiles, 6 * 100 * 9);
}

TEST(ThreadPool, RunsInsideOfRunsWorkAlone) {
  ThreadPool pool(3, 4);
  std::atomic<int> tiles = 0;
  for (int repeat = 0; repeat < 100; ++repeat)
    run(pool, 5, [&](Index) {
      const auto self = std::this_thread::get_id();
      run(pool, 4, [&, self](Index) {
        ++tiles;
        EXPECT_EQ(std::this_thread::get_id(), self);
      });
    });
  EXPECT_EQ(tiles, 100 * 5 * 4);
}

/// Runs tiles of 100 us until another thread has taken one.
void run_until_helped(ThreadPool& pool) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> was_helped = false;
  for (int repeat = 0; !was_helped && repeat < 1000; ++repeat)
    run(pool, 20, [&](Index) {
      std::this_thread::sleep_for(100us);
      if (std::this_thread::get_id() != caller) was_helped = true;
    });
  EXPECT_TRUE(was_helped);
}

TEST(ThreadPool, WakesItsThreadsForWorkThatIsWorthIt) {
  ThreadPool pool(2, 2);
  std::this_thread::sleep_for(20ms);  // they sleep
  run_until_helped(pool);
}

TEST(ThreadPool, EndsWhileItsThreadsSpinOrSleep) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    ThreadPool pool(4, 8);
    if (repeat % 2 == 0) run(pool, 8, [](Index) {});
    if (repeat % 3 == 0) std::this_thread::sleep_for(300us);
  }
}

}  // namespace ndpool::testing
