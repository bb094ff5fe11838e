// Every implementation of the list on every problem that it accepts: all give the same bytes.
#include "support/generated.hpp"
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace ndpool::testing {

template <class T>
class Implementations : public ::testing::Test {};
#define NDPOOL_ROW(name, type) type,
using AllScalars = ::testing::Types<NDPOOL_DTYPES(NDPOOL_ROW) float>;
#undef NDPOOL_ROW
TYPED_TEST_SUITE(Implementations, AllScalars);

/// Runs a map with one implementation.
template <class T>
Array<T> run_map(const Problem& problem, MapKind map, const PlanOptions& options, const Array<T>& x,
                 const Array<T>& gy) {
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

/// Values and indices of extremes by one implementation.
template <class T, class I>
std::pair<Array<T>, Array<I>> run_argmax(const Problem& problem, const PlanOptions& options, const Array<T>& x) {
  const Plan<T> plan = problem.pool.plan<T>(problem.shape, {}, options);
  std::pair<Array<T>, Array<I>> result{Array<T>(plan.output_shape()), Array<I>(plan.output_shape())};
  plan.forward(x.begin(), result.first.begin(), result.second.begin());
  return result;
}

template <class T>
using Bytes = std::array<std::byte, sizeof(T)>;

/// Sums of the kernels are compared byte for byte, with those of the reference but for the payload of a NaN; of
/// extremes neither that nor the sign of a zero is stated.
template <class T>
bool agree(const std::string& line, const Array<T>& a, const Array<T>& b, bool with_reference = true) {
  const auto is_same_number = [](const T& p, const T& q) {
    return std::bit_cast<Bytes<T>>(p) == std::bit_cast<Bytes<T>>(q) || (spec::is_nan(p) && spec::is_nan(q));
  };
  if (!has_winners(line))
    return with_reference ? std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same_number) : same_bits(a, b);
  for (Index i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i]) && !(spec::is_nan(a[i]) && spec::is_nan(b[i]))) return false;
  return true;
}

Index plan_tap_count(const Problem& problem) { return problem.pool.geometry(problem.shape).tap_count(); }

template <class T, class I>
void check_argmax(const Problem& problem, const std::string& line, const Array<T>& x,
                  std::set<std::string_view>& used) {
  const auto [values, indices] = run_argmax<T, I>(problem, {.implementation = "reference"}, x);
  const Plan<T> plan = problem.pool.plan<T>(problem.shape);
  for (const std::string_view name : plan.implementations(MapKind::forward_with_indices)) {
    used.insert(name);
    const auto [y, winners] = run_argmax<T, I>(problem, {.implementation = std::string(name)}, x);
    ASSERT_TRUE(agree(line, y, values)) << "values beside indices by " << name << ", problem " << line;
    ASSERT_TRUE(same_bits(winners, indices))
        << "indices of " << sizeof(I) << " bytes by " << name << ", problem " << line;
  }
}

/// Runs a problem with every implementation that accepts it. `zeros`: most numbers are zeros of both signs.
template <class T>
void check_all_implementations(const std::string& line, std::mt19937_64& random, std::set<std::string_view>& used,
                               bool zeros = false) {
  const Problem problem = parse_problem(line);
  try {
    static_cast<void>(problem.pool.plan<T>(problem.shape));
  } catch (const Error&) {
    return;
  }
  const Plan<T> plan = problem.pool.plan<T>(problem.shape);
  Array<T> x = awkward_numbers<T>(problem.shape, random);
  const Array<T> gy = awkward_numbers<T>(plan.output_shape(), random);
  if (zeros)
    for (T& value : x)
      if (random() % 8 != 0) value = random() % 2 == 0 ? T(0) : T(-T(0));
  if (has_winners(line)) {
    check_argmax<T, Index>(problem, line, x, used);
    if (plan_tap_count(problem) < 0xFF) check_argmax<T, std::uint8_t>(problem, line, x, used);
    if (plan_tap_count(problem) < 0xFFFF) check_argmax<T, std::uint16_t>(problem, line, x, used);
    check_argmax<T, std::uint32_t>(problem, line, x, used);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::vector<MapKind> maps = {MapKind::forward};
  if constexpr (!std::integral<T>) maps.insert(maps.end(), {MapKind::jvp, MapKind::vjp});
  for (const MapKind map : maps) {
    const Array<T> chosen = run_map<T>(problem, map, {}, x, gy);
    for (const std::string_view name : plan.implementations(map)) {
      if (name == "reference" && map == MapKind::vjp) continue;  // adds in an order of its own
      used.insert(name);
      const Array<T> forced = run_map<T>(problem, map, {.implementation = std::string(name)}, x, gy);
      ASSERT_TRUE(agree(line, chosen, forced, name == "reference"))
          << name_of(map) << " by " << name << " and by " << plan.implementation(map) << " differ, problem " << line;
    }
  }
}

TYPED_TEST(Implementations, AgreeOnWhatTheyAccept) {
  std::mt19937_64 random(seed());
  std::set<std::string_view> used;
  const int count = has_sanitizer ? 200 : 1500;
  for (int i = 0; i < count; ++i) {
    check_all_implementations<TypeParam>(generated_problem(random, false), random, used);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_TRUE(used.contains("general"));
}

/// Small windows over rows that fill vectors, which special cases serve, on zeros of both signs, ties and NaN.
TYPED_TEST(Implementations, AgreeOnSmallWindowsAndSignedZeros) {
  using T = TypeParam;
  std::mt19937_64 random(seed());
  std::set<std::string_view> used;
  for (const char* shape : {"2,9,70", "3,8,67,16", "2,9,41,3", "5,33,33", "40,7,7", "1,70"})
    for (const Index kernel : {1, 2, 3, 4, 9})
      for (const Index stride : {Index{1}, Index{2}, kernel})
        for (const Index padding : {Index{0}, kernel / 2})
          for (const char* op : {"max", "min", "sum", "avg", "avg exclude_pad"}) {
            const std::string name = op, words = name.size() > 3 ? name.substr(3) : "";
            const bool is_row = std::string(shape) == "1,70";
            const auto list = [&](Index n) { return std::to_string(n) + (is_row ? "" : "," + std::to_string(n)); };
            const std::string line = name.substr(0, 3) + " shape=" + shape + " axes=" + (is_row ? "1" : "1,2") +
                                     " kernel=" + list(kernel) + " stride=" + list(stride) +
                                     " padding=" + list(padding) + words;
            check_all_implementations<T>(line, random, used, random() % 2 == 0);
            if (::testing::Test::HasFatalFailure()) return;
          }
}

TEST(PlanOptions, ForceAnImplementationByItsName) {
  const Pool pool = max_pool({.kernel = {2, 2}});
  EXPECT_EQ(pool.plan<float>({8, 64, 64}).implementation(MapKind::forward), "small_windows");
  const Plan<float> general = pool.plan<float>({8, 64, 64}, {}, {.implementation = "general"});
  EXPECT_EQ(general.implementation(MapKind::forward), "general");
  EXPECT_EQ(general.implementation(MapKind::vjp), "general");
  const Plan<float> small = pool.plan<float>({8, 64, 64}, {}, {.implementation = "small_windows"});
  EXPECT_EQ(small.implementation(MapKind::vjp), "argmax") << "maps without that name keep their choice";
  const Plan<float> reference = pool.plan<float>({8, 64, 64}, {}, {.implementation = "reference"});
  EXPECT_EQ(reference.implementation(MapKind::vjp), "reference");
  EXPECT_EQ(reference.scratch_bytes(), 0U);
}

TEST(PlanOptions, NameWhatAcceptsTheProblemIfTheNameDoesNot) {
  const auto message = [](const char* name) -> std::string {
    try {
      static_cast<void>(sum_pool({.kernel = {3}}).plan<std::int64_t>({64}, {}, {.implementation = name}));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("general"), "");
  EXPECT_EQ(message("mixed"), "no implementation mixed accepts this problem; these do: general (forward), reference");
  EXPECT_EQ(message("nonsense"),
            "no implementation nonsense accepts this problem; these do: general (forward), reference");
}

TEST(PlanOptions, ServeEveryBuiltInScalarWithoutTheReference) {
  const Shape shape = {3, 40, 50};
  const auto check = [&]<class T>() {
    for (const Pool& pool :
         {sum_pool({.kernel = {5, 3}}), avg_pool({.kernel = {2, 2}}), global_avg_pool({.axes = {0, 1, 2}}),
          max_pool({.kernel = {5, 3}}), min_pool({.kernel = {2, 2}, .stride = {1, 3}}),
          adaptive_max_pool({.output_size = {7, 3}}), global_max_pool({.axes = {1, 2}})})
      EXPECT_NE(pool.plan<T>(shape).implementation(MapKind::forward), "reference");
  };
#define NDPOOL_ROW(name, type) check.template operator()<type>();
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
}

}  // namespace ndpool::testing
