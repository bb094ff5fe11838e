// What is measured: the lines of bench/cases/*.txt.
//
//   name: problem | scalar | map | layout=fortran | goal=1.25 | threads=2
//
// The problem is written as the tests write it (src/problem/problem.hpp), the scalar is a row of NDPOOL_DTYPES, or
// two as in `u8->f32` where the result has a type of its own. What follows may be left out: the map is `forward` by
// default, the input is packed by default, the goal is the ratio to the limit that the case should not exceed, and a
// case with threads is compared with one thread instead of the limit.
#pragma once

#include "problem/problem.hpp"

#include <ndpool/dtype.hpp>

#include <string>
#include <vector>

namespace ndpool::bench {

/// Inputs whose results are measured in a type of their own.
#define NDPOOL_MIXED_SCALARS(ROW)     \
  ROW("u8->f32", std::uint8_t, float) \
  ROW("bf16->f32", ndpool::bf16, float)

/// All scalars that can be measured, by the names that cases have for them.
const std::vector<std::string>& scalar_names();

enum class Map : unsigned char { forward, indices_u8, indices_i64, jvp, vjp, vjp_from_u8, vjp_from_i64 };

/// How the input lies in memory; results are packed.
///   fortran: the first axis is contiguous
///   crop: a part of an array whose last axis is an eighth longer
///   every_second: every second element of the last axis of a longer array
enum class Layout : unsigned char { packed, fortran, crop, every_second };

/// True of maps that take a tangent or a gradient: floats only.
constexpr bool is_derivative(Map map) { return map >= Map::jvp; }
/// True of maps that read or write winners: max and min only.
constexpr bool has_indices(Map map) { return map != Map::forward && map != Map::jvp && map != Map::vjp; }

const std::string& name_of(Map map);
const std::string& name_of(Layout layout);
/// All maps, by the names that cases have for them.
const std::vector<std::string>& map_names();

struct Case {
  std::string file;           ///< of bench/cases, without its ending
  std::string name;           ///< lower-case letters, digits and dashes, so that no report has to quote it
  std::string line;           ///< the problem as text
  std::string operator_name;  ///< the first word of the line, without its geometry
  problem::Problem problem;
  std::string scalar;
  Map map = Map::forward;
  Layout layout = Layout::packed;
  double goal = 0;  ///< 0: none is stated
  int threads = 1;

  /// Sums and averages are linear: their derivatives need no x.
  bool linear() const { return operator_name == "sum" || operator_name == "avg"; }
  bool has_winners() const { return operator_name == "max" || operator_name == "min"; }
  bool is_analytic() const { return operator_name == "smooth-max" || operator_name == "lp"; }
  bool has_compact_indices() const { return map == Map::indices_u8 || map == Map::vjp_from_u8; }

  /// Strides of the input, in elements.
  Shape strides() const;
  /// The fields of the problem as a line that parse_case reads.
  std::string text() const;
};

/// The same problem with one more element on the last axis.
Case with_longer_last_axis(const Case& from);

/// Reads one line. Throws std::invalid_argument that says what it does not understand.
Case parse_case(const std::string& file, const problem::NamedProblem& named);

/// Reads one line that has no name.
Case parse_unnamed_case(const std::string& line);

/// The case files in the order in which they are measured, without their endings.
const std::vector<std::string>& case_files();

/// The cases of all files.
std::vector<Case> read_all_cases();

}  // namespace ndpool::bench
