#include "grid.hpp"

#include "support/generator.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace ndpool::bench {

namespace {

constexpr Index bytes = 8 << 20;

struct GridWindow {
  std::size_t rank;
  Index kernel, stride;
};

constexpr GridWindow windows[] = {{1, 3, 1}, {1, 4, 4}, {1, 31, 1}, {2, 2, 2}, {2, 2, 1}, {2, 3, 1},  {2, 3, 2},
                                  {2, 3, 3}, {2, 4, 4}, {2, 5, 1},  {2, 7, 1}, {2, 5, 2}, {2, 15, 1}, {2, 8, 8},
                                  {3, 2, 2}, {3, 3, 1}, {3, 3, 2},  {3, 5, 1}, {3, 4, 4}};

struct GridScalar {
  const char* name;
  Index item_size;
  bool is_float;
};

constexpr GridScalar scalars[] = {{"u8", 1, false},  {"i8", 1, false},  {"u16", 2, false}, {"i16", 2, false},
                                  {"i32", 4, false}, {"i64", 8, false}, {"f16", 2, true},  {"bf16", 2, true},
                                  {"f32", 4, true},  {"f64", 8, true}};

std::string repeated(std::size_t count, Index number) {
  return testing::list(count, [&](std::size_t) { return std::to_string(number); });
}

/// Planes as networks have them, or smaller ones where 8 MB do not hold one of them.
std::string shape_words(std::size_t rank, Index channels, Index item_size) {
  constexpr Index usual_sides[] = {0, 4000, 224, 60};
  const double count = static_cast<double>(bytes / item_size / channels);
  const Index largest = static_cast<Index>(std::pow(count, 1.0 / static_cast<double>(rank)) + 1e-9);
  const Index side = std::min(usual_sides[rank], largest);
  const Index planes = static_cast<Index>(count / std::pow(static_cast<double>(side), static_cast<double>(rank)));
  std::string words = " shape=" + std::to_string(planes);
  words.append(",").append(repeated(rank, side));
  if (channels > 1) words.append(",").append(std::to_string(channels));
  return words + " axes=" + testing::list(rank, [](std::size_t a) { return std::to_string(a + 1); });
}

}  // namespace

std::vector<Group> grid_groups() {
  return {{.name = "max, disjoint and small overlapping windows", .goals = {{1.3, 1.8, 2.5}}},
          {.name = "max, 5x5 and above, 3-D overlapping", .goals = {{2, 3, 4}}},
          {.name = "average, 32 and 64 bit, disjoint and small", .goals = {{1.3, 2, 2.5}}},
          {.name = "average, 32 and 64 bit, rest", .goals = {{2, 3, 4}}},
          {.name = "average, 8 and 16 bit, disjoint and small", .goals = {{2.2, 3.2, 4.5}}},
          {.name = "average, 8 and 16 bit, rest", .goals = {{3.5, 4.5, 6}}},
          {.name = "argmax, max VJP by index, average VJP", .goals = {{2, 4, 8}}}};
}

std::size_t grid_group_of(const Case& measured) {
  if (measured.map != Map::forward) return 6;
  const Window& window = std::get<Window>(measured.problem.pool.description());
  const bool is_disjoint = window.stride[0] >= window.kernel[0];
  const bool is_small = is_disjoint || (window.kernel[0] <= 3 && window.kernel.size() <= 2);
  const std::size_t rest = is_small ? 0 : 1;
  if (!measured.linear()) return rest;
  const bool is_short = measured.scalar.ends_with("8") || measured.scalar.ends_with("16");
  return (is_short ? 4 : 2) + rest;
}

std::vector<Case> grid_cases() {
  struct Operation {
    std::string op;
    Map map;
  };
  std::vector<Case> cases;
  for (const auto& [op, map] :
       {Operation{"max", Map::forward}, Operation{"avg", Map::forward}, Operation{"max", Map::indices_i64},
        Operation{"max", Map::vjp_from_i64}, Operation{"avg", Map::vjp}})
    for (const GridScalar& scalar : scalars)
      for (const Index channels : {1, 3, 64})
        for (const GridWindow& window : windows) {
          if (is_derivative(map) && !scalar.is_float) continue;
          const std::string line = op + shape_words(window.rank, channels, scalar.item_size) +
                                   " kernel=" + repeated(window.rank, window.kernel) +
                                   " stride=" + repeated(window.rank, window.stride);
          cases.push_back(parse_unnamed_case(line + " | " + scalar.name + " | " + name_of(map)));
        }
  return cases;
}

}  // namespace ndpool::bench
