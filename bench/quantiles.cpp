#include "quantiles.hpp"

#include <algorithm>
#include <cstdio>

namespace ndpool::bench {

namespace {

bool is_less(const Score& a, const Score& b) { return a.value < b.value; }

std::string text_of(const Score& score) {
  return text(score.value < 100 ? "%s%.2f" : "%s%.0f", score.exceeds ? ">" : "", score.value);
}

std::string text_of(const Quantiles& goal) { return text("%g / %g / %g", goal.median, goal.p90, goal.p99); }

bool meets(const Quantiles& quantiles, const Quantiles& goal) {
  return quantiles.median <= goal.median && quantiles.p90 <= goal.p90 && quantiles.p99 <= goal.p99;
}

}  // namespace

Score Group::at(double share) const {
  std::vector<Score> sorted = scores;
  const auto wanted = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size()));
  const auto place = sorted.begin() + std::min<std::ptrdiff_t>(wanted, std::ssize(sorted) - 1);
  std::nth_element(sorted.begin(), place, sorted.end(), is_less);
  return *place;
}

void print_groups(const std::string& title, const std::vector<Group>& groups,
                  const std::vector<std::string>& goal_titles) {
  std::printf("\n%-52s %5s %8s %8s %8s %8s", title.c_str(), "count", "median", "p90", "p99", "worst");
  for (const std::string& goal : goal_titles) std::printf("   %-20s", goal.c_str());
  std::printf("\n");
  for (const Group& group : groups) {
    if (group.scores.empty()) continue;
    std::printf("%-52s %5zu", group.name.c_str(), group.scores.size());
    for (const double share : {0.5, 0.9, 0.99, 1.0}) std::printf(" %8s", text_of(group.at(share)).c_str());
    for (const Quantiles& goal : group.goals)
      std::printf("   %-13s %-6s", text_of(goal).c_str(), meets(group.quantiles(), goal) ? "met" : "over");
    std::printf("\n");
  }
}

std::vector<Group> group_by(const std::vector<Result>& results, const std::function<Score(const Result&)>& score,
                            const std::function<std::string(const Result&)>& name) {
  std::vector<Group> groups;
  for (const Result& result : results) {
    const auto same_name = [&, wanted = name(result)](const Group& group) { return group.name == wanted; };
    auto group = std::ranges::find_if(groups, same_name);
    if (group == groups.end()) group = groups.insert(group, Group{.name = name(result)});
    group->scores.push_back(score(result));
  }
  std::ranges::sort(groups, {}, &Group::name);
  return groups;
}

void print_worst(std::size_t count, std::vector<Result> results, const std::function<Score(const Result&)>& score) {
  std::ranges::stable_sort(results, [&](const Result& a, const Result& b) { return is_less(score(b), score(a)); });
  if (results.size() > count) results.erase(results.begin() + static_cast<std::ptrdiff_t>(count), results.end());
  std::printf("\n%zu worst\n", results.size());
  for (const Result& result : results)
    std::printf("%8s %10.1f us  %-14s %s\n", text_of(score(result)).c_str(), result.seconds * 1e6,
                result.implementation.c_str(), result.measured.text().c_str());
}

std::string json_of(const Group& group) {
  const Quantiles found = group.quantiles();
  return "{\"group\": \"" + group.name + "\"" +
         text(", \"count\": %zu, \"median\": %.4g, \"p90\": %.4g, \"p99\": %.4g, \"worst\": %.4g}", group.scores.size(),
              found.median, found.p90, found.p99, group.at(1).value);
}

}  // namespace ndpool::bench
