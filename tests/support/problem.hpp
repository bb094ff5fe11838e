// A pooling problem as one line of text, so that a failing random case can be pasted into tests/cases/ and the same
// cases serve tests, benchmarks and the command:
//
//   max shape=2,7,7 kernel=3,3 stride=2,2 padding=1:1,0:2 dilation=1,1 axes=1,2 ceil ties=split nan=ignore
//   avg shape=9 kernel=4 padding=same_upper exclude_pad        adaptive-avg shape=2,7,7 output_size=3,3
//   smooth-max shape=5,5 kernel=2,2 beta=4 pad_mode=ignore     global-max shape=2,7,7 axes=1,2 keepdims
//
// Words may come in any order after the operator; what is left out has its default.
#pragma once

#include <ndpool/ndpool.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ndpool::testing {

struct Problem {
  Pool pool;
  Shape shape;
};

/// Reads one line. Throws std::invalid_argument that names the word it does not understand.
Problem parse_problem(const std::string& line);

struct NamedProblem {
  std::string name;
  std::string line;
};
/// The problems of a file under tests/cases: lines `name: problem`, `#` starts a comment.
std::vector<NamedProblem> read_cases(const std::string& file);

enum class GeometryKind { windowed, adaptive, global };
inline constexpr const char* operators[] = {"max", "min", "sum", "avg", "smooth-max", "lp"};

/// A random valid problem of `rank` axes as a line: any stride, padding, dilation, mode, subset of axes and option.
std::string random_problem(std::mt19937_64& random, const std::string& op, GeometryKind kind, int rank);

/// The seed of all random tests: NDPOOL_SEED if it is set, else a fixed number. Every failure prints it.
std::uint64_t seed();

/// More than 2,000 distinct problems: every operator on every geometry in ranks 1 to 4, and the case files.
std::vector<std::string> sweep_problems();

}  // namespace ndpool::testing
