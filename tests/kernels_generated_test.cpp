// Kernels against the reference on generated problems: ranks 1 to 5, extents around vector widths, any memory.
//
//   NDPOOL_PROBLEMS=N      runs N problems, over all scalars together, instead of the 20,000 of `make test`
//   NDPOOL_PROBLEM='...'   runs this one, as a failure prints it, with every scalar on every target
#include "equivalence.hpp"
#include "kernels/kernels.hpp"
#include "support/generated.hpp"
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string_view>

// Of the sanitizers' runtime, where there is one.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace ndpool::testing {

template <class T>
class GeneratedProblems : public ::testing::Test {};

struct ScalarName {
  template <class T>
  static std::string GetName(int) {
#define NDPOOL_ROW(name, type) \
  if (std::same_as<T, type>) return #name;
    NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
    return "none";
  }
};

// The rows of NDPOOL_SCALARS end in a comma, so the list gets a last type that is dropped again.
template <class... Ts>
struct AllButTheLast;
template <class... Kept, class Last>
struct AllButTheLast<::testing::Types<Kept...>, Last> {
  using type = ::testing::Types<Kept...>;
};
template <class... Kept, class Next, class... Rest>
requires(sizeof...(Rest) > 0) struct AllButTheLast<::testing::Types<Kept...>, Next, Rest...>
    : AllButTheLast<::testing::Types<Kept..., Next>, Rest...> {
};
#define NDPOOL_ROW(name, type) type,
using Scalars = AllButTheLast<::testing::Types<>, NDPOOL_SCALARS(NDPOOL_ROW) void>::type;
#undef NDPOOL_ROW
TYPED_TEST_SUITE(GeneratedProblems, Scalars, ScalarName);

/// Floats have derivatives and five maps more, so they get twice the share of integers.
template <class T>
constexpr long share() {
  return std::integral<T> ? 1 : 2;
}
constexpr long all_shares() {
  long sum = 0;
#define NDPOOL_ROW(name, type) sum += share<type>();
  NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
  return sum;
}

// A sanitizer makes each problem cost ten times as much.
constexpr long problems_of_a_test_run = has_sanitizer ? 4000 : 20000;
long wanted_problems() {
  const char* given = std::getenv("NDPOOL_PROBLEMS");
  return given != nullptr ? std::strtol(given, nullptr, 10) : problems_of_a_test_run;
}

/// What is being checked: a crash has to say it too.
std::string current;
void print_current() {
  const std::string text = "died, " + current + "\n";
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

void print_current_on_a_crash() {
  if (has_sanitizer) {
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print_current);
    return;
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(number, [](int raised) {
      print_current();
      std::signal(raised, SIG_DFL);
      static_cast<void>(std::raise(raised));
    });
}

template <class T>
Checked check_on(const std::string& target, const std::string& line) {
  const ForcedTarget forced(target);
  current = "target " + target + ", scalar " + ScalarName::GetName<T>(0) + ", NDPOOL_PROBLEM='" + line + "'";
  std::mt19937_64 numbers = numbers_for(line);
  const Checked checked = check_problem<T>(line, numbers);
  EXPECT_EQ(checked.failure, "") << current;
  return checked;
}

template <class T>
void check_on_all_targets(const std::string& line) {
  const std::vector<std::string> names = targets();
  const Checked first = check_on<T>(names.front(), line);
  for (std::size_t i = 1; i < names.size(); ++i)
    EXPECT_EQ(check_on<T>(names[i], line).bits == first.bits, true)
        << "the bits of " << names[i] << " and " << names.front() << " differ, NDPOOL_PROBLEM='" << line << "'";
}

TYPED_TEST(GeneratedProblems, OnceFoundStayFixed) {
  print_current_on_a_crash();
  for (const auto& [name, line] : read_cases("found.txt"))
    if (!std::integral<TypeParam> || !is_transcendental(line)) check_on_all_targets<TypeParam>(line);
}

/// Windows and widths at which rows change from one way of being made in registers to another.
std::vector<std::string> problems_of_rows_in_registers() {
  std::vector<std::string> lines;
  const auto add = [&lines](const char* name, const std::string& shape, const std::string& axes, Index kernel,
                            Index stride, Index padding) {
    const auto twice = [](Index n) { return std::to_string(n) + "," + std::to_string(n); };
    lines.push_back(std::string(name) + " shape=" + shape + " axes=" + axes + " kernel=" + twice(kernel) +
                    " stride=" + twice(stride) + " padding=" + twice(padding));
  };
  for (const char* name : {"max", "min", "avg", "sum"}) {
    for (Index kernel = 1; kernel <= 17; ++kernel)
      for (const Index width : {8, 16, 21})
        for (const Index padding : {Index{0}, kernel / 2})
          if (width + 2 * padding >= kernel)
            add(name, std::to_string(kernel + 2) + "," + std::to_string(width), "0,1", kernel, 1, padding);
    for (Index kernel = 2; kernel <= 4; ++kernel)
      for (Index stride = 1; stride <= kernel; ++stride)
        for (Index padding = 0; padding <= kernel / 2; ++padding) {
          for (Index width = 7; width <= 36; width += 3)
            add(name, "7," + std::to_string(width), "0,1", kernel, stride, padding);
          for (const Index lanes : {3, 7, 8, 17})
            add(name, "6,7," + std::to_string(lanes), "0,1", kernel, stride, padding);
        }
    for (const Index width : {4, 5, 7, 8, 9, 14, 15, 16, 17, 20, 23, 24})
      for (const Index height : {1, 2, 7, 17}) {
        const std::string planes = "5," + std::to_string(height) + "," + std::to_string(width);
        add(name, planes, "1,2", 2, 2, 0);
        add(name, planes, "1,2", 3, 1, 1);
        add(name, planes, "1,2", 3, 2, 1);
        add(name, planes, "1,2", 5, 1, 2);
      }
    for (const Index width : {5, 6, 7, 8, 13, 16, 18, 20, 22, 37})  // pixels of three channels
      for (const Index height : {1, 2, 5, 8})
        for (const Index stride : {1, 2})
          add(name, "2," + std::to_string(height) + "," + std::to_string(width) + ",3", "1,2", 3, stride, 1);
    for (const Index lanes : {16, 24, 33, 300})  // more of them than are walked along together, and a rest
      for (const Index stride : {1, 2, 3}) add(name, "6,7," + std::to_string(lanes), "0,1", 3, stride, 1);
    for (const Index kernel : {4, 5, 7, 8, 13, 16, 17})  // more columns than wait in registers, and than wait at all
      for (const Index stride : {Index{1}, kernel})
        add(name, std::to_string(kernel - 1) + ",18,18", "0,1", kernel, stride, kernel / 2);
    add(name, "5,9,300", "0,1", 5, 1, 2);
    for (const char* window : {"axes=0,1 kernel=3,5 stride=1,1 dilation=2,3 padding=1,2",
                               "axes=0,1 kernel=5,2 stride=2,1 dilation=1,9", "axes=1 kernel=1 stride=2"})
      lines.push_back(std::string(name) + " shape=9,21,40 " + window);
    for (const char* bins : {"shape=9,21,40 axes=0,1 output_size=4,5", "shape=7,7,300 axes=0,1 output_size=1,1",
                             "shape=7,40,33 axes=0,1 output_size=7,3"})
      lines.push_back("adaptive-" + std::string(name) + " " + bins);
    // Large windows: whole and broken vectors of taps and of columns, and planes that are smaller than the window.
    for (const Index kernel : {8, 9, 16, 23, 24, 33, 47, 65})
      for (const Index width : {8, 20, 33})
        add(name, std::to_string(kernel % 2 == 0 ? 7 : 12) + "," + std::to_string(width), "0,1", kernel, 1, kernel / 2);
    for (const char* problem :
         {"260,9 axes=0,1 kernel=255,1", "260,9 axes=0,1 kernel=256,2", "260,9 axes=0,1 kernel=257,1",
          "3,270 axes=0,1 kernel=2,256", "3,270 axes=0,1 kernel=1,257", "2,4,300 axes=1,2 kernel=3,19",
          "300,10 axes=0,1 kernel=21,3", "41,43 axes=0,1 kernel=31,33", "3,20,24 axes=1,2 kernel=9,1",
          "3,20,24 axes=1,2 kernel=17,7", "3,20,24 axes=1,2 kernel=8,9", "2,700 axes=1 kernel=19"})
      lines.push_back(
          std::string(name) + " shape=" + problem +
          (std::string_view(problem).find("axes=1 ") != std::string_view::npos ? " stride=1" : " stride=1,1"));
    for (const Index width : {8, 9, 14, 15, 16, 17, 35})  // windows that are taller than wide, or wider than tall
      for (const char* window : {"kernel=3,2 stride=1,2", "kernel=3,2 stride=2,2", "kernel=3,4 stride=1,4",
                                 "kernel=3,4 stride=2,4", "kernel=3,2 stride=1,1", "kernel=3,3 stride=2,1 padding=1,0",
                                 "kernel=3,3 stride=1,2 padding=1,1", "kernel=2,3 stride=1,2", "kernel=2,4 stride=2,4",
                                 "kernel=1,2 stride=1,2", "kernel=4,2 stride=4,2", "kernel=3,2 stride=2,2 padding=1,0"})
        lines.push_back(std::string(name) + " shape=2,9," + std::to_string(width) + " axes=1,2 " + window);
    for (const char* volume : {"2,5,6,20", "2,6,7,11", "3,4,4,9", "2,4,5,33"})  // planes of planes
      for (const char* window : {"kernel=2,2,2", "kernel=1,2,2", "kernel=2,1,4", "kernel=3,3,3 stride=2,2,2"})
        lines.push_back(std::string(name) + " shape=" + volume + " axes=1,2,3 " + window);
    lines.push_back(std::string(name) + " shape=2,4,4,6,20 axes=1,2,3,4 kernel=2,2,2,2");
    for (const Index width : {1024, 1027}) add(name, "5," + std::to_string(width), "0,1", 5, 1, 2);
  }
  return lines;
}

template <class T>
class RowsInRegisters : public ::testing::Test {};
using ScalarsInRegisters = ::testing::Types<float, std::uint16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(RowsInRegisters, ScalarsInRegisters);

TYPED_TEST(RowsInRegisters, OfEveryWindowAndWidthEqualTheSpec) {
  print_current_on_a_crash();
  const std::vector<std::string> lines = problems_of_rows_in_registers();
  const std::size_t step = std::integral<TypeParam> ? 5 : 1;  // integers are made in fewer ways
  for (std::size_t i = 0; i < lines.size() && !this->HasFailure(); i += step) check_on_all_targets<TypeParam>(lines[i]);
}

TYPED_TEST(GeneratedProblems, EqualTheSpec) {
  print_current_on_a_crash();
  if (const char* line = std::getenv("NDPOOL_PROBLEM"); line != nullptr) return check_on_all_targets<TypeParam>(line);
  const long wanted = (wanted_problems() * share<TypeParam>() + all_shares() - 1) / all_shares();
  const std::vector<std::string> names = targets();
  std::mt19937_64 random(seed() + static_cast<std::uint64_t>(dtype_of<TypeParam>()));
  long ran = 0, rejected = 0;
  for (long i = 0; i < wanted && !this->HasFailure(); ++i) {
    const std::string line = generated_problem(random, !std::integral<TypeParam>);
    const std::string& target = names[random() % names.size()];
    if (i % 10 == 0)
      check_on_all_targets<TypeParam>(line);
    else
      rejected += check_on<TypeParam>(target, line).rejected ? 1 : 0;
    if (++ran % 10000 == 0) std::cerr << ScalarName::GetName<TypeParam>(0) << ": " << ran << " of " << wanted << '\n';
  }
  if (this->HasFailure()) return;
  EXPECT_EQ(ran - rejected, wanted) << "every problem must have an answer";
}

}  // namespace ndpool::testing
