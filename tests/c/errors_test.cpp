// Wrong calls of the C interface: each returns its code, says in one sentence what is wrong, and writes nothing.
#include "c/described.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>

namespace ndpool::testing {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// All memory that a wrong call can reach. Nothing of it may change.
struct Memory {
  std::array<float, 64> x, dx, y, dy, gy, gx;
  std::array<std::int64_t, 64> indices;
  std::array<std::uint8_t, 64> taps;

  Memory() {
    for (auto* buffer : {&x, &dx, &y, &dy, &gy, &gx}) buffer->fill(-7.5F);
    indices.fill(1);
    taps.fill(0);
  }
  bool operator==(const Memory&) const = default;
};

using Call = std::function<std::int32_t(Memory&, ndpool_error*)>;

/// A wrong call, what it returns and what it says; `...` stands for any words.
struct Wrong {
  Wrong(const char* its_name, std::int32_t its_code, const char* it_says, const Call& its_call)
      : name(its_name), code(its_code), says(it_says), call(its_call) {}

  std::string name;
  std::int32_t code;
  std::string says;
  Call call;

  friend std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.name; }
};

/// Numbers that live as long as the test.
ndpool_list list(const std::vector<std::int64_t>& numbers) {
  static std::deque<std::vector<std::int64_t>> kept;
  kept.push_back(numbers);
  return {kept.back().data(), static_cast<std::int64_t>(numbers.size())};
}

template <class Change>
ndpool_pool pool(Change change) {
  ndpool_pool made = NDPOOL_POOL_INIT;
  made.kernel = list({2});
  change(made);
  return made;
}
const ndpool_pool couples = pool([](ndpool_pool&) {});

ndpool_arrays arrays_of(const std::vector<std::int64_t>& shape, std::int32_t dtype = ndpool_dtype_f32) {
  ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
  const ndpool_list kept = list(shape);
  arrays.shape = kept.values;
  arrays.rank = static_cast<std::int32_t>(kept.count);
  arrays.dtype = dtype;
  return arrays;
}

Call create(const ndpool_pool& pool, const ndpool_arrays& arrays, const ndpool_plan_options* options = nullptr) {
  return [=](Memory&, ndpool_error* error) {
    ndpool_plan* plan = nullptr;
    const std::int32_t code = ndpool_plan_create(&pool, &arrays, options, &plan, error);
    EXPECT_TRUE(code == 0 || plan == nullptr);
    ndpool_plan_destroy(plan);
    return code;
  };
}
template <class Change>
Call create_on(const std::vector<std::int64_t>& shape, Change change) {
  return create(pool(change), arrays_of(shape));
}

/// Calls `run(plan, memory, error)` with a plan that exists.
template <class Run>
Call with_plan(const ndpool_pool& pool, const ndpool_arrays& arrays, Run run) {
  return [=](Memory& memory, ndpool_error* error) {
    ndpool_error creation = NDPOOL_ERROR_INIT;
    ndpool_plan* made = nullptr;
    EXPECT_EQ(ndpool_plan_create(&pool, &arrays, nullptr, &made, &creation), 0) << creation.sentence;
    const PlanPointer plan(made);
    return run(plan.get(), memory, error);
  };
}
template <class Run>
Call with_couples(Run run) {
  return with_plan(couples, arrays_of({4}), run);
}
template <class Run>
Call with_unpool(std::int32_t dtype, Run run) {
  return [=](Memory& memory, ndpool_error* error) {
    ndpool_unpool unpool = NDPOOL_UNPOOL_INIT;
    unpool.output_size = list({4});
    const ndpool_arrays arrays = arrays_of({2}, dtype);
    ndpool_plan* made = nullptr;
    EXPECT_EQ(ndpool_unpool_plan_create(&unpool, &arrays, &made, nullptr), 0);
    const PlanPointer plan(made);
    return run(plan.get(), memory, error);
  };
}
/// Runs couples forward with other options of the run.
template <class Change>
Call run_with(Change change) {
  return with_couples([=](const ndpool_plan* plan, Memory& m, ndpool_error* error) {
    ndpool_run run = NDPOOL_RUN_INIT;
    change(run);
    return ndpool_forward(plan, m.x.data(), m.y.data(), &run, error);
  });
}
void run_on_this_thread(void*, std::int64_t count, void (*task)(void*, std::int64_t), void* context) {
  for (std::int64_t i = 0; i < count; ++i) task(context, i);
}

std::vector<Wrong> wrong_windows() {
  const auto kernel = [](ndpool_pool& p, const std::vector<std::int64_t>& sizes) { p.kernel = list(sizes); };
  return {
      {"KernelZero", ndpool_code_not_positive, "kernel 0 on axis 1 must be at least 1",
       create_on({4, 4},
                 [=](ndpool_pool& p) {
                   kernel(p, {2, 0});
                 })},
      {"StrideZero", ndpool_code_not_positive, "stride 0 on axis 0...at least 1",
       create_on({4}, [](ndpool_pool& p) { p.stride = list({0}); })},
      {"StrideNegative", ndpool_code_not_positive, "stride -3 on axis 2",
       create_on({4, 4, 4}, [](ndpool_pool& p) { p.stride = list({-3}); })},
      {"DilationZero", ndpool_code_not_positive, "dilation 0 on axis 0",
       create_on({4}, [](ndpool_pool& p) { p.dilation = list({0}); })},
      {"PaddingBeforeNegative", ndpool_code_negative, "padding -1 on axis 0...negative",
       create_on({4}, [](ndpool_pool& p) { p.padding_before = list({-1}); })},
      {"PaddingAfterNegative", ndpool_code_negative, "padding -2 on axis 0...negative",
       create_on({4}, [](ndpool_pool& p) { p.padding_after = list({-2}); })},
      {"StrideCount", ndpool_code_wrong_count, "stride has 2 entries...must be 1",
       create_on({4},
                 [](ndpool_pool& p) {
                   p.stride = list({1, 1});
                 })},
      {"PaddingCount", ndpool_code_wrong_count, "padding has 3 entries...must be 1",
       create_on({4},
                 [](ndpool_pool& p) {
                   p.padding_before = list({0, 0, 0});
                 })},
      {"PaddingAfterCount", ndpool_code_wrong_count, "padding has 2 entries...must be 1",
       create_on({4},
                 [](ndpool_pool& p) {
                   p.padding_before = list({0}), p.padding_after = list({0, 0});
                 })},
      {"DilationCount", ndpool_code_wrong_count, "dilation has 2 entries...must be 1",
       create_on({4, 4},
                 [](ndpool_pool& p) {
                   p.dilation = list({1, 1});
                 })},
      {"AxesCount", ndpool_code_wrong_count, "axes has 2 entries...must be 1",
       create_on({4, 4},
                 [](ndpool_pool& p) {
                   p.axes = list({0, 1});
                 })},
      {"NoKernel", ndpool_code_nothing_to_pool, "no axis to pool...1 ax",
       create_on({4},
                 [](ndpool_pool& p) {
                   p.kernel = {nullptr, 0};
                 })},
      {"MoreKernelsThanAxes", ndpool_code_too_many_axes, "2 axes...only 1",
       create_on({4},
                 [=](ndpool_pool& p) {
                   kernel(p, {2, 2});
                 })},
      {"AxisPastTheLast", ndpool_code_axis_out_of_range, "axes names axis 2...has 2 axes",
       create_on({4, 4}, [](ndpool_pool& p) { p.axes = list({2}); })},
      {"AxisTwice", ndpool_code_axis_repeated, "axes names axis 1 twice",
       create_on({4, 4},
                 [=](ndpool_pool& p) {
                   kernel(p, {2, 2}), p.axes = list({1, -1});
                 })},
      {"KernelExceedsInput", ndpool_code_kernel_exceeds_input, "kernel 5 on axis 1...input 4",
       create_on({4, 4},
                 [=](ndpool_pool& p) {
                   kernel(p, {2, 5});
                 })},
      {"PooledAxisWithoutCells", ndpool_code_zero_length, "axis 1 of x has length 0",
       create_on({3, 0}, [](ndpool_pool&) {})},
      {"LengthNegative", ndpool_code_negative, "shape -4 on axis 0", create_on({-4}, [](ndpool_pool&) {})},
      {"Rank65", ndpool_code_rank_too_large, "shape has 65 axes...64",
       create(couples, arrays_of(std::vector<std::int64_t>(65, 1)))},
      {"Kernel65", ndpool_code_rank_too_large, "kernel has 65 axes...64",
       create_on({4}, [=](ndpool_pool& p) { kernel(p, std::vector<std::int64_t>(65, 1)); })},
      {"Padding70", ndpool_code_wrong_count, "padding has 65 entries...must be 1",
       create_on({4}, [](ndpool_pool& p) { p.padding_before = list(std::vector<std::int64_t>(70, 0)); })},
      {"EmptyWindow", ndpool_code_empty_window,
       "padding 3 on axis 1 leaves output 0 without an input element (kernel 2, stride 2, input 5)",
       create_on({4, 5}, [](ndpool_pool& p) { p.padding_before = list({3}); })},
      {"DilatedKernelOverflows", ndpool_code_overflow, "dilation 4611686018427387904 on axis 0...64 bits",
       create_on({4}, [=](ndpool_pool& p) { kernel(p, {3}), p.dilation = list({highest / 2 + 1}); })},
      {"ElementCountOverflows", ndpool_code_overflow, "shape...64 bits", create_on({huge, huge}, [](ndpool_pool&) {})},
  };
}

std::vector<Wrong> wrong_other_geometries() {
  const auto adaptive = [](const std::vector<std::int64_t>& size) {
    return [=](ndpool_pool& p) {
      p.geometry = ndpool_geometry_adaptive, p.kernel = {nullptr, 0}, p.output_size = list(size);
    };
  };
  const auto global = [](const std::vector<std::int64_t>& axes) {
    return [=](ndpool_pool& p) { p.geometry = ndpool_geometry_global, p.kernel = {nullptr, 0}, p.axes = list(axes); };
  };
  const auto unpool = [](const std::vector<std::int64_t>& size, const std::vector<std::int64_t>& shape) {
    return [=](Memory&, ndpool_error* error) {
      ndpool_unpool described = NDPOOL_UNPOOL_INIT;
      described.output_size = list(size);
      const ndpool_arrays arrays = arrays_of(shape);
      ndpool_plan* plan = nullptr;
      return ndpool_unpool_plan_create(&described, &arrays, &plan, error);
    };
  };
  return {
      {"BinsZero", ndpool_code_not_positive, "output_size 0 on axis 1", create_on({4, 4}, adaptive({2, 0}))},
      {"NoBins", ndpool_code_nothing_to_pool, "no axis to pool...2 axes", create_on({4, 4}, adaptive({}))},
      {"GlobalAxisPastTheLast", ndpool_code_axis_out_of_range, "axes names axis 5...1 axis",
       create_on({4}, global({5}))},
      {"PooledProductOverflows", ndpool_code_overflow, "shape 1099511627776 on axis 0",
       create_on({huge, huge}, global({}))},
      {"UnpoolSizeZero", ndpool_code_not_positive, "output_size 0 on axis 0", unpool({0}, {2})},
      {"UnpoolTooManyAxes", ndpool_code_too_many_axes, "2 axes...only 1", unpool({4, 4}, {2})},
      {"OutputShapeOfAWrongWindow", ndpool_code_kernel_exceeds_input, "kernel 2 on axis 0...input 1",
       [](Memory&, ndpool_error* error) {
         const std::int64_t shape = 1;
         std::int64_t output = 0;
         std::int32_t rank = 0;
         return ndpool_output_shape(&couples, &shape, 1, &output, &rank, error);
       }},
  };
}

std::vector<Wrong> wrong_options() {
  const auto of = [](std::int32_t reducer, auto change) {
    return create_on({4}, [=](ndpool_pool& p) { p.reducer = reducer, change(p); });
  };
  return {
      {"DivisorZero", ndpool_code_zero_divisor, "divisor 0",
       of(ndpool_reducer_avg, [](ndpool_pool& p) { p.divisor = 0; })},
      {"BetaZero", ndpool_code_beta_not_usable, "beta 0...finite",
       of(ndpool_reducer_smooth_max, [](ndpool_pool& p) { p.beta = 0; })},
      {"BetaInfinite", ndpool_code_beta_not_usable, "beta inf...finite",
       of(ndpool_reducer_smooth_max, [](ndpool_pool& p) { p.beta = infinity; })},
      {"BetaNotANumber", ndpool_code_beta_not_usable, "beta ...nan...finite",
       of(ndpool_reducer_smooth_max, [](ndpool_pool& p) { p.beta = std::nan(""); })},
      {"PZero", ndpool_code_p_not_positive, "p 0 must be greater than 0",
       of(ndpool_reducer_lp, [](ndpool_pool& p) { p.p = 0; })},
      {"TiesOfAFiniteP", ndpool_code_ties_without_extreme, "ties...infinity only, and p is 2",
       of(ndpool_reducer_lp, [](ndpool_pool& p) { p.ties = ndpool_ties_all; })},
      {"SmoothMaxOfIntegers", ndpool_code_no_transcendentals, "...",
       create(pool([](ndpool_pool& p) { p.reducer = ndpool_reducer_smooth_max; }), arrays_of({4}, ndpool_dtype_i32))},
      {"LpOfIntegersAsFloats", ndpool_code_no_transcendentals, "...",
       [](Memory& m, ndpool_error* error) {
         ndpool_arrays arrays = arrays_of({4}, ndpool_dtype_i32);
         arrays.result_dtype = ndpool_dtype_f32;
         return create(pool([](ndpool_pool& p) { p.reducer = ndpool_reducer_lp; }), arrays)(m, error);
       }},
      {"UnknownReducer", ndpool_code_unknown_value, "reducer 6 is none of 0 to 5", of(6, [](ndpool_pool&) {})},
      {"UnknownGeometry", ndpool_code_unknown_value, "geometry 3 is none of 0 to 2",
       of(0, [](ndpool_pool& p) { p.geometry = 3; })},
      {"UnknownTies", ndpool_code_unknown_value, "ties 4 is none of 0 to 3", of(0, [](ndpool_pool& p) { p.ties = 4; })},
      {"UnknownNan", ndpool_code_unknown_value, "nan -1 is none of 0 to 1", of(0, [](ndpool_pool& p) { p.nan = -1; })},
      {"UnknownEmpty", ndpool_code_unknown_value, "empty 2 is none of 0 to 1",
       of(0, [](ndpool_pool& p) { p.empty = 2; })},
      {"UnknownRounding", ndpool_code_unknown_value, "rounding 4 is none of 0 to 3",
       of(ndpool_reducer_avg, [](ndpool_pool& p) { p.rounding = 4; })},
      {"UnknownPadMode", ndpool_code_unknown_value, "pad_mode 2 is none of 0 to 1",
       of(ndpool_reducer_smooth_max, [](ndpool_pool& p) { p.pad_mode = 2; })},
      {"UnknownPaddingRule", ndpool_code_unknown_value, "padding_rule 4 is none of 0 to 3",
       of(0, [](ndpool_pool& p) { p.padding_rule = 4; })},
      {"CeilModeNoFlag", ndpool_code_unknown_value, "ceil_mode 2 is none of 0 to 1",
       of(0, [](ndpool_pool& p) { p.ceil_mode = 2; })},
      {"ReservedOfPool", ndpool_code_unknown_value, "reserved 1", of(0, [](ndpool_pool& p) { p.reserved = 1; })},
      {"ListWithNegativeCount", ndpool_code_unknown_value, "kernel has -1 entries",
       of(0, [](ndpool_pool& p) { p.kernel.count = -1; })},
      {"ListWithoutNumbers", ndpool_code_null_argument, "stride is null",
       of(0,
          [](ndpool_pool& p) {
            p.stride = {nullptr, 1};
          })},
      {"BetaOfMax", ndpool_code_not_of_pool, "beta is no option of the reducer max",
       of(0, [](ndpool_pool& p) { p.beta = 2; })},
      {"TiesOfSum", ndpool_code_not_of_pool, "ties is no option of the reducer sum",
       of(ndpool_reducer_sum, [](ndpool_pool& p) { p.ties = 1; })},
      {"EmptyOfSum", ndpool_code_not_of_pool, "empty is no option of the reducer sum",
       of(ndpool_reducer_sum, [](ndpool_pool& p) { p.empty = 1; })},
      {"DivisorOfLp", ndpool_code_not_of_pool, "divisor is no option of the reducer lp",
       of(ndpool_reducer_lp, [](ndpool_pool& p) { p.divisor = 3; })},
      {"OutputSizeOfWindows", ndpool_code_not_of_pool, "output_size is no option of a pool over windows",
       of(0, [](ndpool_pool& p) { p.output_size = list({2}); })},
      {"KernelOfGlobal", ndpool_code_not_of_pool, "kernel is no option of a global pool",
       of(0, [](ndpool_pool& p) { p.geometry = ndpool_geometry_global; })},
      {"KeepdimsOfWindows", ndpool_code_not_of_pool, "keepdims is no option of a pool over windows",
       of(0, [](ndpool_pool& p) { p.keepdims = 1; })},
      {"PaddingBesideARule", ndpool_code_not_of_pool, "padding_before is no option of a pool whose padding_rule",
       of(0, [](ndpool_pool& p) { p.padding_rule = ndpool_padding_same_upper, p.padding_before = list({0}); })},
  };
}

std::vector<Wrong> wrong_structs_and_pointers() {
  const auto size_of_arrays = [](std::size_t size) {
    ndpool_arrays arrays = arrays_of({4});
    arrays.size = size;
    return create(couples, arrays);
  };
  return {
      {"PoolOfALaterVersion", ndpool_code_struct_size,
       "pool has size...which version "
       "...does not know",
       create_on({4}, [](ndpool_pool& p) { p.size += 8; })},
      {"PoolWithoutSize", ndpool_code_struct_size, "pool has size 0",
       create_on({4}, [](ndpool_pool& p) { p.size = 0; })},
      {"ArraysOfALaterVersion", ndpool_code_struct_size, "arrays has size", size_of_arrays(sizeof(ndpool_arrays) + 8)},
      {"ArraysTooSmall", ndpool_code_struct_size, "arrays has size 8", size_of_arrays(8)},
      {"OptionsOfALaterVersion", ndpool_code_struct_size, "options has size",
       [](Memory& m, ndpool_error* error) {
         ndpool_plan_options options = NDPOOL_PLAN_OPTIONS_INIT;
         options.size += 8;
         return create(couples, arrays_of({4}), &options)(m, error);
       }},
      {"RunOfALaterVersion", ndpool_code_struct_size, "run has size", run_with([](ndpool_run& run) { run.size += 8; })},
      {"ExecutorOfALaterVersion", ndpool_code_struct_size, "executor has size", run_with([](ndpool_run& run) {
         static ndpool_executor executor = NDPOOL_EXECUTOR_INIT;
         executor.size = sizeof executor + 8;
         run.executor = &executor;
       })},
      {"NoPool", ndpool_code_null_argument, "pool is null",
       [](Memory&, ndpool_error* error) {
         const ndpool_arrays arrays = arrays_of({4});
         ndpool_plan* plan = nullptr;
         return ndpool_plan_create(nullptr, &arrays, nullptr, &plan, error);
       }},
      {"NoArrays", ndpool_code_null_argument, "arrays is null",
       [](Memory&, ndpool_error* error) {
         ndpool_plan* plan = nullptr;
         return ndpool_plan_create(&couples, nullptr, nullptr, &plan, error);
       }},
      {"NoPlaceForThePlan", ndpool_code_null_argument, "plan is null",
       [](Memory&, ndpool_error* error) {
         const ndpool_arrays arrays = arrays_of({4});
         return ndpool_plan_create(&couples, &arrays, nullptr, nullptr, error);
       }},
      {"NoPlan", ndpool_code_null_argument, "plan is null",
       [](Memory& m, ndpool_error* error) { return ndpool_forward(nullptr, m.x.data(), m.y.data(), nullptr, error); }},
      {"NoShape", ndpool_code_null_argument, "shape is null",
       [](Memory& m, ndpool_error* error) {
         ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
         arrays.rank = 1;
         return create(couples, arrays)(m, error);
       }},
      {"RankNegative", ndpool_code_unknown_value, "rank -1",
       [](Memory& m, ndpool_error* error) {
         ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
         arrays.rank = -1;
         return create(couples, arrays)(m, error);
       }},
      {"UnknownDtype", ndpool_code_unknown_value, "dtype 13 is none of 0 to 12", create(couples, arrays_of({4}, 13))},
      {"UnknownResultDtype", ndpool_code_unknown_value, "result_dtype -2",
       [](Memory& m, ndpool_error* error) {
         ndpool_arrays arrays = arrays_of({4});
         arrays.result_dtype = -2;
         return create(couples, arrays)(m, error);
       }},
      {"UnknownImplementation", ndpool_code_no_implementation, "no implementation fastest accepts...reference",
       [](Memory& m, ndpool_error* error) {
         ndpool_plan_options options = NDPOOL_PLAN_OPTIONS_INIT;
         options.implementation = "fastest";
         return create(couples, arrays_of({4}), &options)(m, error);
       }},
      {"UnknownTarget", ndpool_code_no_target, "there is no target Z80 on this machine",
       [](Memory&, ndpool_error* error) { return ndpool_force_target("Z80", error); }},
      {"SummaryOfNoMap", ndpool_code_unknown_value, "map 8 is none of 0 to 7",
       with_couples([](const ndpool_plan* plan, Memory&, ndpool_error* error) {
         ndpool_map_summary summary = NDPOOL_MAP_SUMMARY_INIT;
         return ndpool_plan_summary(plan, 8, &summary, error);
       })},
      {"SummaryOfAMapThatItLacks", ndpool_code_no_such_map, "this plan has no map unpool",
       with_couples([](const ndpool_plan* plan, Memory&, ndpool_error* error) {
         ndpool_map_summary summary = NDPOOL_MAP_SUMMARY_INIT;
         return ndpool_plan_summary(plan, ndpool_map_unpool, &summary, error);
       })},
      {"ThreadsNegative", ndpool_code_unknown_value, "threads -1", run_with([](ndpool_run& run) { run.threads = -1; })},
      {"StandardFloatsNoFlag", ndpool_code_unknown_value, "standard_floats 2",
       run_with([](ndpool_run& run) { run.standard_floats = 2; })},
      {"ExecutorWithoutRun", ndpool_code_null_argument, "run of executor is null", run_with([](ndpool_run& run) {
         static const ndpool_executor executor = NDPOOL_EXECUTOR_INIT;
         run.executor = &executor;
       })},
      {"ExecutorWithoutThreads", ndpool_code_unknown_value, "threads 0 is none of 1 to", run_with([](ndpool_run& run) {
         static ndpool_executor executor = NDPOOL_EXECUTOR_INIT;
         executor.run = run_on_this_thread;
         executor.threads = 0;
         run.executor = &executor;
       })},
  };
}

std::vector<Wrong> wrong_arrays() {
  const auto strided = [](std::int64_t stride, std::int64_t result_stride) {
    ndpool_arrays arrays = arrays_of({4});
    arrays.strides = list({stride}).values;
    arrays.result_strides = list({result_stride}).values;
    return arrays;
  };
  return {
      {"NoX", ndpool_code_null_data, "x has elements but its data pointer is null",
       with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_forward(plan, nullptr, m.y.data(), nullptr, error);
       })},
      {"NoY", ndpool_code_null_data, "y has elements", with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_forward(plan, m.x.data(), nullptr, nullptr, error);
       })},
      {"YOverX", ndpool_code_overlap, "y overlaps", with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_forward(plan, m.x.data(), m.x.data() + 3, nullptr, error);
       })},
      {"IndicesOverY", ndpool_code_overlap, "indices overlaps", with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_forward_with_indices(plan, m.x.data(), m.y.data(), m.y.data(), ndpool_dtype_u8, nullptr, error);
       })},
      {"XOfAJvpMissing", ndpool_code_null_data, "x has elements", with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_jvp(plan, nullptr, m.dx.data(), m.dy.data(), nullptr, error);
       })},
      {"XOfAVjpMissing", ndpool_code_null_data, "x has elements", with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_vjp(plan, nullptr, m.gy.data(), m.gx.data(), nullptr, error);
       })},
      {"GxOverGy", ndpool_code_overlap, "gx overlaps", with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_vjp(plan, m.x.data(), m.gy.data(), m.gy.data(), nullptr, error);
       })},
      {"ResultStrideZero", ndpool_code_zero_stride, "y has stride 0 on axis 0",
       with_plan(couples, strided(1, 0),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_forward(plan, m.x.data(), m.y.data(), nullptr, error);
                 })},
      {"GradientStrideZero", ndpool_code_zero_stride, "gx has stride 0 on axis 0",
       with_plan(couples, strided(0, 1),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_vjp(plan, m.x.data(), m.gy.data(), m.gx.data(), nullptr, error);
                 })},
      {"StridesOverflow", ndpool_code_overflow, "strides 9223372036854775807 on axis 0",
       with_plan(couples, strided(highest, 1),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_forward(plan, m.x.data(), m.y.data(), nullptr, error);
                 })},
      {"IndexDtypeOfSignedBytes", ndpool_code_unknown_value, "index_dtype i8 is none of i64, u8, u16 and u32",
       with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_forward_with_indices(plan, m.x.data(), m.y.data(), m.taps.data(), ndpool_dtype_i8, nullptr,
                                            error);
       })},
      {"IndexDtypeUnknown", ndpool_code_unknown_value, "index_dtype 99",
       with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_jvp_from_indices(plan, m.taps.data(), 99, m.dx.data(), m.dy.data(), nullptr, error);
       })},
      {"TapsDoNotFit", ndpool_code_taps_do_not_fit, "...",
       with_plan(pool([](ndpool_pool& p) { p.kernel = list({256}); }), arrays_of({256}),
                 [](auto* plan, Memory& m, auto* error) {
                   static std::array<float, 256> x{};
                   return ndpool_forward_with_indices(plan, x.data(), m.y.data(), m.taps.data(), ndpool_dtype_u8,
                                                      nullptr, error);
                 })},
      {"IndexPastTheArray", ndpool_code_index_out_of_range, "...", with_couples([](auto* plan, Memory& m, auto* error) {
         const std::int64_t indices[] = {0, 4};
         return ndpool_jvp_from_indices(plan, indices, ndpool_dtype_i64, m.dx.data(), m.dy.data(), nullptr, error);
       })},
      {"TapPastTheWindow", ndpool_code_index_out_of_range, "...", with_couples([](auto* plan, Memory& m, auto* error) {
         const std::uint8_t taps[] = {0, 2};
         return ndpool_vjp_from_indices(plan, taps, ndpool_dtype_u8, m.gy.data(), m.gx.data(), nullptr, error);
       })},
  };
}

std::vector<Wrong> wrong_maps() {
  const ndpool_pool sums = pool([](ndpool_pool& p) { p.reducer = ndpool_reducer_sum; });
  const auto other_result = [] {
    ndpool_arrays arrays = arrays_of({4});
    arrays.result_dtype = ndpool_dtype_f64;
    return arrays;
  };
  return {
      {"IndicesOfSum", ndpool_code_no_indices, "indices exist for max and min only",
       with_plan(sums, arrays_of({4}),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_forward_with_indices(plan, m.x.data(), m.y.data(), m.indices.data(), ndpool_dtype_i64,
                                                      nullptr, error);
                 })},
      {"JvpOfIntegers", ndpool_code_no_derivative, "...without derivatives",
       with_plan(couples, arrays_of({4}, ndpool_dtype_i32),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_jvp(plan, m.x.data(), m.dx.data(), m.dy.data(), nullptr, error);
                 })},
      {"VjpOfIntegers", ndpool_code_no_derivative, "...without derivatives",
       with_plan(sums, arrays_of({4}, ndpool_dtype_i32),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_vjp(plan, nullptr, m.gy.data(), m.gx.data(), nullptr, error);
                 })},
      {"VjpFromIndicesOfIntegers", ndpool_code_no_derivative, "gy...without derivatives",
       with_plan(couples, arrays_of({4}, ndpool_dtype_u8),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_vjp_from_indices(plan, m.taps.data(), ndpool_dtype_u8, m.gy.data(), m.gx.data(),
                                                  nullptr, error);
                 })},
      {"BetaDerivativeOfMax", ndpool_code_no_beta, "beta is a parameter of smooth max only",
       with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_beta_derivative(plan, m.x.data(), m.dy.data(), nullptr, error);
       })},
      {"JvpIntoAnotherDtype", ndpool_code_no_such_map, "this plan has no map jvp",
       with_plan(couples, other_result(),
                 [](auto* plan, Memory& m, auto* error) {
                   return ndpool_jvp(plan, m.x.data(), m.dx.data(), m.dy.data(), nullptr, error);
                 })},
      {"UnpoolByAPool", ndpool_code_no_such_map, "this plan has no map unpool",
       with_couples([](auto* plan, Memory& m, auto* error) {
         return ndpool_unpool_forward(plan, m.y.data(), m.indices.data(), m.x.data(), nullptr, error);
       })},
      {"PoolByAnUnpool", ndpool_code_no_such_map, "this plan has no map forward",
       with_unpool(ndpool_dtype_f32,
                   [](auto* plan, Memory& m, auto* error) {
                     return ndpool_forward(plan, m.x.data(), m.y.data(), nullptr, error);
                   })},
      {"UnpoolIndexPastTheArray", ndpool_code_index_out_of_range, "...",
       with_unpool(ndpool_dtype_f32,
                   [](auto* plan, Memory& m, auto* error) {
                     const std::int64_t indices[] = {0, 4};
                     return ndpool_unpool_forward(plan, m.y.data(), indices, m.x.data(), nullptr, error);
                   })},
      {"UnpoolWithoutIndices", ndpool_code_null_data, "indices has elements",
       with_unpool(ndpool_dtype_f32,
                   [](auto* plan, Memory& m, auto* error) {
                     return ndpool_unpool_vjp(plan, m.gx.data(), nullptr, m.gy.data(), nullptr, error);
                   })},
      {"UnpoolOverItsValues", ndpool_code_overlap, "x overlaps",
       with_unpool(ndpool_dtype_f32,
                   [](auto* plan, Memory& m, auto* error) {
                     return ndpool_unpool_forward(plan, m.y.data(), m.indices.data(), m.y.data() + 1, nullptr, error);
                   })},
      {"UnpoolJvpOfIntegers", ndpool_code_no_derivative, "dy...without derivatives",
       with_unpool(ndpool_dtype_i32,
                   [](auto* plan, Memory& m, auto* error) {
                     return ndpool_unpool_jvp(plan, m.dy.data(), m.indices.data(), m.dx.data(), nullptr, error);
                   })},
  };
}

std::vector<Wrong> all_wrong_calls() {
  std::vector<Wrong> all;
  for (const auto& table : {wrong_windows(), wrong_other_geometries(), wrong_options(), wrong_structs_and_pointers(),
                            wrong_arrays(), wrong_maps()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

bool matches(std::string_view text, std::string_view pattern) {
  for (bool anywhere = false;; anywhere = true) {
    const std::size_t end = pattern.find("...");
    const std::string_view part = pattern.substr(0, end);
    const std::size_t at = text.find(part);
    if (at == text.npos || (at != 0 && !anywhere)) return false;
    if (end == pattern.npos) return true;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(end + 3);
  }
}

class WrongCallsInC : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongCallsInC, ReturnTheirCodeAndOneSentenceAndWriteNothing) {
  Memory memory;
  ndpool_error error = NDPOOL_ERROR_INIT;
  EXPECT_EQ(GetParam().call(memory, &error), GetParam().code);
  EXPECT_EQ(error.code, GetParam().code);
  const std::string said = error.sentence;
  EXPECT_TRUE(matches(said, GetParam().says)) << said << "\nshould say: " << GetParam().says;
  EXPECT_EQ(said.find_first_of("\n\r\t"), said.npos) << said;
  EXPECT_TRUE(!said.empty() && said.back() != ' ' && said.back() != '.') << said;
  EXPECT_NE(error.argument, nullptr);
  EXPECT_TRUE(memory == Memory()) << "something was written";
  EXPECT_EQ(GetParam().call(memory, nullptr), GetParam().code) << "nobody needs to ask for the sentence";
}

INSTANTIATE_TEST_SUITE_P(Every, WrongCallsInC, ::testing::ValuesIn(all_wrong_calls()),
                         [](const auto& tested) { return tested.param.name; });

/// Codes that C++ and C share tell the same numbers.
TEST(ErrorsInC, HaveTheFaultOfCpp) {
  const std::int64_t shape[] = {4, 5};
  std::int64_t output[2];
  std::int32_t rank = 0;
  ndpool_error error = NDPOOL_ERROR_INIT;
  const ndpool_pool padded = pool([](ndpool_pool& p) { p.padding_before = list({3}); });
  const ndpool_arrays arrays = arrays_of({4, 5});
  ndpool_plan* plan = nullptr;
  EXPECT_EQ(ndpool_output_shape(&padded, shape, 2, output, &rank, &error), 0) << "the shape is known all the same";
  ASSERT_EQ(ndpool_plan_create(&padded, &arrays, nullptr, &plan, &error), ndpool_code_empty_window);
  try {
    static_cast<void>(max_pool({.kernel = {2}, .padding = {3}}).plan<float>({4, 5}));
    FAIL() << "C++ must refuse it, too";
  } catch (const Error& thrown) {
    EXPECT_STREQ(error.sentence, thrown.what());
    EXPECT_EQ(error.code, static_cast<int>(thrown.code()));
    EXPECT_EQ(error.axis, thrown.fault().axis);
    EXPECT_STREQ(error.argument, "padding");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(error.values[i], thrown.fault().values[i]);
  }
}

TEST(ErrorsInC, OfAnUnknownSizeAreNotWritten) {
  ndpool_error error = NDPOOL_ERROR_INIT;
  error.size = 8;
  error.code = 77;
  EXPECT_EQ(ndpool_forward(nullptr, nullptr, nullptr, nullptr, &error), ndpool_code_struct_size);
  EXPECT_EQ(error.code, 77);
}

TEST(ErrorsInC, CutLongSentences) {
  const std::string name(4 * NDPOOL_SENTENCE_SIZE, 'n');
  ndpool_error error = NDPOOL_ERROR_INIT;
  EXPECT_EQ(ndpool_force_target(name.c_str(), &error), ndpool_code_no_target);
  EXPECT_EQ(std::strlen(error.sentence), NDPOOL_SENTENCE_SIZE - 1U);
}

TEST(TableOfWrongCallsInC, HasEveryCode) {
  std::set<std::int32_t> codes;
  for (const Wrong& wrong : all_wrong_calls()) codes.insert(wrong.code);
  EXPECT_GE(all_wrong_calls().size(), 60U);
  for (int code = ndpool_code_not_positive; code <= ndpool_code_index_out_of_range; ++code) {
    // What only typed arrays, views and scalars of C++ can be wrong in.
    const auto of_cpp = {Code::shape_mismatch, Code::rank_mismatch, Code::too_few_elements,
                         Code::p_not_finite,   Code::no_order,      Code::no_identity};
    if (std::none_of(of_cpp.begin(), of_cpp.end(), [&](Code other) { return code == static_cast<int>(other); })) {
      EXPECT_TRUE(codes.contains(code)) << "no wrong call has code " << code;
    }
  }
  // The others end runs that have begun: runs_test.cpp.
  for (int code = ndpool_code_null_argument; code <= ndpool_code_no_target; ++code)
    EXPECT_TRUE(codes.contains(code)) << "no wrong call has code " << code;
}

}  // namespace
}  // namespace ndpool::testing
