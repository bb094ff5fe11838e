// Every implementation of the list on every problem that it accepts: all give the same bytes.
#include "support/generated.hpp"
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ndpool::testing {

template <class T>
class Implementations : public ::testing::Test {};
#define NDPOOL_ROW(name, type) type,
using AllScalars = ::testing::Types<NDPOOL_ALL_SCALARS(NDPOOL_ROW) float>;
#undef NDPOOL_ROW
TYPED_TEST_SUITE(Implementations, AllScalars);

/// Runs a map with one implementation.
template <class T>
Array<T> run_map(const Problem& problem, MapKind map, const PlanOptions& options, const Array<T>& x, const Array<T>& gy) {
  const Plan<T> plan = problem.pool.plan<T>(problem.shape, {}, options);
  if (map == MapKind::vjp) {
    Array<T> gx(problem.shape);
    plan.vjp(x.begin(), gy.begin(), gx.begin());
    return gx;
  }
  Array<T> y(plan.output_shape());
  if (map == MapKind::forward) plan.forward(x.begin(), y.begin());
  if (map == MapKind::jvp) plan.jvp(x.begin(), x.begin(), y.begin());
  return y;
}

/// Sums are compared byte for byte; of extremes neither the sign of a zero nor the payload of a NaN is stated.
template <class T>
bool agree(const std::string& line, const Array<T>& a, const Array<T>& b) {
  if (!has_winners(line)) return same_bits(a, b);
  for (Index i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i]) && !(spec::is_nan(a[i]) && spec::is_nan(b[i]))) return false;
  return true;
}

TYPED_TEST(Implementations, AgreeOnWhatTheyAccept) {
  using T = TypeParam;
  std::mt19937_64 random(seed());
  std::set<std::string_view> used;
  const int count = has_sanitizer ? 200 : 1500;
  for (int i = 0; i < count; ++i) {
    const std::string line = generated_problem(random, false);
    const Problem problem = parse_problem(line);
    std::vector<MapKind> maps = {MapKind::forward};
    if constexpr (!std::integral<T>) maps.insert(maps.end(), {MapKind::jvp, MapKind::vjp});
    try {
      problem.pool.plan<T>(problem.shape);
    } catch (const Error&) {
      continue;
    }
    const Plan<T> plan = problem.pool.plan<T>(problem.shape);
    const Array<T> x = awkward_numbers<T>(problem.shape, random), gy = awkward_numbers<T>(plan.output_shape(), random);
    for (const MapKind map : maps) {
      const Array<T> chosen = run_map<T>(problem, map, {}, x, gy);
      for (const std::string_view name : plan.implementations(map)) {
        if (name == "reference" && map == MapKind::vjp) continue;  // adds in an order of its own
        used.insert(name);
        const Array<T> forced = run_map<T>(problem, map, {.implementation = std::string(name)}, x, gy);
        ASSERT_TRUE(agree(line, chosen, forced))
            << name_of(map) << " by " << name << " and by " << plan.implementation(map) << " differ, problem " << line;
      }
    }
  }
  EXPECT_TRUE(used.contains("general"));
}

TEST(PlanOptions, ForceAnImplementationByItsName) {
  const Pool pool = max_pool({.kernel = {2, 2}});
  EXPECT_EQ(pool.plan<float>({8, 64, 64}).implementation(MapKind::forward), "small_windows");
  const Plan<float> general = pool.plan<float>({8, 64, 64}, {}, {.implementation = "general"});
  EXPECT_EQ(general.implementation(MapKind::forward), "general");
  EXPECT_EQ(general.implementation(MapKind::vjp), "argmax") << "maps without that name keep their choice";
  const Plan<float> reference = pool.plan<float>({8, 64, 64}, {}, {.implementation = "reference"});
  EXPECT_EQ(reference.implementation(MapKind::vjp), "reference");
  EXPECT_EQ(reference.scratch_bytes(), 0U);
}

TEST(PlanOptions, NameWhatAcceptsTheProblemIfTheNameDoesNot) {
  const auto message = [](const char* name) -> std::string {
    try {
      sum_pool({.kernel = {3}}).plan<std::int64_t>({64}, {}, {.implementation = name});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("rows"), "");
  EXPECT_EQ(message("general"), "no implementation general accepts this problem; these do: rows (forward), reference");
  EXPECT_EQ(message("nonsense"), "no implementation nonsense accepts this problem; these do: rows (forward), reference");
}

TEST(PlanOptions, ServeEveryBuiltInScalarWithoutTheReference) {
  const Shape shape = {3, 40, 50};
  const auto check = [&]<class T>() {
    for (const Pool& pool : {max_pool({.kernel = {5, 3}}), min_pool({.kernel = {2, 2}, .stride = {1, 3}}),
                             adaptive_max_pool({.output_size = {7, 3}}), global_max_pool({.axes = {1, 2}})})
      EXPECT_NE(pool.plan<T>(shape).implementation(MapKind::forward), "reference");
  };
#define NDPOOL_ROW(name, type) check.template operator()<type>();
  NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
}

}  // namespace ndpool::testing
