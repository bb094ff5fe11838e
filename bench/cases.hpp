// What is measured: the lines of bench/cases/*.txt.
//
//   name: problem | scalar | map | goal=1.25 | threads=2
//
// The problem is written as the tests write it (tests/support/problem.hpp), the scalar is a row of NDPOOL_SCALARS. What
// follows may be left out: the map is `forward` by default, the goal is the ratio to the streaming limit that the case
// should not exceed, and a case with threads is compared with one thread instead of the limit.
#pragma once

#include "support/problem.hpp"

#include <string>
#include <vector>

namespace ndpool::bench {

enum class Map : unsigned char { forward, indices_u8, indices_i64, jvp, vjp, vjp_from_u8, vjp_from_i64 };

const char* name_of(Map map);

struct Case {
  std::string file;           ///< of bench/cases, without its ending
  std::string name;           ///< lower-case letters, digits and dashes, so that no report has to quote it
  std::string line;           ///< the problem as text
  std::string operator_name;  ///< the first word of the line, without its geometry
  testing::Problem problem;
  std::string scalar;
  Map map = Map::forward;
  double goal = 0;  ///< 0: none is stated
  int threads = 1;

  /// Sums and averages are linear: their derivatives need no x.
  bool linear() const { return operator_name == "sum" || operator_name == "avg"; }
  bool has_winners() const { return operator_name == "max" || operator_name == "min"; }
};

/// Reads one line. Throws std::invalid_argument that says what it does not understand.
Case parse_case(const std::string& file, const testing::NamedProblem& named);

/// The case files in the order in which they are measured, without their endings.
const std::vector<std::string>& case_files();

/// The cases of all files.
std::vector<Case> read_all_cases();

}  // namespace ndpool::bench
