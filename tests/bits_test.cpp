// The same bits, whatever the number of threads, the instruction set and the slabs an array is cut into.
#include "support/kernels.hpp"
#include "support/sweep.hpp"

namespace ndpool::testing {

/// What every map of a pool makes of x, and of itself.
template <class T>
struct Results {
  Results(const std::string& line, const Pool& pool, const Array<T>& x) : maps{forward(pool, x)} {
    if (has_winners(line)) winners = indices(pool, x);
    if constexpr (!std::integral<T>) {
      maps.push_back(jvp(pool, x, x));
      maps.push_back(vjp(pool, x, maps.front()));
    }
  }
  friend bool operator==(const Results& a, const Results& b) {
    return std::equal(a.maps.begin(), a.maps.end(), b.maps.begin(), b.maps.end(), same_bits<T>) &&
           a.winners == b.winners;
  }
  std::vector<Array<T>> maps;
  Array<Index> winners;
};

/// Problems of the case files, and larger ones of which threads get their share.
std::vector<std::string> lines() {
  std::vector<std::string> all;
  for (const char* file : {"traps.txt", "networks.txt", "long_rows.txt"})
    for (const NamedProblem& named : read_cases(file))
      if (!is_transcendental(named.line)) all.push_back(named.line);
  std::mt19937_64 random(seed());
  const auto between = [&](Index low, Index high) {
    return std::to_string(std::uniform_int_distribution<Index>(low, high)(random));
  };
  for (int i = 0; i < 24; ++i) {  // more than 64 KiB even of bytes: planes, channels last, and channels between
    const std::string op = std::vector<std::string>{"max", "min", "sum", "avg"}[random() % 4];
    const std::string kernel = between(1, 5) + "," + between(1, 5), stride = between(1, 3) + "," + between(1, 3);
    const std::string window = " kernel=" + kernel + " stride=" + stride + " padding=" + between(0, 2) + "," +
                               between(0, 2) + " empty=identity ceil";
    const std::string rows = between(70, 90), columns = between(70, 90), channels = between(14, 20);
    const std::string words = op == "sum" ? window.substr(0, window.find(" empty")) : window;
    if (i % 4 == 0) all.push_back(op + " shape=" + channels + "," + rows + "," + columns + words);
    if (i % 4 == 1) all.push_back(op + " shape=" + rows + "," + columns + "," + channels + " axes=0,1" + words);
    if (i % 4 == 2) all.push_back(op + " shape=" + rows + "," + channels + "," + columns + " axes=0,2" + words);
    if (i % 4 == 3)
      all.push_back("adaptive-" + op + " shape=" + channels + "," + rows + "," + columns +
                    " output_size=" + between(1, 60) + "," + between(1, 60));
  }
  all.push_back("global-avg shape=900,9,9 axes=1,2");
  all.push_back("global-max shape=80,900 axes=0");
  all.push_back("sum shape=100001 kernel=3 stride=1");
  return all;
}

template <class T>
class Bits : public ::testing::Test {};
using BitScalars = ::testing::Types<float, double, std::uint8_t, std::int32_t>;
TYPED_TEST_SUITE(Bits, BitScalars);

/// Calls check(line, run) for every line; run() computes all maps under the settings of the moment.
template <class T, class Check>
void for_each_line(Check check) {
  for (const std::string& line : lines()) {
    SCOPED_TRACE(line);
    const Problem problem = parse_problem(line);
    std::mt19937_64 random(seed());
    const Array<T> x = awkward_numbers<T>(problem.shape, random, Specials::none);
    check([&] { return Results<T>(line, problem.pool, x); });
  }
}

TYPED_TEST(Bits, DoNotDependOnTheNumberOfThreads) {
  for_each_line<TypeParam>([](auto run) {
    const auto with_threads = [&](int count) {
      const Threads threads(count);
      return run();
    };
    const auto alone = with_threads(1);
    for (const int count : {2, 3, 8}) EXPECT_EQ(with_threads(count) == alone, true) << count << " threads";
  });
}

TYPED_TEST(Bits, DoNotDependOnTheInstructionSet) {
  for_each_line<TypeParam>([](auto run) {
    const auto best = run();
    for (const std::string& target : targets()) {
      const ForcedTarget forced(target);
      EXPECT_EQ(run() == best, true) << target;
    }
  });
}

/// A view of the positions from `begin` up to `end` of one axis.
template <class T>
View<T> cut(const View<T>& whole, int axis, Index begin, Index end) {
  Shape shape = whole.shape();
  shape[axis] = end - begin;
  return {whole.data() + begin * whole.strides()[axis], shape, whole.strides()};
}

/// Pools `x` in slabs of up to `thickness` outputs along one axis, each with just the cells its windows see.
template <class T>
Array<T> forward_in_slabs(const Pool& pool, const Array<T>& x, int axis, Index thickness) {
  const Geometry geometry = pool.geometry(x.shape());
  const Index outputs = geometry.axes[axis].output, begins = part_begins(geometry.axes[axis]);
  Array<T> y(pool.output_shape(x.shape()));
  for (Index begin = 0, end = 0; begin < outputs; begin = end) {
    end = begin + thickness < begins ? begin + thickness : outputs;
    Geometry slab = geometry;
    const Range cells = take_part(slab, axis, {begin, end});
    pool.over(slab).forward(cut(x.view(), axis, cells.begin, cells.end), cut(y.view(), axis, begin, end));
  }
  return y;
}

TYPED_TEST(Bits, OfSlabsAreThoseOfTheWhole) {
  std::mt19937_64 random(seed());
  const auto between = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  int slabs = 0;
  for (int i = 0; i < 200; ++i) {
    const bool large = i % 20 == 0;
    const Index rows = large ? between(150, 200) : between(12, 30),
                columns = large ? between(120, 140) : between(12, 40);
    const Shape shape = i % 2 == 0 ? Shape{rows, columns, 3} : Shape{3, rows, columns};
    const Window window{.kernel = {between(1, 6), between(1, 6)},
                        .stride = {between(1, 4), between(1, 4)},
                        .padding = {Pad(between(0, 2), between(0, 2)), Pad(between(0, 2), between(0, 2))},
                        .dilation = {between(1, 2), between(1, 2)},
                        .axes = i % 2 == 0 ? Shape{0, 1} : Shape{1, 2},
                        .ceil_mode = i % 3 == 0};
    Geometry geometry;
    if (resolve(window, shape, geometry) || geometry.empty_window()) continue;  // a slab of padding alone is no array
    const Array<TypeParam> x = awkward_numbers<TypeParam>(shape, random, Specials::none);
    for (const Pool::Reduction& reduction :
         {Pool::Reduction(reduction::Max{}), Pool::Reduction(reduction::Min{}), Pool::Reduction(reduction::Sum{}),
          Pool::Reduction(reduction::Average{}), Pool::Reduction(reduction::Average{{.count_include_pad = false}})}) {
      const Pool pool(window, reduction);
      const Array<TypeParam> whole = forward(pool, x);
      for (const Index thickness : {Index{1}, Index{2}, Index{7}, between(1, 64)}) {
        EXPECT_TRUE(same_bits(forward_in_slabs(pool, x, static_cast<int>(window.axes[0]), thickness), whole))
            << "case " << i << ", reduction " << reduction.index() << ", slabs of " << thickness << " outputs";
        ++slabs;
      }
    }
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(slabs, 2000);
}

}  // namespace ndpool::testing
