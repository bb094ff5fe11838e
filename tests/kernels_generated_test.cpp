// Kernels against the spec on generated problems: ranks 1 to 5, extents around vector widths, any memory.
//
//   NDPOOL_PROBLEMS=N      runs N problems, over all scalars together, instead of the 20,000 of `make test`
//   NDPOOL_PROBLEM='...'   runs this one, as a failure prints it, with every scalar on every target
#include "equivalence.hpp"
#include "support/generated.hpp"
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <iostream>

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

TYPED_TEST(GeneratedProblems, EqualTheSpec) {
  print_current_on_a_crash();
  if (const char* line = std::getenv("NDPOOL_PROBLEM"); line != nullptr) return check_on_all_targets<TypeParam>(line);
  const long wanted = (wanted_problems() * share<TypeParam>() + all_shares() - 1) / all_shares();
  const std::vector<std::string> names = targets();
  std::mt19937_64 random(seed() + static_cast<std::uint64_t>(kind_of<TypeParam>()));
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
