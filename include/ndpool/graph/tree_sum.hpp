// Sums of many terms, added in the order of the spec's fold: the error grows with log2 of their number.
#pragma once

#include <ndpool/spec/scalar.hpp>
#include <ndpool/spec/walk.hpp>

namespace ndpool::graph {

/// Terms first .. first + Count - 1 of a power of two, without a run-time split.
template <Index Count, class Sum, class Term>
Sum sum_of_block(Index first, const Term& term) {
  if constexpr (Count == 1)
    return term(first);
  else
    return Sum(sum_of_block<Count / 2, Sum>(first, term) + sum_of_block<Count / 2, Sum>(first + Count / 2, term));
}

/// Terms first .. first + count - 1 of at least one, split where the spec splits the taps of a window.
template <class Sum, class Term>
Sum sum_of_terms(Index first, Index count, const Term& term) {
  constexpr Index block = 16;  // a power of two, so that the order stays the same
  if (count == block) return sum_of_block<block, Sum>(first, term);
  if (count == 1) return term(first);
  const Index half = spec::first_half(count);
  return Sum(sum_of_terms<Sum>(first, half, term) + sum_of_terms<Sum>(first + half, count - half, term));
}

/// term(0) + ... + term(count - 1), or `zero` of no terms.
template <class Sum, class Term>
Sum tree_sum(Index count, const Sum& zero, const Term& term) {
  return count == 0 ? zero : sum_of_terms<Sum>(0, count, term);
}

/// Numbers that are added side by side.
template <class Number, Index Count>
struct Lanes {
  /// One partial sum per lane.
  Number at[Count] = {};
  friend Lanes operator+(const Lanes& a, const Lanes& b) {
    Lanes sum;
    for (Index i = 0; i < Count; ++i) sum.at[i] = a.at[i] + b.at[i];
    return sum;
  }
};

/// The sum of each column of a packed matrix. Reads whole cache lines: sixteen columns at a time.
template <class T>
void sum_columns(const T* matrix, Index rows, Index columns, T* sums) {
  using Number = spec::Accumulator<T>;
  const auto sum_lanes = [&]<Index Count>(Index column, const Lanes<Number, Count>& zero) {
    const auto all = tree_sum(rows, zero, [&](Index row) {
      Lanes<Number, Count> lanes;
      for (Index i = 0; i < Count; ++i) lanes.at[i] = static_cast<Number>(matrix[row * columns + column + i]);
      return lanes;
    });
    for (Index i = 0; i < Count; ++i) sums[column + i] = spec::narrow<T>(all.at[i]);
    return column + Count;
  };
  Index column = 0;
  while (column + 16 <= columns) column = sum_lanes(column, Lanes<Number, 16>{});
  while (column < columns) column = sum_lanes(column, Lanes<Number, 1>{});
}

}  // namespace ndpool::graph
