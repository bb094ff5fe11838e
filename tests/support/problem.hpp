// The one-line grammar of problems (src/problem/), and the files of problems that tests share.
#pragma once

#include "problem/problem.hpp"

namespace ndpool::testing {

using problem::has_winners;
using problem::is_transcendental;
using problem::NamedProblem;
using problem::parse_problem;
using problem::Problem;

/// The problems of a file under tests/cases.
inline std::vector<NamedProblem> read_cases(const std::string& file) {
  return problem::read_problems(std::string(NDPOOL_SOURCE_DIR) + "/tests/cases/" + file);
}

}  // namespace ndpool::testing
