// Smooth max and Lp give the same bits whatever the number of threads, the slabs an array is cut into and the layout of
// their arrays: also beside NaN, and where powers leave the range of plain numbers. Finite input raises no
// floating-point exception but those of rounding.
#include "support/kernels.hpp"
#include "support/sweep.hpp"

#include <cfenv>
#include <cmath>

namespace ndpool::testing {

template <class T>
class AnalyticBits : public ::testing::Test {};
using AnalyticScalars = ::testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(AnalyticBits, AnalyticScalars);

/// Numbers of several kinds side by side, so that some slices run on plain numbers and others do not.
template <class T>
Array<T> mixed_numbers(const Shape& shape, std::mt19937_64& random, bool has_specials) {
  Array<T> x(shape);
  const Index block = std::max<Index>(1, element_count(shape) / 7);
  for (Index i = 0; i < x.size(); ++i) {
    const double scales[] = {1, 40, 1e-3, 2000, 1, 1e-4, 1};
    const double scale = scales[i / block % 7];
    double value = std::normal_distribution<double>(0, scale)(random);
    if (has_specials && random() % 5000 == 0) {
      const double specials[] = {NAN, INFINITY, -INFINITY, 0};
      value = specials[random() % 4];
    }
    x[i] = static_cast<T>(value);
  }
  return x;
}

const std::vector<std::string> lines = {
    "smooth-max shape=40,60,70 kernel=3,3 stride=1,1 padding=1,1",
    "smooth-max shape=700,300 kernel=5,9 stride=2,3 padding=2,4 beta=-2",
    "smooth-max shape=400,500 kernel=31,2 stride=1,2 beta=30 pad_mode=ignore",
    "smooth-max shape=3,50,60,64 axes=1,2 kernel=3,3 stride=2,2 padding=1,1 beta=4",
    "smooth-max shape=150000 kernel=7 stride=1 padding=3",
    "smooth-max shape=3,4,90000 axes=2 kernel=1 stride=2 padding=0",
    "adaptive-smooth-max shape=600,500 output_size=40,77 beta=0.5",
    "global-smooth-max shape=300,31,40 axes=1,2",
    "global-smooth-max shape=65536",
    "lp shape=40,60,70 kernel=3,3 stride=1,1 padding=1,1 p=2",
    "lp shape=700,300 kernel=5,9 stride=2,3 padding=2,4 p=2.3",
    "lp shape=400,500 kernel=31,2 stride=1,2 p=10",
    "lp shape=3,50,60,64 axes=1,2 kernel=3,3 stride=2,2 padding=1,1 p=0.5",
    "lp shape=150000 kernel=7 stride=1 padding=3 p=1",
    "adaptive-lp shape=600,500 output_size=40,77 p=3",
    "lp shape=600,400 kernel=3,3 stride=2,2 p=inf ties=split",
};

template <class T>
struct Maps {
  Maps(const Pool& pool, const Array<T>& x, const Array<T>& dx, const Array<T>& gy)
      : y(forward(pool, x)), dy(jvp(pool, x, dx)), gx(vjp(pool, x, gy)) {}
  friend bool operator==(const Maps& a, const Maps& b) {
    return same_bits(a.y, b.y) && same_bits(a.dy, b.dy) && same_bits(a.gx, b.gx);
  }
  Array<T> y, dy, gx;
};

TYPED_TEST(AnalyticBits, DoNotDependOnTheNumberOfThreads) {
  for (const std::string& line : lines)
    for (const bool has_specials : {false, true}) {
      SCOPED_TRACE(line);
      const Problem problem = parse_problem(line);
      ASSERT_EQ(problem.pool.template plan<TypeParam>(problem.shape).implementation(MapKind::forward), "analytic");
      ASSERT_EQ(problem.pool.template plan<TypeParam>(problem.shape).implementation(MapKind::vjp), "analytic");
      std::mt19937_64 random(seed());
      const auto x = mixed_numbers<TypeParam>(problem.shape, random, has_specials);
      const auto dx = mixed_numbers<TypeParam>(problem.shape, random, false);
      const auto gy = mixed_numbers<TypeParam>(problem.pool.output_shape(problem.shape), random, false);
      const auto with_threads = [&](int count) {
        const Threads threads(count);
        return Maps<TypeParam>(problem.pool, x, dx, gy);
      };
      const auto alone = with_threads(1);
      for (const int count : {2, 5}) EXPECT_TRUE(with_threads(count) == alone) << count << " threads";
    }
}

/// Every slice of an array that is pooled plane by plane has other numbers beside it: a plane that is alone runs on
/// plain numbers where the whole runs on pairs.
TYPED_TEST(AnalyticBits, OfPlanesAreThoseOfTheWhole) {
  int planes = 0;
  for (const std::string window :
       {"kernel=3,3 stride=1,1 padding=1,1", "kernel=2,5 stride=2,3 padding=1,2", "kernel=9,11 stride=1,1"})
    for (const std::string op : {"smooth-max beta=1", "smooth-max beta=-4", "smooth-max beta=30 pad_mode=ignore",
                                 "lp p=2", "lp p=2.3", "lp p=1", "lp p=3", "lp p=6", "lp p=0.5"}) {
      const std::string name = op.substr(0, op.find(' ')), rest = op.substr(op.find(' '));
      const Problem problem = parse_problem(name + " shape=24,13,17 axes=1,2 " + window + rest);
      SCOPED_TRACE(op + " " + window);
      std::mt19937_64 random(seed());
      const auto x = mixed_numbers<TypeParam>(problem.shape, random, true);
      const auto dx = mixed_numbers<TypeParam>(problem.shape, random, false);
      const Shape output = problem.pool.output_shape(problem.shape);
      const auto gy = mixed_numbers<TypeParam>(output, random, false);
      const Maps<TypeParam> whole(problem.pool, x, dx, gy);
      const Pool plane_pool = problem.pool;
      for (Index p = 0; p < 24; ++p) {
        const auto plane_of = [p](const Array<TypeParam>& from) {
          Shape shape = from.shape();
          shape[0] = 1;
          Array<TypeParam> plane(shape);
          std::copy_n(from.begin() + p * plane.size(), plane.size(), plane.begin());
          return plane;
        };
        const Maps<TypeParam> alone(plane_pool, plane_of(x), plane_of(dx), plane_of(gy));
        ASSERT_TRUE(same_bits(alone.y, plane_of(whole.y))) << "plane " << p;
        ASSERT_TRUE(same_bits(alone.dy, plane_of(whole.dy))) << "JVP of plane " << p;
        ASSERT_TRUE(same_bits(alone.gx, plane_of(whole.gx))) << "VJP of plane " << p;
        ++planes;
      }
    }
  EXPECT_GE(planes, 600);
}

TYPED_TEST(AnalyticBits, OfStridedArraysAreThoseOfPackedOnes) {
  for (const std::string& line : lines) {
    if (line.find("p=inf") != std::string::npos) continue;
    SCOPED_TRACE(line);
    const Problem problem = parse_problem(line);
    std::mt19937_64 random(seed());
    const auto x = mixed_numbers<TypeParam>(problem.shape, random, true);
    const auto gy = mixed_numbers<TypeParam>(problem.pool.output_shape(problem.shape), random, false);
    const Maps<TypeParam> packed(problem.pool, x, x, gy);
    const StridedArray<TypeParam> strided_x(x), strided_gy(gy);
    StridedArray<TypeParam> y{Array<TypeParam>(gy.shape())}, dy{Array<TypeParam>(gy.shape())};
    StridedArray<TypeParam> gx{Array<TypeParam>(x.shape())};
    problem.pool.forward(strided_x.view, y.view);
    problem.pool.jvp(strided_x.view, strided_x.view, dy.view);
    problem.pool.vjp(strided_x.view, strided_gy.view, gx.view);
    EXPECT_TRUE(same_bits(y.packed(), packed.y));
    EXPECT_TRUE(same_bits(dy.packed(), packed.dy));
    EXPECT_TRUE(same_bits(gx.packed(), packed.gx));
  }
}

TYPED_TEST(AnalyticBits, FiniteInputRaisesNoInvalidNorDivideByZero) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const std::string& line : lines) {
      SCOPED_TRACE(target + " " + line);
      const Problem problem = parse_problem(line);
      std::mt19937_64 random(seed());
      auto x = mixed_numbers<TypeParam>(problem.shape, random, false);
      for (TypeParam& value : x)
        if (!std::isfinite(static_cast<float>(value)) || random() % 4 == 0) value = TypeParam(0);
      Array<TypeParam> ones(problem.pool.output_shape(problem.shape), TypeParam(1));
      std::feclearexcept(FE_ALL_EXCEPT);
      const Maps<TypeParam> maps(problem.pool, x, x, ones);
      EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO), 0);
    }
  }
}

}  // namespace ndpool::testing
