// The kernels of smooth max and Lp against the reference in long double, on every instruction set this machine has:
// within the bounds that docs/semantics.md states, also for numbers that leave the range of a plain formula.
#include "support/kernels.hpp"
#include "support/sweep.hpp"

#include <cmath>
#include <functional>

namespace ndpool::testing {

using Exact = long double;

/// A pool as a line, and what its error bounds depend on.
struct Case {
  explicit Case(const std::string& text) : line(text), problem(parse_problem(text)) {
    is_lp = line.substr(0, line.find(' ')).ends_with("lp");
    parameter = is_lp ? number("p=", 2) : number("beta=", 1);
    has_zeros = !is_lp && line.find("pad_mode=ignore") == std::string::npos;
    geometry = problem.pool.geometry(problem.shape);
  }
  double number(const std::string& name, double otherwise) const {
    const std::size_t at = line.find(" " + name);
    return at == std::string::npos ? otherwise : std::stod(line.substr(at + 1 + name.size()));
  }

  std::string line;
  Problem problem;
  bool is_lp, has_zeros;
  double parameter;
  Geometry geometry;
};

/// Lines of the sweep that have kernels, with a p that floats can hold: all but those with p = infinity, which have
/// none for derivatives, and with windows that hold no cell.
bool has_kernels(const std::string& line) {
  if (!is_transcendental(line) || line.find("p=inf") != std::string::npos) return false;
  const Problem problem = parse_problem(line);
  return !problem.pool.geometry(problem.shape).empty_window();
}
std::string with_short_p(std::string line) {
  const std::size_t at = line.find("p=2.3");
  return at == std::string::npos ? line : line.replace(at, 5, "p=2.25");
}

template <class T>
Array<Exact> exact(const Array<T>& values) {
  Array<Exact> copy(values.shape());
  for (Index i = 0; i < values.size(); ++i) copy[i] = static_cast<Exact>(values[i]);
  return copy;
}
Array<Exact> magnitudes(Array<Exact> values) {
  Array<Exact> copy(values.shape());
  for (Index i = 0; i < values.size(); ++i) copy[i] = std::abs(values[i]);
  return copy;
}

template <class T>
Exact last_place(Exact of) {
  const T size = static_cast<T>(std::abs(of));
  return static_cast<Exact>(std::nextafter(size, std::numeric_limits<T>::infinity())) - static_cast<Exact>(size);
}

/// What the window of an output sees.
struct Seen {
  Index count = 0;  ///< taps, and padded zeros that take part
  Exact lowest = std::numeric_limits<Exact>::infinity(), highest = -lowest;
};
Seen seen_by(const Case& problem, const Array<Exact>& x, const Shape& output) {
  const spec::WindowAt<max_rank> window(problem.geometry, output);
  Seen seen;
  const auto see = [&](Exact value) {
    seen.lowest = std::min(seen.lowest, value);
    seen.highest = std::max(seen.highest, value);
  };
  const View<const Exact> view = x.view();
  spec::for_each_tap(window, [&](const spec::Tap<max_rank>& tap) { see(view[tap.position]); });
  const TapCounts counts = window.counts();
  seen.count = problem.has_zeros ? counts.counted : counts.real;
  if (seen.count > counts.real) see(0);
  return seen;
}

/// The largest errors in units of their bounds.
struct Worst {
  Exact value = 0, jvp = 0, vjp = 0;
};

/// True if the two are the same special number; a finite one may round to infinity.
template <class T>
bool same_special(T value, Exact expected) {
  if (std::isnan(expected)) return std::isnan(value);
  const auto almost_infinite =
      static_cast<Exact>(std::numeric_limits<T>::max() * (1 - 4 * std::numeric_limits<T>::epsilon()));
  return std::isinf(value) && std::abs(expected) >= almost_infinite && std::signbit(value) == std::signbit(expected);
}

/// What is expected takes long, so it is found once for all targets.
template <class Check>
void on_every_target(Check check) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE("target " + target);
    const ForcedTarget forced(target);
    check();
    if (::testing::Test::HasFailure()) return;
  }
}

template <class T>
void check_values(const Case& problem, const Array<T>& x, const Array<Exact>& exact_x, const Array<Exact>& expected,
                  Worst& worst) {
  const Array<T> y = forward(problem.problem.pool, x);
  Index i = 0;
  spec::for_each_position(problem.geometry.output_shape(), [&](const Shape& output) {
    const Seen seen = seen_by(problem, exact_x, output);
    const Exact spread = std::log(static_cast<Exact>(seen.count)) / std::abs(static_cast<Exact>(problem.parameter));
    const Exact shift = problem.parameter < 0 ? seen.lowest : seen.highest;
    const Exact unit = problem.is_lp ? last_place<T>(expected[i]) * std::max<Exact>(1, spread)
                                     : last_place<T>(std::max({std::abs(expected[i]), std::abs(shift), spread}));
    if (!same_special(y[i], expected[i])) {
      const Exact error = std::abs(static_cast<Exact>(y[i]) - expected[i]) / unit;
      ASSERT_LE(error, 4) << "output " << i << ": " << y[i] << " instead of " << expected[i];
      worst.value = std::max(worst.value, error);
    }
    ++i;
  });
}
template <class T>
void check_values(const Case& problem, const Array<T>& x, Worst& worst) {
  const Array<Exact> exact_x = exact(x), expected = forward(problem.problem.pool.without_kernels(), exact_x);
  on_every_target([&] { check_values(problem, x, exact_x, expected, worst); });
}

/// Weights have the relative error of exp or pow, which grows with the argument.
Exact derivative_bound(const Case& problem, const Array<Exact>& x) {
  if (problem.is_lp) return 32 * std::max(1.0, problem.parameter);
  Exact lowest = std::numeric_limits<Exact>::infinity(), highest = -lowest;
  for (const Exact& value : x) {
    if (!std::isfinite(value)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  return 32 * (1 + std::abs(static_cast<Exact>(problem.parameter)) * std::max<Exact>(0, highest - lowest));
}

template <class T>
void check_derivatives(const Case& problem, const Array<T>& x, const Array<T>& dx, const Array<T>& gy, Worst& worst) {
  const Pool pool = problem.problem.pool, by_spec = pool.without_kernels();
  const Array<Exact> exact_x = exact(x), same_signs = problem.is_lp ? magnitudes(exact_x) : exact_x;
  const Exact bound = derivative_bound(problem, exact_x) * std::numeric_limits<T>::epsilon();
  const auto check = [&](const char* name, const Array<T>& found, const Array<T>& same_type,
                         const Array<Exact>& expected, const Array<Exact>& size, const Array<T>& tangents,
                         Exact& most) {
    // A weight below the normal range may count as 0; in Lp already if it is below the root of that, since its power is
    // relative to the largest number of a block.
    Exact largest = 1;
    for (const T& tangent : tangents) largest = std::max(largest, static_cast<Exact>(std::abs(tangent)));
    const Exact taps = static_cast<Exact>(problem.geometry.tap_count());
    const auto smallest = static_cast<Exact>(std::numeric_limits<T>::min());
    const Exact lost = (problem.is_lp ? std::sqrt(smallest) : smallest) * largest * taps;
    for (Index i = 0; i < found.size(); ++i) {
      if (same_special(found[i], expected[i])) continue;
      // A tap of weight 0 takes no part in a window that is NaN, and T has more weights that are 0.
      if (std::isnan(expected[i]) && !std::isnan(same_type[i])) continue;
      const Exact unit = bound * size[i] + lost;
      const Exact error = std::abs(static_cast<Exact>(found[i]) - expected[i]) / unit;
      ASSERT_LE(error, 1) << name << " " << i << ": " << found[i] << " instead of " << expected[i];
      most = std::max(most, error);
    }
  };
  const Array<Exact> exact_dx = exact(dx), exact_gy = exact(gy);
  const Array<T> same_dy = jvp(by_spec, x, dx), same_gx = vjp(by_spec, x, gy);
  const Array<Exact> dy = jvp(by_spec, exact_x, exact_dx), gx = vjp(by_spec, exact_x, exact_gy);
  const Array<Exact> size_of_dy = jvp(by_spec, same_signs, magnitudes(exact_dx));
  const Array<Exact> size_of_gx = vjp(by_spec, same_signs, magnitudes(exact_gy));
  on_every_target([&] {
    check("jvp", jvp(pool, x, dx), same_dy, dy, size_of_dy, dx, worst.jvp);
    check("vjp", vjp(pool, x, gy), same_gx, gx, size_of_gx, gy, worst.vjp);
  });
}

template <class T>
Array<T> normal_numbers(const Shape& shape, std::mt19937_64& random, double scale = 1, double offset = 0) {
  Array<T> values(shape);
  std::normal_distribution<double> normal(offset, scale);
  for (T& value : values) value = static_cast<T>(normal(random));
  return values;
}

template <class T>
class AnalyticKernel : public ::testing::Test {
 protected:
  void TearDown() override {
    this->RecordProperty("worst_value", std::to_string(worst_.value));
    if (std::getenv("NDPOOL_SHOW") != nullptr)
      std::fprintf(stderr, "value %.2Lf of 4, jvp %.2Lf of 1, vjp %.2Lf of 1\n", worst_.value, worst_.jvp, worst_.vjp);
  }
  Worst worst_;
};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AnalyticKernel, Floats);

TYPED_TEST(AnalyticKernel, KeepsTheBoundsOnEveryGeometry) {
  int count = 0;
  sweep(has_kernels, [&](const Problem& original, std::mt19937_64& random) {
    static_cast<void>(original);
    static_cast<void>(random);
    ++count;
  });
  EXPECT_GE(count, 300);
  for (const std::string& line : sweep_problems()) {
    if (!has_kernels(line)) continue;
    SCOPED_TRACE("problem: " + with_short_p(line));
    std::mt19937_64 random(seed() + std::hash<std::string>()(line));
    const Case problem(with_short_p(line));
    const Shape &shape = problem.problem.shape, output_shape = problem.problem.pool.output_shape(shape);
    ASSERT_NE(problem.problem.pool.template plan<TypeParam>(shape).implementation(MapKind::forward), "reference");
    const Array<TypeParam> x = normal_numbers<TypeParam>(shape, random, 2);
    check_values(problem, x, this->worst_);
    check_derivatives(problem, x, normal_numbers<TypeParam>(shape, random),
                      normal_numbers<TypeParam>(output_shape, random), this->worst_);
    if (::testing::Test::HasFailure()) return;
  }
}

const std::vector<std::string> hostile_geometries = {
    "shape=2,7,37 kernel=2,2",
    "shape=2,7,37 kernel=3,3 stride=1,1 padding=1,1",
    "shape=12,40 kernel=5,9 stride=2,1 padding=2,4 dilation=1,1",
    "shape=1,7,9,5 kernel=3,2 stride=2,1 padding=1,0 axes=1,2",
    "shape=4,5,6 kernel=2,3,2 stride=1,1,1 padding=1,1,1",
    "shape=2100 kernel=3 stride=1",
};

std::vector<std::string> hostile_problems() {
  std::vector<std::string> lines;
  for (const std::string& geometry : hostile_geometries) {
    for (const char* beta : {"1", "-1", "100", "-0.0078125"})
      for (const char* mode : {"zero", "ignore"})
        lines.push_back("smooth-max " + geometry + " beta=" + beta + " pad_mode=" + mode);
    for (const char* p : {"0.5", "1", "2", "2.25", "3", "10"}) lines.push_back("lp " + geometry + " p=" + p);
  }
  for (const char* op : {"smooth-max beta=3", "smooth-max beta=-0.5", "lp p=2", "lp p=3.5"}) {
    const std::string words = op, name = words.substr(0, words.find(' ')), rest = words.substr(words.find(' '));
    lines.push_back("adaptive-" + name + " shape=1,29,31 output_size=7,5" + rest);
    lines.push_back("adaptive-" + name + " shape=9,11,3 axes=0,1 output_size=10,13" + rest);
    lines.push_back("global-" + name + " shape=2,30,101" + rest);
    lines.push_back("global-" + name + " shape=20,20,3 axes=0,1" + rest);
  }
  return lines;
}

/// Arrays by the way they are unpleasant.
template <class T>
std::vector<std::pair<const char*, std::function<Array<T>(const Shape&, std::mt19937_64&)>>> hostile_data() {
  using Limits = std::numeric_limits<T>;
  const auto mixed = [](std::initializer_list<T> specials, double share) {
    const std::vector<T> list(specials);
    return [=](const Shape& shape, std::mt19937_64& random) {
      Array<T> x = normal_numbers<T>(shape, random);
      for (T& value : x)
        if (std::uniform_real_distribution<double>(0, 1)(random) < share) value = list[random() % list.size()];
      return x;
    };
  };
  const auto normal = [](double scale, double offset) {
    return [=](const Shape& shape, std::mt19937_64& random) { return normal_numbers<T>(shape, random, scale, offset); };
  };
  const auto constant = [](T value) {
    return [=](const Shape& shape, std::mt19937_64&) { return Array<T>(shape, value); };
  };
  return {
      {"wide", normal(30, 0)},
      {"far", normal(1, 1000)},
      {"far below", normal(1, -1000)},
      {"very wide", normal(3000, 0)},
      {"small", normal(1e-3, 0)},
      {"tiny", normal(1e-20, 0)},
      {"huge and tiny", mixed({T(1e30), T(-1e30), T(1e-30), T(-1e-30)}, 0.5)},
      {"zeros", constant(0)},
      {"equal", constant(T(1.375))},
      {"many zeros", mixed({T(0), T(-0.0)}, 0.8)},
      {"denormal", mixed({Limits::denorm_min(), -Limits::denorm_min(), Limits::min() / 2, T(0)}, 1)},
      {"largest", mixed({Limits::max() / 4, -Limits::max() / 4}, 0.3)},
      {"infinite", mixed({Limits::infinity(), -Limits::infinity()}, 0.1)},
      {"lowest", mixed({-Limits::infinity()}, 0.7)},
      {"not numbers", mixed({Limits::quiet_NaN()}, 0.02)},
      {"one infinity", mixed({Limits::infinity(), Limits::quiet_NaN()}, 0.001)},
  };
}

TYPED_TEST(AnalyticKernel, KeepsTheBoundsOnHostileNumbers) {
  for (const auto& [name, make] : hostile_data<TypeParam>())
    for (const std::string& line : hostile_problems()) {
      SCOPED_TRACE(std::string("data: ") + name + ", problem: " + line);
      std::mt19937_64 random(seed() + std::hash<std::string>()(line));
      const Case problem(line);
      const Shape& shape = problem.problem.shape;
      ASSERT_NE(problem.problem.pool.template plan<TypeParam>(shape).implementation(MapKind::forward), "reference");
      const Array<TypeParam> x = make(shape, random);
      check_values(problem, x, this->worst_);
      bool is_finite = true;
      for (const TypeParam& value : x) is_finite = is_finite && std::isfinite(value);
      // The derivatives of Lp at infinity are not specified, and below the normal range there are no digits to keep.
      const std::string data = name;
      if (problem.is_lp && (!is_finite || data == "denormal" || data == "huge and tiny" || data == "largest")) continue;
      check_derivatives(problem, x, normal_numbers<TypeParam>(shape, random),
                        normal_numbers<TypeParam>(problem.problem.pool.output_shape(shape), random), this->worst_);
      if (::testing::Test::HasFailure()) return;
    }
}

TYPED_TEST(AnalyticKernel, LargestMagnitudesAreExact) {
  int count = 0;
  for (const auto& [name, make] : hostile_data<TypeParam>())
    for (std::string line : hostile_problems()) {
      const std::size_t at = line.find("p=2");
      if (at == std::string::npos || line.find("p=2.25") != std::string::npos) continue;
      line.replace(at, 3, "p=inf");
      SCOPED_TRACE(std::string("data: ") + name + ", problem: " + line);
      std::mt19937_64 random(seed() + std::hash<std::string>()(line));
      const Problem problem = parse_problem(line);
      ASSERT_NE(problem.pool.template plan<TypeParam>(problem.shape).implementation(MapKind::forward), "reference");
      const Array<TypeParam> x = make(problem.shape, random), expected = forward(problem.pool.without_kernels(), x);
      on_every_target([&] {
        const Array<TypeParam> y = forward(problem.pool, x);
        for (Index i = 0; i < y.size(); ++i)
          ASSERT_TRUE(y[i] == expected[i] || (std::isnan(y[i]) && std::isnan(expected[i])))
              << "output " << i << ": " << y[i] << " instead of " << expected[i];
      });
      if (::testing::Test::HasFailure()) return;
      ++count;
    }
  EXPECT_GE(count, 100);
}

TYPED_TEST(AnalyticKernel, TangentsOfAnySizeKeepTheirDigits) {
  for (const std::string& line : hostile_problems())
    for (const double size : line.find("kernel=3,3") == std::string::npos
                                 ? std::vector<double>{1e-25}
                                 : std::vector<double>{1e-36, 1e-25, 1e25, 1e30}) {
      SCOPED_TRACE("size " + std::to_string(size) + ", problem: " + line);
      std::mt19937_64 random(seed());
      const Case problem(line);
      const Shape& shape = problem.problem.shape;
      Array<TypeParam> dx = normal_numbers<TypeParam>(shape, random, size);
      for (TypeParam& value : dx)
        if (random() % 4 == 0) value = TypeParam(0);
      check_derivatives(problem, normal_numbers<TypeParam>(shape, random, 8), dx,
                        normal_numbers<TypeParam>(problem.problem.pool.output_shape(shape), random, size),
                        this->worst_);
      if (::testing::Test::HasFailure()) return;
    }
}

TYPED_TEST(AnalyticKernel, StridedArraysGiveWhatPackedOnesGive) {
  for (const std::string& line : sweep_problems()) {
    if (!has_kernels(line)) continue;
    SCOPED_TRACE("problem: " + line);
    std::mt19937_64 random(seed());
    const Problem problem = parse_problem(line);
    const Array<TypeParam> x = normal_numbers<TypeParam>(problem.shape, random), y = forward(problem.pool, x);
    const Array<TypeParam> dy = jvp(problem.pool, x, x), gx = vjp(problem.pool, x, y);
    const StridedArray<TypeParam> strided_x(x), strided_gy(y);
    StridedArray<TypeParam> strided_y{Array<TypeParam>(y.shape())}, strided_dy{Array<TypeParam>(y.shape())};
    StridedArray<TypeParam> strided_gx{Array<TypeParam>(x.shape(), 77)};
    problem.pool.forward(strided_x.view, strided_y.view);
    problem.pool.jvp(strided_x.view, strided_x.view, strided_dy.view);
    problem.pool.vjp(strided_x.view, strided_gy.view, strided_gx.view);
    // Other strides make other blocks, whose powers are relative to other numbers.
    const auto expect_near = [](const Array<TypeParam>& found, const Array<TypeParam>& expected) {
      for (Index i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 500 * std::numeric_limits<TypeParam>::epsilon());
    };
    expect_near(strided_y.packed(), y);
    expect_near(strided_dy.packed(), dy);
    expect_near(strided_gx.packed(), gx);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace ndpool::testing
