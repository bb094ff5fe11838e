#include "support/generated.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace ndpool::testing {

namespace {

std::string window_words(Generator& make, const std::vector<Index>& lengths) {
  const auto number = [&](Index low, Index high) {
    return list(lengths.size(), [&](std::size_t) { return std::to_string(make.between(low, high)); });
  };
  std::string words = " kernel=" + number(1, 4);
  if (!make.sometimes(4)) words += " stride=" + number(1, 4);
  if (make.sometimes(3)) words += " dilation=" + number(1, 3);
  if (make.sometimes(6))
    words += " padding=" + make.one_of({"same", "same_lower", "valid"});
  else if (make.sometimes(2))
    words += " padding=" + list(lengths.size(), [&](std::size_t) {
               return std::to_string(make.between(0, 3)) + ":" + std::to_string(make.between(0, 3));
             });
  if (make.sometimes(2)) words += " ceil";
  return words;
}

}  // namespace

std::string option_words(Generator& make, const std::string& op, GeometryKind kind) {
  std::string words;
  const auto ties = [&] { return make.sometimes(3) ? " ties=" + make.one_of({"first", "all", "split"}) : ""; };
  if (op == "max" || op == "min") {
    words += ties();
    if (make.sometimes(4)) words += " nan=ignore";
  } else if (op == "avg") {
    if (kind == GeometryKind::windowed && make.sometimes(3)) words += " exclude_pad";
    if (make.sometimes(5)) words += " divisor=" + make.one_of({"1", "7", "-3"});
    if (make.sometimes(3)) words += " rounding=" + make.one_of({"half_even", "toward_zero", "floor", "half_away"});
  } else if (op == "smooth-max") {
    words += " beta=" + make.one_of({"1", "0.5", "4", "-2", "30"});
    if (make.sometimes(2)) words += " pad_mode=ignore";
  } else if (op == "lp") {
    const std::string p = make.one_of({"1", "2", "2.3", "3", "0.5", "inf"});
    words += " p=" + p;
    if (p == "inf") words += ties();
  }
  // Half the windows without an input element are asked for as such, the others are drawn again.
  if (kind == GeometryKind::windowed && op != "sum" && make.sometimes(2)) words += " empty=identity";
  return words;
}

bool is_valid(const std::string& line) {
  try {
    const Problem problem = parse_problem(line);
    static_cast<void>(problem.pool.plan<double>(problem.shape));
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string random_problem(std::mt19937_64& random, const std::string& op, GeometryKind kind, int rank) {
  Generator make(random);
  for (;;) {
    const Index longest = rank == 1 ? 20 : rank == 2 ? 9 : rank == 3 ? 6 : 5;
    std::vector<Index> shape;
    for (int a = 0; a < rank; ++a) shape.push_back(make.between(1, longest));
    const std::vector<int> axes = make.axes(rank);
    std::vector<Index> lengths;
    for (int axis : axes) lengths.push_back(shape[static_cast<std::size_t>(axis)]);

    std::string line =
        kind == GeometryKind::windowed ? op : (kind == GeometryKind::adaptive ? "adaptive-" : "global-") + op;
    line += " shape=" + list(shape.size(), [&](std::size_t i) { return std::to_string(shape[i]); });
    line += " axes=" + list(axes.size(), [&](std::size_t i) { return std::to_string(axes[i]); });
    if (kind == GeometryKind::windowed) line += window_words(make, lengths);
    if (kind == GeometryKind::adaptive)
      line += " output_size=" + list(axes.size(), [&](std::size_t) { return std::to_string(make.between(1, 7)); });
    if (kind == GeometryKind::global && make.sometimes(2)) line += " keepdims";
    line += option_words(make, op, kind);
    if (is_valid(line)) return line;
  }
}

namespace {

/// An extent at or beside a multiple of a vector's lanes, or a small one.
Index vector_extent(Generator& make) {
  if (make.sometimes(3)) return make.between(1, 8);
  return std::stoll(make.one_of({"8", "16", "24", "32", "48", "64"})) + make.between(-1, 1);
}

std::vector<Index> vector_shape(Generator& make, int rank) {
  if (rank == 1 && make.sometimes(8)) return {make.between(1, 600)};
  const Index most = make.sometimes(40) ? 20000 : 4000;
  std::vector<Index> shape;
  for (int a = 0; a < rank; ++a) shape.push_back(a + 1 == rank ? vector_extent(make) : make.between(1, 12));
  if (rank > 1 && make.sometimes(3)) std::swap(shape.back(), shape[shape.size() - 2]);
  const auto size = [&] {
    Index product = 1;
    for (Index extent : shape) product *= extent;
    return product;
  };
  while (size() > most) {
    Index& extent = shape[static_cast<std::size_t>(make.between(0, rank - 1))];
    if (extent < 7 || make.sometimes(4)) extent = (extent + 1) / 2;
  }
  return shape;
}

/// Channels first, channels last, or any axes in any order.
std::vector<int> layer_axes(Generator& make, int rank) {
  const int pooled = static_cast<int>(make.between(1, rank < 3 ? rank : 3));
  const Index style = make.between(1, 4);
  if (rank == 1 || style == 1) return make.axes(rank);
  const int first = style == 2 ? std::max(0, rank - 1 - pooled) : rank - pooled;
  std::vector<int> axes;
  for (int a = first; a < first + pooled && a < (style == 2 ? rank - 1 : rank); ++a) axes.push_back(a);
  return axes;
}

std::string layer_words(Generator& make, std::size_t count) {
  const auto number = [&](auto draw) { return list(count, [&](std::size_t) { return std::to_string(draw()); }); };
  std::string words;
  if (make.sometimes(12)) {  // wide windows, mostly one of them as in spatial pyramids
    words = " kernel=" + list(count, [&](std::size_t) { return make.one_of({"1", "3", "7", "13", "31"}); });
    words += " stride=" + number([&] { return make.sometimes(4) ? 2 : 1; });
    return words + " padding=" + make.one_of({"same", "same_lower"});
  }
  words = " kernel=" + number([&] { return make.between(1, 5); });
  if (!make.sometimes(3)) words += " stride=" + number([&] { return make.sometimes(10) ? 5 : make.between(1, 3); });
  if (make.sometimes(5)) words += " dilation=" + number([&] { return make.between(1, 3); });
  if (make.sometimes(6))
    words += " padding=" + make.one_of({"same", "same_lower", "valid"});
  else if (make.sometimes(2))
    words += " padding=" + list(count, [&](std::size_t) {
               return std::to_string(make.between(0, 3)) + ":" + std::to_string(make.between(0, 3));
             });
  if (make.sometimes(3)) words += " ceil";
  return words;
}

/// Taps of all windows together: what a run of the reference costs.
Index tap_total(const Geometry& geometry) {
  Index total = 1;
  for (int a = 0; a < geometry.rank; ++a) {
    Index taps = 0;
    for (Index o = 0; o < geometry.axes[a].output; ++o) taps += geometry.axes[a].taps(o).length;
    total *= taps;
  }
  return total;
}

}  // namespace

std::string generated_problem(std::mt19937_64& random, bool transcendental) {
  Generator make(random);
  for (;;) {
    const int rank = static_cast<int>(make.between(1, 5));
    const std::vector<Index> shape = vector_shape(make, rank);
    const std::vector<int> axes = layer_axes(make, rank);
    const std::string op = transcendental && make.sometimes(5)
                               ? make.one_of({"smooth-max", "lp"})
                               : make.one_of({"max", "min", "sum", "avg", "max", "avg"});
    const Index draw = make.between(1, 8);
    const GeometryKind kind = draw == 1   ? GeometryKind::global
                              : draw == 2 ? GeometryKind::adaptive
                                          : GeometryKind::windowed;
    std::string line =
        kind == GeometryKind::windowed ? op : (kind == GeometryKind::adaptive ? "adaptive-" : "global-") + op;
    line += " shape=" + list(shape.size(), [&](std::size_t i) { return std::to_string(shape[i]); });
    line += " axes=" + list(axes.size(), [&](std::size_t i) { return std::to_string(axes[i]); });
    if (kind == GeometryKind::windowed) line += layer_words(make, axes.size());
    if (kind == GeometryKind::adaptive)
      line += " output_size=" + list(axes.size(), [&](std::size_t i) {
                const Index length = shape[static_cast<std::size_t>(axes[i])];
                return std::to_string(make.between(1, make.sometimes(6) ? length + 3 : std::min(length, Index{20})));
              });
    if (kind == GeometryKind::global && make.sometimes(2)) line += " keepdims";
    line += option_words(make, op, kind);
    if (!make.sometimes(4)) line += " memory=" + std::to_string(make.between(1, 1000000000));
    if (!is_valid(line)) continue;
    const Problem problem = parse_problem(line);
    if (tap_total(problem.pool.geometry(problem.shape)) <= (make.sometimes(40) ? 400000 : 25000)) return line;
  }
}

std::uint64_t seed() {
  const char* given = std::getenv("NDPOOL_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20261115;
}

std::vector<std::string> sweep_problems() {
  std::mt19937_64 random(seed());
  std::vector<std::string> problems;
  for (const char* file : {"traps.txt", "networks.txt"})
    for (const NamedProblem& named : read_cases(file)) problems.push_back(named.line);
  std::set<std::string> seen(problems.begin(), problems.end());
  constexpr GeometryKind kinds[] = {GeometryKind::windowed, GeometryKind::adaptive, GeometryKind::global};
  // There are only so many global problems of rank 1, so duplicates are drawn again a limited number of times.
  for (const char* op : operators)
    for (GeometryKind kind : kinds)
      for (int rank = 1; rank <= 4; ++rank)
        for (int drawn = 0, kept = 0; drawn < 200 && kept < (kind == GeometryKind::windowed ? 50 : 30); ++drawn) {
          const std::string line = random_problem(random, op, kind, rank);
          if (!seen.insert(line).second) continue;
          problems.push_back(line);
          ++kept;
        }
  return problems;
}

}  // namespace ndpool::testing
