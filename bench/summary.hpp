// What is said about a set of measured problems: quantiles of groups beside their goals, cliffs, and the worst.
#pragma once

#include "pairs.hpp"
#include "quantiles.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ndpool::bench {

class Summary {
 public:
  /// `group_of` says which of the groups, which have goals but no scores yet, a case belongs to.
  Summary(std::string title, std::vector<Pair> pairs, std::vector<Group> groups,
          const std::function<std::size_t(const Case&)>& group_of);

  /// Also prints quantiles by operator and map, by scalar and by layout.
  void print(const std::vector<std::string>& goal_titles) const;
  std::string json() const;

 private:
  std::string title_;
  std::vector<Pair> pairs_;
  std::vector<Group> groups_;
};

/// Throws std::runtime_error if the file cannot be written.
void write_json(const std::string& path, const std::vector<Summary>& summaries);

}  // namespace ndpool::bench
