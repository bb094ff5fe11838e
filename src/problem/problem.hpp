// A pooling problem as one line of text, so that a failing random case can be pasted into tests/cases/ and the same
// cases serve tests, benchmarks and the command:
//
//   max shape=2,7,7 kernel=3,3 stride=2,2 padding=1:1,0:2 dilation=1,1 axes=1,2 ceil ties=split nan=ignore
//   avg shape=9 kernel=4 padding=same exclude_pad        adaptive-avg shape=2,7,7 output_size=3,3
//   smooth-max shape=5,5 kernel=2,2 beta=4 pad_mode=ignore     global-max shape=2,7,7 axes=1,2 keepdims
//
// Words may come in any order after the operator; what is left out has its default. ` memory=7` names the way in which
// the arrays lie in memory (tests/support/placed.hpp): 0, the default, is packed.
#pragma once

#include <ndpool/ndpool.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ndpool::problem {

struct Problem {
  Pool pool;
  Shape shape;
  std::uint64_t memory = 0;
};

/// Reads one line. Throws std::invalid_argument that names the word it does not understand.
Problem parse_problem(const std::string& line);

/// Smooth max and Lp: reducers that need exp, log and pow.
bool is_transcendental(const std::string& line);
/// Max and min: reducers with an argmax.
bool has_winners(const std::string& line);

struct NamedProblem {
  std::string name;
  std::string line;
};
/// The problems of a text file: lines `name: problem`, `#` starts a comment. Throws std::invalid_argument if the file
/// cannot be read or a line has no name.
std::vector<NamedProblem> read_problems(const std::string& path);

}  // namespace ndpool::problem
