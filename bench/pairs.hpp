// Problems beside the same problems with one more element on their last axis: how fast a map is should not depend on
// such things.
#pragma once

#include "measure.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ndpool::bench {

/// Two problems that are more than so many times apart are a cliff.
inline constexpr double cliff = 1.5;

/// A problem, and the same with one more element on its last axis.
struct Pair {
  Result result;
  std::optional<Result> longer;

  /// How many times as long one of the two takes for a byte that is read or written. Unknown, then 1, if both were
  /// stopped.
  double apart() const;
  bool is_cliff() const { return apart() > cliff; }
};

/// Measures problems, quickly, and prints progress. Only with `finds_cliffs` the longer ones too. What cannot be
/// measured is printed and left out.
std::vector<Pair> measure_pairs(const std::string& title, const std::vector<Case>& cases, bool finds_cliffs);

}  // namespace ndpool::bench
