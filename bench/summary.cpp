#include "summary.hpp"

#include <algorithm>
#include <cstdio>

namespace ndpool::bench {

namespace {

constexpr std::size_t listed = 20;

/// Time over the limit, or over that on one thread.
Score score_of(const Result& result) {
  if (result.one_thread_seconds > 0) return {result.seconds / result.one_thread_seconds, result.stopped};
  return {result.ratio(), result.stopped};
}

/// Joins JSON objects to a list.
std::string json_list(const std::vector<std::string>& objects) {
  std::string json = "[";
  for (std::size_t i = 0; i < objects.size(); ++i) json += (i == 0 ? "\n    " : ",\n    ") + objects[i];
  return json + "\n  ]";
}

/// Nothing if no longer problems were measured.
void print_cliffs(std::vector<Pair> pairs) {
  const std::size_t all = pairs.size();
  if (std::ranges::none_of(pairs, [](const Pair& pair) { return pair.longer.has_value(); })) return;
  std::erase_if(pairs, [](const Pair& pair) { return !pair.is_cliff(); });
  std::printf("\ncliffs: %zu of %zu problems are more than %g times apart per byte at one more element\n", pairs.size(),
              all, cliff);
  std::ranges::sort(pairs, std::greater(), &Pair::apart);
  if (pairs.size() > listed) pairs.erase(pairs.begin() + listed, pairs.end());
  for (const Pair& pair : pairs)
    std::printf("%8.2f %10.1f us, then %10.1f us  %s\n", pair.apart(), pair.result.seconds * 1e6,
                pair.longer->seconds * 1e6, pair.result.measured.text().c_str());
}

}  // namespace

Summary::Summary(std::string title, std::vector<Pair> pairs, std::vector<Group> groups,
                 const std::function<std::size_t(const Case&)>& group_of)
    : title_(std::move(title)), pairs_(std::move(pairs)), groups_(std::move(groups)) {
  for (const Pair& pair : pairs_) groups_[group_of(pair.result.measured)].scores.push_back(score_of(pair.result));
}

void Summary::print(const std::vector<std::string>& goal_titles) const {
  std::vector<Result> results;
  for (const Pair& pair : pairs_) results.push_back(pair.result);
  print_groups(title_, groups_, goal_titles);
  print_groups("by operator and map", group_by(results, score_of, [](const Result& result) {
                 return result.measured.operator_name + " " + name_of(result.measured.map);
               }));
  print_groups("by scalar", group_by(results, score_of, [](const Result& result) { return result.measured.scalar; }));
  print_groups("by layout",
               group_by(results, score_of, [](const Result& result) { return name_of(result.measured.layout); }));
  print_cliffs(pairs_);
  print_worst(listed, results, score_of);
}

std::string Summary::json() const {
  std::vector<std::string> groups, problems;
  for (const Group& group : groups_)
    if (!group.scores.empty()) groups.push_back(json_of(group));
  for (const Pair& pair : pairs_) {
    std::string problem = "{\"measured\": " + json_of(pair.result);
    if (pair.longer) problem += text(", \"longer_seconds\": %.4g, \"apart\": %.4g", pair.longer->seconds, pair.apart());
    problems.push_back(problem + "}");
  }
  return "{\"title\": \"" + title_ + "\",\n  \"groups\": " + json_list(groups) +
         ",\n  \"problems\": " + json_list(problems) + "}";
}

void write_json(const std::string& path, const std::vector<Summary>& summaries) {
  std::vector<std::string> objects;
  for (const Summary& summary : summaries) objects.push_back(summary.json());
  write_file(path, "{\n  \"machine\": " + json_of_machine() + ",\n  \"sets\": " + json_list(objects) + "\n}\n");
}

}  // namespace ndpool::bench
