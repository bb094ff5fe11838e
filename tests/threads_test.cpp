// Threads: the same bits whatever their number, plans shared between callers, forked children, watching and stopping.
#include "support/kernels.hpp"
#include "support/sweep.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace ndpool::testing {

/// Large enough for many tiles.
const char* const large_problems[] = {
    "max shape=8,64,56 kernel=3,3 stride=1,1 padding=1,1",
    "avg shape=2,200,301 kernel=3,3 stride=2,2 padding=1,1",
    "avg shape=90,80,16 axes=0,1 kernel=5,7 stride=1,1 padding=2,3",
    "sum shape=400,501 kernel=31,31 stride=1,1",
    "min shape=30,31,32,9 axes=1,2 kernel=2,2",
    "adaptive-avg shape=64,57,43 output_size=10,9",
    "global-max shape=512,17,13 axes=1,2",
    // Less rows than threads: parts of rows, also where a part begins or ends on padding, and where windows overlap it.
    "max shape=100003 kernel=4 stride=3 padding=2",
    "avg shape=2,60001 axes=1 kernel=5 stride=2 padding=2 ceil exclude_pad",
    "sum shape=9001,17 axes=0 kernel=9 stride=1 padding=4 dilation=2",
    "avg shape=3,40000 kernel=3,3 stride=1,1 padding=1,1",
};

template <class Check>
void for_each_large_problem(Check check) {
  for (const char* line : large_problems) {
    SCOPED_TRACE(line);
    std::mt19937_64 random(seed());
    const Problem problem = parse_problem(line);
    const Array<double> wide = uniform_numbers(problem.shape, random);
    Array<float> x(problem.shape);
    for (Index i = 0; i < x.size(); ++i) x[i] = static_cast<float>(wide[i]);
    check(problem.pool, x);
  }
}

TEST(Threads, TheirNumberDoesNotChangeABit) {
  for_each_large_problem([](const Pool& pool, const Array<float>& x) {
    Array<float> y, dy, gx;
    for (const int count : {1, 2, 3, 8}) {
      const Threads threads(count);
      const Array<float> y_now = forward(pool, x), dy_now = jvp(pool, x, x), gx_now = vjp(pool, x, y_now);
      if (count == 1) y = y_now, dy = dy_now, gx = gx_now;
      EXPECT_TRUE(same_bits(y, y_now) && same_bits(dy, dy_now) && same_bits(gx, gx_now)) << count << " threads";
    }
  });
}

TEST(Threads, LargeProblemsEqualTheSpec) {
  for_each_large_problem([](const Pool& pool, const Array<float>& x) {
    EXPECT_TRUE(same_bits(forward(pool, x), forward(pool.without_kernels(), x)));
  });
}

TEST(Threads, SlabsGiveTheBitsOfTheWhole) {
  const Pool pool = avg_pool({.kernel = {5, 3}, .stride = {1, 1}});
  std::mt19937_64 random(seed());
  const Array<double> x = uniform_numbers({60, 41}, random);
  const Array<double> whole = forward(pool, x);
  for (Index first = 0; first + 20 <= 60; first += 4) {
    Array<double> slab({20, 41});
    std::copy(x.begin() + first * 41, x.begin() + (first + 20) * 41, slab.begin());
    const Array<double> part = forward(pool, slab);
    EXPECT_EQ(std::memcmp(part.begin(), whole.begin() + first * 39, static_cast<std::size_t>(part.size()) * 8), 0);
  }
}

TEST(Threads, EightCallersShareAPlan) {
  const Threads threads(3);
  const Shape shape = {16, 64, 64};
  const auto plan = max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}).plan<float>(shape);
  const Array<float> x = arange<float>(shape);
  Array<float> expected(plan.output_shape());
  plan.forward(x.begin(), expected.begin());
  std::vector<std::thread> callers;
  std::vector<Array<float>> results;
  for (int i = 0; i < 8; ++i) results.emplace_back(plan.output_shape());
  for (Array<float>& result : results)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat) plan.forward(x.begin(), result.begin());
    });
  for (std::thread& caller : callers) caller.join();
  for (const Array<float>& result : results) EXPECT_TRUE(same_bits(result, expected));
}

TEST(Threads, AForkedChildCanPool) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer does not support threads after a fork";
#endif
  const Threads threads(2);
  const Pool pool = max_pool({.kernel = {3, 3}, .stride = {1, 1}});
  const Array<float> x = arange<float>({8, 64, 64});
  const Array<float> expected = forward(pool, x);
  const pid_t child = fork();
  if (child == 0) _exit(same_bits(forward(pool, x), expected) ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct Listener {
  double last = 0;
  int calls = 0;
  int stop_after = 1 << 30;
  static bool look(void* context, double done) {
    Listener& self = *static_cast<Listener*>(context);
    EXPECT_GT(done, self.last);
    self.last = done;
    return ++self.calls < self.stop_after;
  }
};

TEST(ProgressCallback, SeesARunGrowToItsEndAndCanStopIt) {
  const Shape shape = {64, 64, 64};
  const auto plan = avg_pool({.kernel = {2, 2}}).plan<float>(shape);
  const Array<float> x(shape, 1.0F);
  Array<float> y(plan.output_shape());
  Listener listener;
  EXPECT_TRUE(plan.forward(x.begin(), y.begin(), {&Listener::look, &listener}));
  EXPECT_EQ(listener.last, 1.0);
  EXPECT_GT(listener.calls, 3);

  Listener impatient{.stop_after = 2};
  EXPECT_FALSE(plan.forward(x.begin(), y.begin(), {&Listener::look, &impatient}));
  EXPECT_LT(impatient.last, 1.0);
  EXPECT_EQ(impatient.calls, 2) << "not called again after it stopped the run";
}

TEST(ProgressCallback, SeesTheEndOfARunByTheSpecToo) {
  const auto plan = max_pool({.kernel = {2}}).without_kernels().plan<float>({8});
  ASSERT_EQ(plan.implementation(MapKind::forward), "reference");
  const Array<float> x({8}, 1.0F);
  Array<float> y(plan.output_shape());
  Listener listener;
  EXPECT_TRUE(plan.forward(x.begin(), y.begin(), {&Listener::look, &listener}));
  EXPECT_EQ(listener.last, 1.0);
}

TEST(ProgressCallback, StopsEveryMapByTheSpecEvenInsideOneWindow) {
  const Shape shape = {1 << 9, 1 << 9};
  const Array<float> x(shape, 1.0F);
  for (const Pool& pool : {global_max_pool({}).without_kernels(), sum_pool({.kernel = {2, 2}}).without_kernels()}) {
    Array<float> y(pool.output_shape(shape)), gx(shape);
    for (const int stop_after : {1 << 30, 2}) {
      const auto look = [&](const auto& run) {
        Listener listener{.stop_after = stop_after};
        const bool finished = run(ProgressCallback{&Listener::look, &listener});
        EXPECT_EQ(finished, stop_after > 2);
        EXPECT_EQ(listener.last == 1.0, finished);
        EXPECT_GT(listener.calls, 1);
      };
      look([&](const ProgressCallback& callback) { return pool.forward(x.view(), y.view(), callback); });
      look([&](const ProgressCallback& callback) { return pool.jvp(x.view(), x.view(), y.view(), callback); });
      look([&](const ProgressCallback& callback) { return pool.vjp(x.view(), y.view(), gx.view(), callback); });
    }
  }
}

/// An executor of the caller's own: backwards, on one thread.
struct Backwards final : Executor {
  void run(Index count, void (*work)(void*, Index), void* context) override {
    for (Index i = count; i > 0; --i) work(context, i - 1);
    pieces += count;
  }
  int threads() const override { return 1; }
  Index pieces = 0;
};

struct Failure {};
/// Throws at its third call, whichever thread makes it.
struct ThrowingListener {
  int calls = 0;
  static bool look(void* context, double) {
    if (++static_cast<ThrowingListener*>(context)->calls == 3) throw Failure();
    return true;
  }
  ProgressCallback callback() { return {&look, this}; }
};

TEST(ProgressCallback, AnExceptionReachesTheCallerAndStopsAllThreads) {
  const Shape shape = {256, 64, 64};
  const Array<float> x(shape, 1.0F);
  for (const int count : {1, 2, 8}) {
    const Threads threads(count);
    for (const Pool& pool : {max_pool({.kernel = {2, 2}}), avg_pool({.kernel = {2, 2}}), lp_pool(2, {.kernel = {2, 2}}),
                             max_pool({.kernel = {2, 2}}).without_kernels()}) {
      Array<float> y(pool.output_shape(shape)), gx(shape);
      Array<Index> winners(y.shape());
      const auto expect_failure = [&](const auto& run) {
        ThrowingListener listener;
        EXPECT_THROW(run(listener.callback()), Failure) << count << " threads";
        EXPECT_EQ(listener.calls, 3) << "called again after it threw, on " << count << " threads";
      };
      expect_failure([&](const ProgressCallback& callback) { pool.forward(x.view(), y.view(), callback); });
      expect_failure([&](const ProgressCallback& callback) { pool.jvp(x.view(), x.view(), y.view(), callback); });
      expect_failure([&](const ProgressCallback& callback) { pool.vjp(x.view(), y.view(), gx.view(), callback); });
      EXPECT_TRUE(pool.forward(x.view(), y.view())) << "the threads serve the next run";
      EXPECT_EQ(std::count(y.begin(), y.end(), y[0]), y.size());
      if (!std::holds_alternative<reduction::Max>(pool.reduction())) continue;
      expect_failure(
          [&](const ProgressCallback& callback) { pool.forward(x.view(), y.view(), winners.view(), callback); });
      pool.forward(x.view(), y.view(), winners.view());
      expect_failure([&](const ProgressCallback& callback) {
        pool.vjp_from_indices(winners.view(), y.view(), gx.view(), callback);
      });
    }
  }
}

TEST(ProgressCallback, AnExceptionPassesThroughTheCallersExecutor) {
  Backwards own;
  set_executor(&own);
  const Array<float> x({64, 64, 64}, 1.0F);
  Array<float> y({64, 32, 32});
  ThrowingListener listener;
  EXPECT_THROW(max_pool({.kernel = {2, 2}}).forward(x.view(), y.view(), listener.callback()), Failure);
  set_executor(nullptr);
  EXPECT_GT(own.pieces, 3) << "the executor itself sees no exception";
}

TEST(Threads, MayChangeWhileArraysArePooled) {
  const Shape shape = {64, 256, 256};
  const Array<float> x(shape, 1.0F);
  const int before = get_threads();
  std::atomic<bool> ends = false;
  std::thread other([&] {
    for (int count = 1; !ends; count = count % 3 + 1) set_threads(count);
  });
  for (int i = 0; i < 20; ++i) {
    Array<float> y({64, 128, 128});
    avg_pool({.kernel = {2, 2}}).forward(x.view(), y.view());
    EXPECT_EQ(*std::min_element(y.begin(), y.end()), 1.0F);
  }
  ends = true;
  other.join();
  set_threads(before);
}

TEST(Threads, ScratchStaysSmallForLongRowsAndMostlyPaddedWindows) {
  const Plan<float> first = global_max_pool({.axes = {1}}, {.ties = Ties::first}).plan<float>({32, 1 << 20});
  EXPECT_LE(first.scratch_bytes(), std::size_t{16} << 20);
  // Derivatives by ties keep pairs of the cells of a window, in three stages.
  const Plan<float> all = global_max_pool({.axes = {1}}, {.ties = Ties::all}).plan<float>({32, 1 << 20});
  EXPECT_LE(all.summary(MapKind::forward).scratch_bytes, std::size_t{16} << 20);
  EXPECT_LE(all.scratch_bytes(), std::size_t{52} << 20);
  const auto padded = sum_pool({.kernel = {500000}, .padding = {{0, 499990}}}).plan<float>({64, 11});
  EXPECT_EQ(padded.implementation(MapKind::forward), "general");
  EXPECT_LE(padded.scratch_bytes(), std::size_t{16} << 20);
}

TEST(Threads, AreAtMost1024) {
  const Threads threads(1 << 30);
  EXPECT_EQ(get_threads(), 1024);
}

TEST(Executor, CanBeTheCallersOwn) {
  const Pool pool = max_pool({.kernel = {2, 2}});
  const Array<float> x = arange<float>({64, 64, 64});
  const Array<float> expected = forward(pool, x);
  Backwards own;
  set_executor(&own);
  const Array<float> y = forward(pool, x);
  set_executor(nullptr);
  EXPECT_TRUE(same_bits(y, expected));
  EXPECT_GT(own.pieces, 1);
}

TEST(Executor, GetsPiecesOfOneLongRow) {
  Backwards own;
  set_executor(&own);
  const Array<float> y = forward(avg_pool({.kernel = {4}}), arange<float>({1 << 20}));
  set_executor(nullptr);
  EXPECT_EQ(y[0], 1.5F);
  EXPECT_GE(own.pieces, 8);
}

}  // namespace ndpool::testing
