// Tiles on threads: what throws while several of them run.
#include "plan/tiles.hpp"
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

namespace ndpool::testing {

constexpr Tiling one_row_each{500, 1};
constexpr std::size_t scratch = 64;

struct ThrowAtThirdCall {
  int calls = 0;
  static bool look(void* context, double) {
    if (++static_cast<ThrowAtThirdCall*>(context)->calls == 3) throw std::runtime_error("third call");
    return true;
  }
};

TEST(Tiles, ACallbackThatHasThrownIsNotCalledAgain) {
  for (const int count : {1, 2, 4, 8}) {
    const Threads threads(count);
    for (int repeat = 0; repeat < 200; ++repeat) {
      ThrowAtThirdCall watcher;
      std::vector<int> rows(500);
      const auto mark = [&](Index begin, Index, void*) { ++rows[static_cast<std::size_t>(begin)]; };
      EXPECT_THROW(run_tiles(one_row_each, scratch, {&ThrowAtThirdCall::look, &watcher}, mark), std::runtime_error);
      ASSERT_EQ(watcher.calls, 3) << count << " threads";
      EXPECT_LT(std::accumulate(rows.begin(), rows.end(), 0), 500) << "the threads did not stop";
    }
  }
}

TEST(Tiles, ThatThrowOnSeveralThreadsReachTheCallerOnce) {
  for (const int count : {2, 8}) {
    const Threads threads(count);
    for (int repeat = 0; repeat < 200; ++repeat) {
      const auto fail = [](Index begin, Index, void*) {
        if (begin % 7 == 3) throw std::runtime_error("row");
      };
      EXPECT_THROW(run_tiles(one_row_each, scratch, {}, fail), std::runtime_error);
      std::vector<int> rows(500);
      const auto mark = [&](Index begin, Index, void*) { ++rows[static_cast<std::size_t>(begin)]; };
      EXPECT_TRUE(run_tiles(one_row_each, scratch, {}, mark));
      EXPECT_EQ(rows, std::vector<int>(500, 1)) << "the threads serve the next run";
    }
  }
}

}  // namespace ndpool::testing
