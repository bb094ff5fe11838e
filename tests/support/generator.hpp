// Random numbers and choices, and lists of them as words of a problem.
#pragma once

#include <ndpool/ndpool.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace ndpool::testing {

class Generator {
 public:
  explicit Generator(std::mt19937_64& random) : random_(random) {}

  Index between(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random_); }
  bool sometimes(int one_in) { return between(1, one_in) == 1; }
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<Index>(choices.size()) - 1))];
  }
  /// A random subset of the axes, at least one, in random order.
  std::vector<int> axes(int rank) {
    std::vector<int> all(static_cast<std::size_t>(rank));
    for (int a = 0; a < rank; ++a) all[static_cast<std::size_t>(a)] = a;
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(static_cast<std::size_t>(between(1, rank)));
    return all;
  }

 private:
  std::mt19937_64& random_;
};

/// `count` entries, separated by commas.
template <class F>
std::string list(std::size_t count, F entry) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += entry(i);
  }
  return text;
}

}  // namespace ndpool::testing
