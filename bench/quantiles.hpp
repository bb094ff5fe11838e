// Many results at a glance: quantiles of groups beside their goals, and the worst as lines that can be measured again.
#pragma once

#include "report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ndpool::bench {

struct Quantiles {
  double median = 0, p90 = 0, p99 = 0;
};

/// What a result is judged by; `exceeds` is true if a run was stopped, so that the number is a lower bound.
struct Score {
  double value = 0;
  bool exceeds = false;
};

struct Group {
  std::string name;
  std::vector<Quantiles> goals = {};  ///< as many in all groups of a table
  std::vector<Score> scores = {};

  /// The score that a share of the group does not exceed. The group must not be empty.
  Score at(double share) const;
  Quantiles quantiles() const { return {at(0.5).value, at(0.9).value, at(0.99).value}; }
};

/// Prints the groups that are not empty, with a heading for each of their goals.
void print_groups(const std::string& title, const std::vector<Group>& groups,
                  const std::vector<std::string>& goal_titles = {});

/// Groups by a name that each result has.
std::vector<Group> group_by(const std::vector<Result>& results, const std::function<Score(const Result&)>& score,
                            const std::function<std::string(const Result&)>& name);

/// Prints the `count` results with the highest scores, worst first.
void print_worst(std::size_t count, std::vector<Result> results, const std::function<Score(const Result&)>& score);

/// The quantiles of a group that is not empty as one JSON object.
std::string json_of(const Group& group);

}  // namespace ndpool::bench
