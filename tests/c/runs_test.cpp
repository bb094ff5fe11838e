// How calls of the C interface run: executors, numbers of threads, cancellation, floating-point modes, many threads.
#include "c/described.hpp"
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ndpool::testing {
namespace {

constexpr std::int64_t shape[] = {64, 64, 64};
constexpr std::size_t elements = 64 * 64 * 64, results = 64 * 32 * 32;

ndpool_arrays large() {
  ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
  arrays.rank = 3;
  arrays.shape = shape;
  return arrays;
}

PlanPointer plan_of(const Pool& pool, const ndpool_arrays& arrays = large()) {
  const Described described(pool);
  ndpool_plan* plan = nullptr;
  ndpool_error error = NDPOOL_ERROR_INIT;
  EXPECT_EQ(ndpool_plan_create(&described.pool, &arrays, nullptr, &plan, &error), 0) << error.sentence;
  return PlanPointer(plan);
}

/// Averages of 2 x 2 cells, and their plan.
struct Averages {
  Averages() : plan(plan_of(avg_pool({.kernel = {2, 2}}))), x(elements), y(results), expected(results) {
    std::mt19937 random(26);
    for (float& value : x) value = static_cast<float>(random() % 1000);
    avg_pool({.kernel = {2, 2}}).forward(view(x, {64, 64, 64}), view(expected, {64, 32, 32}));
  }
  std::int32_t forward(const ndpool_run& run, ndpool_error* error = nullptr) {
    y.assign(results, -1);
    return ndpool_forward(plan.get(), x.data(), y.data(), &run, error);
  }

  PlanPointer plan;
  std::vector<float> x, y, expected;
};

/// Remembers which threads have run how many tasks.
struct Team {
  ndpool_executor executor = NDPOOL_EXECUTOR_INIT;
  std::set<std::thread::id> threads;
  std::int64_t tasks = 0;
  int runs = 0;
  bool leaves_the_last_out = false;
  std::mutex mutex;

  explicit Team(std::int32_t count) {
    executor.context = this;
    executor.threads = count;
    executor.run = &run;
  }
  static void run(void* context, std::int64_t count, void (*task)(void*, std::int64_t), void* task_context) {
    Team& team = *static_cast<Team*>(context);
    ++team.runs;
    std::atomic<std::int64_t> next = 0;
    const std::int64_t end = team.leaves_the_last_out ? count - 1 : count;
    const auto work = [&] {
      for (std::int64_t i = next++; i < end; i = next++) {
        task(task_context, i);
        const std::lock_guard lock(team.mutex);
        team.threads.insert(std::this_thread::get_id());
        ++team.tasks;
      }
    };
    std::vector<std::thread> helpers;
    for (std::int32_t i = 1; i < team.executor.threads; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
  }
};

TEST(RunsInC, UseTheExecutorOfTheCaller) {
  Averages averages;
  Team team(3);
  ndpool_run run = NDPOOL_RUN_INIT;
  run.executor = &team.executor;
  EXPECT_EQ(averages.forward(run), 0);
  EXPECT_EQ(averages.y, averages.expected);
  EXPECT_EQ(team.runs, 1);
  EXPECT_GT(team.tasks, 3) << "a large array is several tasks";
  EXPECT_EQ(averages.forward(NDPOOL_RUN_INIT), 0);
  EXPECT_EQ(team.runs, 1) << "the executor was for one call";
}

TEST(RunsInC, NoticeAnExecutorThatLeavesTasksOut) {
  Averages averages;
  Team team(2);
  team.leaves_the_last_out = true;
  ndpool_run run = NDPOOL_RUN_INIT;
  run.executor = &team.executor;
  ndpool_error error = NDPOOL_ERROR_INIT;
  EXPECT_EQ(averages.forward(run, &error), ndpool_code_executor_failed);
  EXPECT_EQ(std::string(error.sentence), "the executor has returned before every task was run once");
}

TEST(RunsInC, StayOnTheCallingThreadForOneThread) {
  Averages averages;
  Team team(3);
  ndpool_run run = NDPOOL_RUN_INIT;
  run.executor = &team.executor;
  run.threads = 1;
  struct Seen {
    std::thread::id caller = std::this_thread::get_id();
    int calls = 0, elsewhere = 0;
  } seen;
  run.progress_context = &seen;
  run.progress = [](void* context, double) {
    Seen& all = *static_cast<Seen*>(context);
    ++all.calls;
    all.elsewhere += std::this_thread::get_id() == all.caller ? 0 : 1;
    return true;
  };
  EXPECT_EQ(averages.forward(run), 0);
  EXPECT_EQ(averages.y, averages.expected);
  EXPECT_EQ(team.runs, 0);
  EXPECT_GT(seen.calls, 1);
  EXPECT_EQ(seen.elsewhere, 0);
}

TEST(RunsInC, LimitTheThreadsOfOneCall) {
  Averages averages;
  Team team(8);
  ndpool_run run = NDPOOL_RUN_INIT;
  run.executor = &team.executor;
  run.threads = 2;
  EXPECT_EQ(averages.forward(run), 0);
  EXPECT_EQ(averages.y, averages.expected);
  EXPECT_LE(team.tasks, 2) << "two tasks, each of which takes tiles until there are none";
  const Threads four(4);
  run.executor = nullptr;
  EXPECT_EQ(averages.forward(run), 0);
  EXPECT_EQ(averages.y, averages.expected);
  EXPECT_EQ(ndpool_get_threads(), 4) << "the setting of the process is as it was";
}

TEST(RunsInC, SetTheThreadsOfTheProcess) {
  const Threads before(2);
  EXPECT_EQ(ndpool_set_threads(3, nullptr), 0);
  EXPECT_EQ(ndpool_get_threads(), 3);
  EXPECT_EQ(ndpool::get_threads(), 3);
  EXPECT_EQ(ndpool_set_threads(-5, nullptr), 0);
  EXPECT_EQ(ndpool_get_threads(), 1) << "clamped";
}

TEST(RunsInC, CanBeCancelled) {
  Averages averages;
  ndpool_error error = NDPOOL_ERROR_INIT;
  ndpool_run run = NDPOOL_RUN_INIT;
  int calls = 0;
  run.progress_context = &calls;
  run.progress = [](void* context, double done) {
    EXPECT_GT(done, 0);
    return ++*static_cast<int*>(context) < 2;
  };
  for (const std::int32_t threads : {1, 2, 0}) {
    calls = 0;
    run.threads = threads;
    EXPECT_EQ(averages.forward(run, &error), ndpool_code_cancelled);
    EXPECT_EQ(calls, 2) << "never again after it has cancelled";
    EXPECT_STREQ(error.sentence, "the progress callback has cancelled the run");
  }
  const PlanPointer smooth = plan_of(smooth_max_pool({.kernel = {2, 2}}));
  calls = 1;
  EXPECT_EQ(ndpool_beta_derivative(smooth.get(), averages.x.data(), averages.y.data(), &run, &error),
            ndpool_code_cancelled)
      << "the reference, too";
}

TEST(RunsInC, TellTheProgressUpToOne) {
  Averages averages;
  double last = 0;
  ndpool_run run = NDPOOL_RUN_INIT;
  run.progress_context = &last;
  run.progress = [](void* context, double done) {
    *static_cast<double*>(context) = done;
    return true;
  };
  EXPECT_EQ(averages.forward(run), 0);
  EXPECT_EQ(last, 1.0);
}

TEST(RunsInC, TurnExceptionsOfACallbackIntoACode) {
  Averages averages;
  ndpool_error error = NDPOOL_ERROR_INIT;
  ndpool_run run = NDPOOL_RUN_INIT;
  run.progress = [](void*, double) -> bool { throw std::runtime_error("from the callback"); };
  EXPECT_EQ(averages.forward(run, &error), ndpool_code_unknown);
  EXPECT_STREQ(error.sentence, "from the callback");
  run.progress = [](void*, double) -> bool { throw 26; };
  EXPECT_EQ(averages.forward(run, &error), ndpool_code_unknown);
  run.progress = [](void*, double) -> bool { throw std::bad_alloc(); };
  EXPECT_EQ(averages.forward(run, &error), ndpool_code_out_of_memory);
}

#if defined(__x86_64__)
constexpr unsigned flush_modes = 0x8040, round_up = 0x4000;

TEST(RunsInC, KeepSubnormalsOnEveryThreadIfAsked) {
  const PlanPointer sums = plan_of(sum_pool({.kernel = {2, 2}}));
  const float subnormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> x(elements, subnormal), expected(results, 4 * subnormal);
  std::vector<float> y(results);
  Team team(2);
  // Threads of the team start with the modes of the thread that started them.
  const unsigned before = _mm_getcsr();
  for (const std::int32_t threads : {0, 1, 2})
    for (const ndpool_executor* executor :
         {static_cast<const ndpool_executor*>(&team.executor), static_cast<const ndpool_executor*>(nullptr)}) {
      ndpool_run run = NDPOOL_RUN_INIT;
      run.threads = threads;
      run.executor = executor;
      run.standard_floats = 1;
      _mm_setcsr(before | flush_modes | round_up);
      const std::int32_t code = ndpool_forward(sums.get(), x.data(), y.data(), &run, nullptr);
      const unsigned after = _mm_getcsr();
      run.standard_floats = 0;
      std::vector<float> flushed(results, 1);
      if (executor != nullptr) ndpool_forward(sums.get(), x.data(), flushed.data(), &run, nullptr);
      _mm_setcsr(before);
      EXPECT_EQ(code, 0);
      EXPECT_EQ(after & (flush_modes | round_up), flush_modes | round_up) << "as the caller had them";
      EXPECT_TRUE(y == expected) << "subnormals were lost";
      if (executor != nullptr) {
        EXPECT_EQ(flushed[0], 0) << "without being asked modes are left alone";
      }
    }
}
#endif

TEST(RunsInC, ShareAPlanBetweenThreads) {
  Averages averages;
  const PlanPointer extremes = plan_of(max_pool({.kernel = {2, 2}}));
  std::vector<float> expected_gx(elements);
  ndpool_vjp(extremes.get(), averages.x.data(), averages.expected.data(), expected_gx.data(), nullptr, nullptr);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Team team(2);
      ndpool_run run = NDPOOL_RUN_INIT;
      if (i % 2 == 0) run.executor = &team.executor;
      run.threads = i == 3 ? 1 : 0;
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<float> y(results), gx(elements);
        // Plans are made at the same time, too, and a wrong call of one thread is no error of another.
        const PlanPointer own = plan_of(avg_pool({.kernel = {2, 2}}));
        ndpool_error error = NDPOOL_ERROR_INIT;
        bool is_right = ndpool_forward(own.get(), nullptr, y.data(), &run, &error) == ndpool_code_null_data;
        is_right = is_right && ndpool_forward(averages.plan.get(), averages.x.data(), y.data(), &run, nullptr) == 0 &&
                   y == averages.expected;
        is_right =
            is_right &&
            ndpool_vjp(extremes.get(), averages.x.data(), averages.expected.data(), gx.data(), &run, nullptr) == 0 &&
            gx == expected_gx;
        right += is_right ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 12);
}

TEST(PlansInC, NameAndForceTheImplementationOfEachMap) {
  const PlanPointer plan = plan_of(max_pool({.kernel = {3, 3}, .stride = {2, 2}}));
  const auto cpp = max_pool({.kernel = {3, 3}, .stride = {2, 2}}).plan<float>({64, 64, 64});
  for (const MapKind map : cpp.maps()) {
    const std::int32_t number = static_cast<std::int32_t>(map);
    ASSERT_TRUE(ndpool_plan_has(plan.get(), number));
    ndpool_map_summary summary = NDPOOL_MAP_SUMMARY_INIT;
    ASSERT_EQ(ndpool_plan_summary(plan.get(), number, &summary, nullptr), 0);
    EXPECT_EQ(summary.implementation, cpp.implementation(map));
    EXPECT_EQ(summary.scratch_bytes, cpp.summary(map).scratch_bytes);
    EXPECT_EQ(summary.tiles, cpp.summary(map).tiles);
    EXPECT_EQ(ndpool_map_name(number), name_of(map));
    std::int32_t i = 0;
    for (const std::string_view name : cpp.implementations(map)) {
      const char* const found = ndpool_plan_implementation(plan.get(), number, i++);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found, name);
      const Described described(max_pool({.kernel = {3, 3}, .stride = {2, 2}}));
      const ndpool_arrays arrays = large();
      ndpool_plan_options options = NDPOOL_PLAN_OPTIONS_INIT;
      options.implementation = found;
      ndpool_plan* forced = nullptr;
      ASSERT_EQ(ndpool_plan_create(&described.pool, &arrays, &options, &forced, nullptr), 0);
      const PlanPointer owner(forced);
      ASSERT_EQ(ndpool_plan_summary(forced, number, &summary, nullptr), 0);
      EXPECT_EQ(std::string(summary.implementation), found);
    }
    EXPECT_EQ(ndpool_plan_implementation(plan.get(), number, i), nullptr);
  }
  EXPECT_FALSE(ndpool_plan_has(plan.get(), ndpool_map_unpool));
  EXPECT_FALSE(ndpool_plan_has(nullptr, 0) || ndpool_plan_has(plan.get(), 8) || ndpool_plan_has(plan.get(), -1));
  EXPECT_EQ(ndpool_plan_compact_index_dtype(plan.get()), ndpool_dtype_u8);
  EXPECT_EQ(ndpool_plan_compact_index_dtype(plan_of(sum_pool({.kernel = {2}})).get()), -1);
}

TEST(LibraryInC, NamesWhatItHas) {
  EXPECT_STREQ(ndpool_version(), "0.2.0");
  // The numbers are those that programs in other languages are written with.
  constexpr const char* dtypes[] = {"f32", "f64", "f16", "bf16", "i8",  "u8",     "i16",
                                    "u16", "i32", "i64", "u32",  "u64", "boolean"};
  constexpr std::size_t sizes[] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 8, 4, 8, 1};
  for (std::int32_t i = 0; i < 13; ++i) {
    EXPECT_STREQ(ndpool_dtype_name(i), dtypes[i]);
    EXPECT_EQ(ndpool_dtype_size(i), sizes[i]);
  }
  EXPECT_EQ(ndpool_dtype_name(13), nullptr);
  EXPECT_EQ(ndpool_dtype_name(-1), nullptr);
  EXPECT_EQ(ndpool_dtype_size(13), 0U);
  constexpr const char* reducers[] = {"max", "min", "sum", "avg", "smooth_max", "lp"};
  for (std::int32_t i = 0; i < 6; ++i) EXPECT_STREQ(ndpool_reducer_name(i), reducers[i]);
  EXPECT_EQ(ndpool_reducer_name(6), nullptr);
  EXPECT_EQ(ndpool_map_name(8), nullptr);
  const std::vector<std::string> names = targets();
  ASSERT_EQ(static_cast<std::size_t>(ndpool_target_count()), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(ndpool_target_name(static_cast<std::int32_t>(i)), names[i]);
    EXPECT_EQ(ndpool_force_target(names[i].c_str(), nullptr), 0);
    EXPECT_EQ(ndpool_target(), names[i]);
  }
  EXPECT_EQ(ndpool_target_name(ndpool_target_count()), nullptr);
  EXPECT_EQ(ndpool_force_target(nullptr, nullptr), 0);
  EXPECT_EQ(ndpool_target(), names.front());
}

}  // namespace
}  // namespace ndpool::testing
