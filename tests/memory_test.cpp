// Memory: nothing outside the views is touched, and running a plan allocates nothing.
#include "support/guarded.hpp"
#include "support/sweep.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

// GCC pairs our delete with its own idea of new after inlining.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {
std::atomic<long> allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {  // of std::stable_sort
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ndpool::testing {

template <class T>
class GuardedScalar : public ::testing::Test {};
using GuardedScalars = ::testing::Types<float, std::uint8_t>;
TYPED_TEST_SUITE(GuardedScalar, GuardedScalars);

TYPED_TEST(GuardedScalar, NothingOutsideTheViewsIsTouched) {
  for (const std::string& target : targets()) {
    force_target(target);
    sweep([](const std::string& line) { return !is_transcendental(line) && std::hash<std::string>()(line) % 3 == 0; },
          [](const Problem& problem, std::mt19937_64&) {
            for (const bool at_end : {false, true}) {
              const Shape out = problem.pool.output_shape(problem.shape);
              GuardedArray<TypeParam> x(problem.shape, at_end), y(out, at_end);
              problem.pool.forward(x.view(), y.view());
              if constexpr (std::is_floating_point_v<TypeParam>) {
                GuardedArray<TypeParam> gx(problem.shape, at_end), dy(out, at_end);
                problem.pool.jvp(x.view(), x.view(), dy.view());
                problem.pool.vjp(x.view(), dy.view(), gx.view());
              }
            }
          });
  }
  force_target("");
}

template <class T>
class GuardedPowers : public ::testing::Test {};
using PowerScalars = ::testing::Types<float, double, f16>;
TYPED_TEST_SUITE(GuardedPowers, PowerScalars);

TYPED_TEST(GuardedPowers, NothingOutsideTheViewsIsTouched) {
  int count = 0;
  for (const std::string& target : targets()) {
    force_target(target);
    sweep([](const std::string& line) { return is_transcendental(line) && std::hash<std::string>()(line) % 3 == 0; },
          [&count](const Problem& problem, std::mt19937_64&) {
            for (const bool at_end : {false, true})
              for (const float scale : {0.0625F, 100.0F}) {  // plain numbers, and pairs
                const Shape out = problem.pool.output_shape(problem.shape);
                GuardedArray<TypeParam> x(problem.shape, at_end), y(out, at_end), dy(out, at_end),
                    gx(problem.shape, at_end);
                for (Index i = 0; i < element_count(problem.shape); ++i)
                  x.data()[i] = static_cast<TypeParam>(static_cast<float>(i * 37 % 101) * scale);
                problem.pool.forward(x.view(), y.view());
                problem.pool.jvp(x.view(), x.view(), dy.view());
                problem.pool.vjp(x.view(), dy.view(), gx.view());
                ++count;
              }
          });
  }
  force_target("");
  EXPECT_GE(count, 300);
}

/// Small planes are read and written with more than a row of them in a vector.
TYPED_TEST(GuardedScalar, NothingOutsideSmallPlanesIsTouched) {
  for (const std::string& target : targets()) {
    force_target(target);
    for (Index width = 2; width <= 17; ++width)
      for (Index kernel = 2; kernel <= 3; ++kernel)
        for (const bool at_end : {false, true}) {
          const Window window{.kernel = {kernel, kernel},
                              .stride = {4 - kernel, 4 - kernel},
                              .padding = {kernel - 2, kernel - 2},
                              .axes = {1, 2}};
          const Shape shape{3, width, width}, out = max_pool(window).output_shape(shape);
          GuardedArray<TypeParam> x(shape, at_end), y(out, at_end), dx(shape, at_end);
          GuardedArray<std::uint8_t> taps(out, at_end);
          max_pool(window).forward(x.view(), y.view());
          avg_pool(window).forward(x.view(), y.view());
          max_pool(window).forward(x.view(), y.view(), taps.view());
          if constexpr (std::is_floating_point_v<TypeParam>) max_pool(window).jvp(x.view(), dx.view(), y.view());
        }
  }
  force_target("");
}

/// Pixels of three channels begin and end anywhere in a vector.
TEST(GuardedPixels, NothingOutsideThemIsTouched) {
  for (const std::string& target : targets()) {
    force_target(target);
    for (Index width = 4; width <= 40; ++width)
      for (const Index stride : {1, 2})
        for (const bool at_end : {false, true}) {
          const Window window{.kernel = {3, 3}, .stride = {stride, stride}, .padding = {1, 1}, .axes = {1, 2}};
          const Shape shape{2, 5, width, 3}, out = max_pool(window).output_shape(shape);
          GuardedArray<float> x(shape, at_end), y(out, at_end);
          max_pool(window).forward(x.view(), y.view());
          avg_pool(window).forward(x.view(), y.view());
        }
  }
  force_target("");
}

/// Large windows read vectors of columns, and write the last vector of a row again.
TYPED_TEST(GuardedScalar, NothingOutsidePlanesOfLargeWindowsIsTouched) {
  for (const std::string& target : targets()) {
    force_target(target);
    for (const Index width : {8, 15, 33, 40, 300})
      for (const Index kernel : {9, 16, 17, 31, 64})
        for (const bool at_end : {false, true}) {
          const Window window{
              .kernel = {kernel, kernel}, .stride = {1, 1}, .padding = {kernel / 2, kernel / 2}, .axes = {1, 2}};
          const Shape shape{2, width / 2, width}, out = max_pool(window).output_shape(shape);
          GuardedArray<TypeParam> x(shape, at_end), y(out, at_end);
          max_pool(window).forward(x.view(), y.view());
          avg_pool(window).forward(x.view(), y.view());
        }
  }
  force_target("");
}

/// Gradients of windows that overlap are read beyond their rows and planes, but not beyond the array.
TEST(GuardedGradients, OfOverlappingWindowsAreNotReadOutsideTheView) {
  for (const std::string& target : targets()) {
    force_target(target);
    for (const Index planes : {1, 2, 4})
      for (Index width = 8; width <= 36; ++width)
        for (const Index padding : {0, 1})
          for (const bool at_end : {false, true}) {
            const Pool pool = max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {padding, padding}});
            const Shape shape{planes, 6, width}, out = pool.output_shape(shape);
            GuardedArray<float> x(shape, at_end), y(out, at_end), gx(shape, at_end);
            GuardedArray<std::uint8_t> taps(out, at_end);
            GuardedArray<Index> indices(out, at_end);
            pool.forward(x.view(), y.view(), taps.view());
            pool.forward(x.view(), y.view(), indices.view());
            pool.vjp_from_indices(taps.view(), y.view(), gx.view());
            pool.vjp_from_indices(indices.view(), y.view(), gx.view());
          }
  }
  force_target("");
}

bool has_small_winners(const std::string& line) {
  const std::string op = line.substr(0, line.find(' '));
  if (is_transcendental(line) || !(op.ends_with("max") || op.ends_with("min"))) return false;
  const Problem problem = parse_problem(line);
  return std::hash<std::string>()(line) % 3 == 0 && spec::compact_bytes(problem.pool.geometry(problem.shape)) == 1;
}

TYPED_TEST(GuardedScalar, NothingOutsideTheViewsIsTouchedWithIndices) {
  for (const std::string& target : targets()) {
    force_target(target);
    sweep(has_small_winners, [](const Problem& problem, std::mt19937_64&) {
      for (const bool at_end : {false, true}) {
        const Shape out = problem.pool.output_shape(problem.shape);
        GuardedArray<TypeParam> x(problem.shape, at_end), y(out, at_end);
        GuardedArray<std::uint8_t> taps(out, at_end);
        GuardedArray<Index> indices(out, at_end);
        problem.pool.forward(x.view(), y.view(), indices.view());
        problem.pool.forward(x.view(), y.view(), taps.view());
        if constexpr (std::is_floating_point_v<TypeParam>) {
          problem.pool.jvp_from_indices(taps.view(), x.view(), y.view());
          problem.pool.vjp_from_indices(taps.view(), y.view(), x.view());
          problem.pool.jvp_from_indices(indices.view(), x.view(), y.view());
          problem.pool.vjp_from_indices(indices.view(), y.view(), x.view());
        }
      }
    });
  }
  force_target("");
}

TEST(Plan, RunningItAllocatesNothingOnceAThreadHasItsScratch) {
  for (const char* line :
       {"max shape=8,32,40 kernel=3,3 stride=2,2 padding=1,1", "avg shape=8,64,64 kernel=31,31 stride=1,1",
        "adaptive-avg shape=3,50,50 output_size=7,7", "min shape=40,40,8 axes=0,1 kernel=2,2",
        "max shape=300,7,7 kernel=3,3 stride=1,1 padding=1,1", "max shape=8,30,30 kernel=3,3 ties=split",
        "smooth-max shape=8,30,30 kernel=3,3", "lp shape=8,30,30 kernel=2,2"}) {
    const Problem problem = parse_problem(line);
    const auto plan = problem.pool.plan<float>(problem.shape);
    ASSERT_NE(plan.implementation(MapKind::forward), "reference");
    const Array<float> x(problem.shape, 1.0F);
    Array<float> y(plan.output_shape());
    Array<float> tangent(problem.shape, 1.0F);
    Array<Index> flat(plan.output_shape());
    Array<std::uint16_t> taps(plan.output_shape());
    const auto run_all = [&] {
      plan.forward(x.begin(), y.begin());
      plan.jvp(x.begin(), x.begin(), y.begin());
      plan.vjp(x.begin(), y.begin(), tangent.begin());
      if (line[0] != 'm') return;  // only max and min have winners
      plan.forward(x.begin(), y.begin(), flat.begin());
      plan.forward(x.begin(), y.begin(), taps.begin());
      plan.vjp_from_indices(taps.begin(), y.begin(), tangent.begin());
      plan.jvp_from_indices(flat.begin(), x.begin(), y.begin());
    };
    set_threads(1);
    run_all();
    const long before = allocations;
    run_all();
    EXPECT_EQ(allocations, before) << line;
  }
}

}  // namespace ndpool::testing
