#include "pairs.hpp"

#include <algorithm>
#include <cstdio>

namespace ndpool::bench {

namespace {

constexpr Effort effort{.rounds = 5, .seconds = 0.03};

std::optional<Pair> measure_pair(const Case& drawn, bool finds_cliffs) {
  const std::optional<Result> result = measure_apart(drawn, effort);
  if (!result) return std::nullopt;
  Pair pair{*result, std::nullopt};
  if (!finds_cliffs) return pair;
  const Case longer = with_longer_last_axis(drawn);
  pair.longer = measure_apart(longer, effort);
  if (!pair.is_cliff()) return pair;
  // Another program may have been in the way: only what is a cliff twice is one.
  if (const std::optional<Result> again = measure_apart(drawn, effort)) pair.result.keep_best(*again);
  if (const std::optional<Result> again = measure_apart(longer, effort)) pair.longer->keep_best(*again);
  return pair;
}

}  // namespace

double Pair::apart() const {
  if (!longer || (result.stopped && longer->stopped)) return 1;
  const double ratio = (result.seconds / result.stream_bytes) / (longer->seconds / longer->stream_bytes);
  return std::max(ratio, 1 / ratio);
}

std::vector<Pair> measure_pairs(const std::string& title, const std::vector<Case>& cases, bool finds_cliffs) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::fprintf(stderr, "\r%s: problem %zu of %zu ", title.c_str(), i + 1, cases.size());
    if (const std::optional<Pair> pair = measure_pair(cases[i], finds_cliffs))
      pairs.push_back(*pair);
    else
      std::printf("skipped, no winners within 2 s or a crash: %s\n", cases[i].text().c_str());
  }
  std::fputs("\n", stderr);
  return pairs;
}

}  // namespace ndpool::bench
