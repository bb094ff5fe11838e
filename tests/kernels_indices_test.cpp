// The maps by given indices against the reference, bit for bit: all scalars, kinds of indices, geometries and layouts,
// on planes that are cut into slabs and on groups of small ones.
#include "support/generated.hpp"
#include "support/guarded.hpp"
#include "support/kernels.hpp"
#include "support/placed.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ndpool::testing {
namespace {

/// How flat indices are drawn.
enum class Cells { of_windows, any };

/// A random pool of up to 60,000 cells: large planes, long rows, many small planes, many lanes.
std::string drawn_problem(std::mt19937_64& random) {
  const auto up_to = [&](Index most) { return 1 + static_cast<Index>(random() % static_cast<std::uint64_t>(most)); };
  const char* const shapes[] = {"1,200,240", "2,40000",   "1,3,130,140", "3000,4,4",
                                "5,60,50,3", "2,30,2100", "40,2,25,20",  "1,24,24,24"};
  const char* const axes[] = {"1,2", "1", "2,3", "1,2", "1,2", "1", "1,3", "1,2,3"};
  const Index pooled[] = {2, 1, 2, 2, 2, 1, 2, 3};
  const std::size_t which = random() % std::size(shapes);
  const auto list = [&](Index most, Index least) {
    std::string numbers;
    for (Index i = 0; i < pooled[which]; ++i) numbers += (i == 0 ? "" : ",") + std::to_string(least + up_to(most) - 1);
    return numbers;
  };
  const std::string where = std::string(" shape=") + shapes[which] + " axes=" + axes[which];
  if (random() % 6 == 0) return "adaptive-max" + where + " output_size=" + list(9, 1);
  if (random() % 8 == 0) return "global-max" + where;
  std::string line = "max" + where + " kernel=" + list(random() % 4 == 0 ? 9 : 3, 1) + " stride=" + list(3, 1);
  line += random() % 2 == 0 ? " padding=" + list(4, 0) + " empty=identity" : "";
  if (random() % 4 == 0) line += " dilation=" + list(3, 1);
  return line + (random() % 3 == 0 ? " ceil" : "");
}

/// A problem that has a plan.
std::string valid_problem(std::mt19937_64& random) {
  for (;;) {
    const std::string line = random() % 3 == 0 ? generated_problem(random, false) : drawn_problem(random);
    const std::string problem = line.substr(0, line.find(" memory="));
    if (has_winners(problem) && is_valid(problem)) return problem;
  }
}

/// Some real tap of every output, sometimes none.
template <class I>
Array<I> drawn_indices(const Geometry& geometry, Cells cells, std::mt19937_64& random) {
  Array<I> indices(geometry.output_shape());
  const auto below = [&](Index end) { return static_cast<Index>(random() % static_cast<std::uint64_t>(end)); };
  Index i = 0;
  spec::for_each_position(geometry.output_shape(), [&](const Shape& at) {
    I& index = indices[i++];
    index = static_cast<I>(-1);
    if (random() % 16 == 0) return;
    Index tap = 0;
    for (int a = 0; a < geometry.rank; ++a) {
      const Taps taps = geometry.axes[a].taps(at[a]);
      if (taps.count == 0) return;
      tap += (taps.first_tap + below(taps.count)) * geometry.tap_stride[a];
    }
    index = static_cast<I>(tap);
    if constexpr (std::is_signed_v<I>)
      index = cells == Cells::of_windows || random() % 2 == 0 ? geometry.flat_from_tap(at, tap)
                                                              : below(geometry.cell_count());
  });
  return indices;
}

template <class E>
std::unique_ptr<Placed<E>> placed(const Array<E>& values, std::mt19937_64& random) {
  const bool is_packed = random() % 2 == 0;
  return std::make_unique<Placed<E>>(
      values, is_packed ? packed_layout(values.shape()) : draw_layout(values.shape(), random, false));
}

/// The same bits, but for the payload of a NaN.
template <class T>
::testing::AssertionResult are_equal(const Array<T>& found, const Array<T>& expected) {
  for (Index i = 0; i < found.size(); ++i)
    if (std::memcmp(&found[i], &expected[i], sizeof(T)) != 0 && !(spec::is_nan(found[i]) && spec::is_nan(expected[i])))
      return ::testing::AssertionFailure() << "element " << i << " of " << found.size() << " differs";
  return ::testing::AssertionSuccess();
}

/// What a map writes on one, two and three threads, which is the same; nothing around it is written.
template <class T, class Run>
::testing::AssertionResult writes(const Array<T>& expected, std::mt19937_64& random, const Run& run) {
  const bool is_packed = random() % 2 == 0;
  const Layout layout = is_packed ? packed_layout(expected.shape()) : draw_layout(expected.shape(), random, false);
  for (const int threads : {1, 2, 3}) {
    const Threads some(threads);
    const Placed<T> result(expected.shape(), layout);
    run(result.view);
    if (!result.is_untouched_around()) return ::testing::AssertionFailure() << "memory around the result was written";
    if (auto equal = are_equal(result.packed(), expected); !equal) return equal << ", on " << threads << " threads";
  }
  return ::testing::AssertionSuccess();
}

template <class T>
class DerivativesByIndices : public ::testing::Test {
 public:
  template <class I>
  void check(const Problem& problem, const Array<I>& indices, std::mt19937_64& random) {
    const Pool &pool = problem.pool, spec = pool.without_kernels();
    const auto winners = placed(indices, random);
    const auto dx = placed(awkward_numbers<T>(problem.shape, random), random);
    const auto gy = placed(awkward_numbers<T>(indices.shape(), random), random);
    Array<T> dy(indices.shape()), gx(problem.shape);
    spec.jvp_from_indices(indices.view(), dx->read(), dy.view());
    spec.vjp_from_indices(indices.view(), gy->read(), gx.view());
    const View<const I> read = winners->read();
    EXPECT_TRUE(writes(dy, random, [&](const View<T>& to) { pool.jvp_from_indices(read, dx->read(), to); })) << "dy";
    EXPECT_TRUE(writes(gx, random, [&](const View<T>& to) { pool.vjp_from_indices(read, gy->read(), to); })) << "gx";
  }
};
#define NDPOOL_ROW(name, type) type,
using FloatScalars = ::testing::Types<float, double, f16, bf16>;
using AllScalars = ::testing::Types<NDPOOL_DTYPES(NDPOOL_ROW) float>;
#undef NDPOOL_ROW
TYPED_TEST_SUITE(DerivativesByIndices, FloatScalars);

TYPED_TEST(DerivativesByIndices, EqualTheReference) {
  std::mt19937_64 random(seed());
  const int count = has_sanitizer ? 20 : 150;
  for (int i = 0; i < count; ++i) {
    const std::string line = valid_problem(random);
    const Problem problem = parse_problem(line);
    const std::string target = targets()[random() % targets().size()];
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + " target " + target + " problem: " + line);
    const ForcedTarget forced(target);
    const Geometry geometry = problem.pool.geometry(problem.shape);
    const Shape out = problem.pool.output_shape(problem.shape);
    const auto visible = [&]<class I>(Array<I> indices) {
      Array<I> shaped(out);
      std::copy(indices.begin(), indices.begin() + indices.size(), shaped.begin());
      return shaped;
    };
    this->check(problem, visible(drawn_indices<Index>(geometry, i % 4 == 0 ? Cells::any : Cells::of_windows, random)),
                random);
    const int bytes = spec::compact_bytes(geometry);
    if (bytes == 1)
      this->check(problem, visible(drawn_indices<std::uint8_t>(geometry, Cells::of_windows, random)), random);
    if (bytes <= 2 && bytes > 0 && i % 2 == 0)
      this->check(problem, visible(drawn_indices<std::uint16_t>(geometry, Cells::of_windows, random)), random);
    if (bytes > 0 && i % 2 != 0)
      this->check(problem, visible(drawn_indices<std::uint32_t>(geometry, Cells::of_windows, random)), random);
    if (::testing::Test::HasFailure()) return;
  }
}

/// More taps than 31 bits count, and padding so wide that window starts have more; each on few cells.
TYPED_TEST(DerivativesByIndices, OfHugeWindowsEqualTheReference) {
  std::mt19937_64 random(seed());
  for (const char* line : {"max shape=2,3,4 axes=1,2 kernel=60000,60000 stride=7,3 padding=30000,30000",
                           "max shape=50 kernel=3000000000 stride=1 padding=1500000000",
                           "max shape=3,40,50 axes=1,2 kernel=1000,100 stride=1,1 padding=500,50"}) {
    SCOPED_TRACE(line);
    const Problem problem = parse_problem(line);
    const Geometry geometry = problem.pool.geometry(problem.shape);
    this->check(problem, drawn_indices<std::uint32_t>(geometry, Cells::of_windows, random), random);
    this->check(problem, drawn_indices<Index>(geometry, Cells::any, random), random);
  }
}

template <class T>
class Unpooling : public ::testing::Test {};
TYPED_TEST_SUITE(Unpooling, AllScalars);

TYPED_TEST(Unpooling, EqualsTheReference) {
  using T = TypeParam;
  std::mt19937_64 random(seed());
  const int count = has_sanitizer ? 10 : 60;
  for (int i = 0; i < count; ++i) {
    struct Sizes {
      Shape values, cells, axes;
    };
    const Sizes all[] = {{{1, 100, 120}, {200, 240}, {1, 2}},
                         {{20000}, {50000}, {0}},
                         {{400, 2, 2}, {5, 4}, {1, 2}},
                         {{3, 20, 20, 7}, {41, 40}, {1, 2}},
                         {{9, 30}, {4}, {1}},
                         {{2, 10, 2050}, {21}, {1}},
                         {{20, 3, 30}, {50, 70}, {0, 2}},
                         {{1, 1, 5000}, {3, 9000}, {1, 2}}};
    const Sizes& sizes = all[random() % std::size(all)];
    const Unpool unpool = max_unpool({.output_size = sizes.cells, .axes = sizes.axes});
    const Shape out = unpool.output_shape(sizes.values);
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + " problem " + std::to_string(i));
    const ForcedTarget forced(targets()[random() % targets().size()]);
    // Near where bins are, as those of pools, or anywhere.
    const Geometry geometry = spec::unpool_geometry({.output_size = sizes.cells, .axes = sizes.axes}, sizes.values);
    const Array<Index> numbers =
        drawn_indices<Index>(geometry, random() % 2 == 0 ? Cells::any : Cells::of_windows, random);
    const auto indices = placed(numbers, random);
    const auto values = placed(awkward_numbers<T>(sizes.values, random), random);
    const auto gx = placed(awkward_numbers<T>(out, random), random);
    Array<T> x(out), gy(sizes.values);
    unpool.without_kernels().forward(values->read(), indices->read(), x.view());
    unpool.without_kernels().vjp(gx->read(), indices->read(), gy.view());
    EXPECT_TRUE(writes(x, random, [&](const View<T>& to) { unpool.forward(values->read(), indices->read(), to); }))
        << "x";
    EXPECT_TRUE(writes(gy, random, [&](const View<T>& to) { unpool.vjp(gx->read(), indices->read(), to); })) << "gy";
    if (::testing::Test::HasFailure()) return;
  }
}

/// One wrong index anywhere is an error, and nothing was written then.
TEST(WrongIndices, AreFoundBeforeAnythingIsWritten) {
  std::mt19937_64 random(seed());
  const auto expect_refused = []<class I>(const Problem& problem, const Array<I>& indices) {
    const Array<float> gy(indices.shape(), 1.0F), dx(problem.shape, 1.0F);
    Array<float> gx(problem.shape, 7.0F), dy(indices.shape(), 7.0F);
    EXPECT_THROW(problem.pool.vjp_from_indices(indices.view(), gy.view(), gx.view()), Error);
    EXPECT_THROW(problem.pool.jvp_from_indices(indices.view(), dx.view(), dy.view()), Error);
    EXPECT_EQ(gx, Array<float>(problem.shape, 7.0F));
    EXPECT_EQ(dy, Array<float>(indices.shape(), 7.0F));
  };
  for (const char* line :
       {"max shape=2,150,150 axes=1,2 kernel=3,3 stride=2,2 padding=1,1", "max shape=700,5,6 kernel=3,2 padding=1,1",
        "max shape=9,70,12 axes=0,1 kernel=3,2 padding=1,1", "adaptive-max shape=2,70,90 output_size=31,47",
        "max shape=2,4,5,30 axes=1,2,3 kernel=2,2,2 padding=1,1,1 dilation=1,2,3",
        "adaptive-max shape=3000 output_size=1700"}) {
    const Problem problem = parse_problem(line);
    const Geometry geometry = problem.pool.geometry(problem.shape);
    const Array<std::uint8_t> taps = drawn_indices<std::uint8_t>(geometry, Cells::of_windows, random);
    const Array<Index> flat = drawn_indices<Index>(geometry, Cells::any, random);
    const Shape& out = taps.shape();
    for (int i = 0; i < 60; ++i) {
      SCOPED_TRACE(std::string(line) + ", change " + std::to_string(i));
      Shape at = out;
      for (int a = 0; a < out.size(); ++a) at[a] = static_cast<Index>(random() % static_cast<std::uint64_t>(out[a]));
      if (i % 2 == 0) at[out.size() - 1] = 0;  // where windows reach over the edge
      const auto tap = static_cast<Index>(random() % 255);
      if (!geometry.is_real_tap(at, tap)) {
        Array<std::uint8_t> wrong = taps;
        wrong.view()[at] = static_cast<std::uint8_t>(tap);
        expect_refused(problem, wrong);
      }
      Array<Index> wrong = flat;
      wrong.view()[at] = i % 2 == 0 ? -2 - i : geometry.cell_count() + i * (Index{1} << 31);
      expect_refused(problem, wrong);
    }
  }
}

TEST(GuardedIndices, NothingOutsideTheViewsIsTouched) {
  std::mt19937_64 random(seed());
  for (int i = 0; i < (has_sanitizer ? 10 : 100); ++i) {
    const std::string line = valid_problem(random);
    if (line.starts_with("global")) continue;
    const Problem problem = parse_problem(line);
    const Geometry geometry = problem.pool.geometry(problem.shape);
    const Shape out = geometry.output_shape();
    const Array<Index> drawn = drawn_indices<Index>(geometry, i % 2 == 0 ? Cells::any : Cells::of_windows, random);
    for (const bool at_end : {false, true}) {
      GuardedArray<Index> flat(out, at_end);
      std::copy(drawn.begin(), drawn.begin() + drawn.size(), flat.data());
      const auto check = [&]<class T>(T) {
        GuardedArray<T> x(problem.shape, at_end), y(out, at_end);
        problem.pool.vjp_from_indices(flat.view(), y.view(), x.view());
        problem.pool.jvp_from_indices(flat.view(), x.view(), y.view());
        if (spec::compact_bytes(geometry) != 1) return;
        const Array<std::uint8_t> drawn_taps = drawn_indices<std::uint8_t>(geometry, Cells::of_windows, random);
        GuardedArray<std::uint8_t> taps(out, at_end);
        std::copy(drawn_taps.begin(), drawn_taps.begin() + drawn_taps.size(), taps.data());
        problem.pool.vjp_from_indices(taps.view(), y.view(), x.view());
        problem.pool.jvp_from_indices(taps.view(), x.view(), y.view());
      };
      check(float());
      check(bf16());
    }
  }
}

/// All implementations of the VJP, on windows that lie side by side, overlap, and leave gaps.
TEST(MapsByIndices, AgreeOverImplementations) {
  std::mt19937_64 random(seed());
  std::set<std::string> used;
  const auto check = [&]<class T, class I>(const Problem& problem, const Array<I>& indices) {
    const Plan<T> plan = problem.pool.plan<T>(problem.shape);
    const Array<T> gy = awkward_numbers<T>(indices.shape(), random);
    Array<T> expected(problem.shape);
    problem.pool.without_kernels().vjp_from_indices(indices.view(), gy.view(), expected.view());
    for (const std::string_view name : plan.implementations(MapKind::vjp_from_indices)) {
      used.insert(std::string(name));
      Array<T> gx(problem.shape, T(99));
      problem.pool.plan<T>(problem.shape, {}, {.implementation = std::string(name)})
          .vjp_from_indices(indices.begin(), gy.begin(), gx.begin());
      EXPECT_TRUE(are_equal(gx, expected)) << name;
    }
  };
  for (const char* shape : {"3,40,50", "2,9,70,16", "1,260,210", "50,6,9", "2,30,41,3", "7,16,16"})
    for (const char* window :
         {"kernel=2,2", "kernel=4,4", "kernel=1,3 stride=2,3", "kernel=3,2", "kernel=3,3 stride=2,2 padding=1,1",
          "kernel=2,2 stride=3,3", "kernel=2,4 stride=2,4 ceil"})
      for (const std::string& target : targets()) {
        const std::string line = std::string("max shape=") + shape + " axes=1,2 " + window;
        SCOPED_TRACE("target " + target + " problem: " + line);
        if (!is_valid(line)) continue;
        const ForcedTarget forced(target);
        const Problem problem = parse_problem(line);
        const Geometry geometry = problem.pool.geometry(problem.shape);
        const Array<std::uint8_t> taps = drawn_indices<std::uint8_t>(geometry, Cells::of_windows, random);
        const Array<Index> near = drawn_indices<Index>(geometry, Cells::of_windows, random);
        const Array<Index> any = drawn_indices<Index>(geometry, Cells::any, random);
        const auto check_scalar = [&]<class T>() {
          check.operator()<T>(problem, taps);
          check.operator()<T>(problem, drawn_indices<std::uint16_t>(geometry, Cells::of_windows, random));
          check.operator()<T>(problem, near);
          check.operator()<T>(problem, any);
        };
        check_scalar.operator()<float>();
        check_scalar.operator()<double>();
        check_scalar.operator()<bf16>();
      }
  EXPECT_EQ(used, (std::set<std::string>{"disjoint", "indices", "reference"}));
}

TEST(MapsByIndices, AreNeverRunByTheReference) {
  for (const char* line : {"max shape=3,40,50 kernel=5,3", "max shape=3,4 kernel=2,1 padding=5,5 empty=identity",
                           "max shape=2,3,4 axes=1,2 kernel=60000,60000 stride=7,3 padding=30000,30000",
                           "max shape=2,3000000 axes=1 kernel=7 stride=2"}) {
    const Problem problem = parse_problem(line);
    const auto expect_compiled = [&]<class T>() {
      const auto plan = problem.pool.plan<T>(problem.shape);
      EXPECT_NE(plan.implementation(MapKind::vjp_from_indices), "reference") << line;
      EXPECT_EQ(plan.implementation(MapKind::jvp_from_indices), "indices") << line;
    };
    expect_compiled.operator()<float>();
    expect_compiled.operator()<double>();
    expect_compiled.operator()<f16>();
    expect_compiled.operator()<bf16>();
  }
}

}  // namespace
}  // namespace ndpool::testing
