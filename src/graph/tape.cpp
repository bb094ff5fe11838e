#include <ndpool/graph/node.hpp>
#include <ndpool/graph/tape.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace ndpool::graph {

namespace {

/// Arrays that live from their first use to their last and may share memory with those that do not live then.
class Arrays {
 public:
  int add(Index size) {
    arrays_.push_back({size});
    return static_cast<int>(arrays_.size()) - 1;
  }
  void use(int array, Index time) {
    if (array < 0) return;
    Array& used = arrays_[static_cast<std::size_t>(array)];
    used.first = used.first < 0 ? time : std::min(used.first, time);
    used.last = std::max(used.last, time);
  }
  /// Places all arrays that are used. Returns the size of the whole.
  Index place(Index alignment) {
    const Index whole =
        arrays_.size() <= largest_first_limit ? place_largest_first(alignment) : place_in_time(alignment);
    return rounded_up(whole, alignment);
  }
  Index offset(int array) const { return array < 0 ? -1 : arrays_[static_cast<std::size_t>(array)].offset; }

 private:
  static constexpr Index too_many = Index{1} << 61;
  /// More than these are placed in time: the largest first takes time in proportion to the square of their number,
  /// 0.02 s for this many.
  static constexpr std::size_t largest_first_limit = 4096;

  /// The largest first, each at the lowest offset that is free while it lives: packs networks tightly.
  Index place_largest_first(Index alignment) {
    std::vector<int> order = numbers();
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return at(a).size > at(b).size; });
    std::vector<int> placed;
    Index whole = 0;
    for (const int number : order) {
      Array& array = at(number);
      if (array.first < 0) continue;
      // `placed` is sorted by offset, so the first gap that is wide enough is the lowest.
      array.offset = 0;
      for (const int other : placed) {
        const Array& there = at(other);
        if (there.last < array.first || array.last < there.first) continue;
        if (array.offset + array.size <= there.offset) break;
        array.offset = std::max(array.offset, rounded_up(there.offset + there.size, alignment));
      }
      whole = std::max(whole, end_of(array));
      placed.insert(std::upper_bound(placed.begin(), placed.end(), number,
                                     [&](int a, int b) { return at(a).offset < at(b).offset; }),
                    number);
    }
    return whole;
  }

  /// In the order of their first use, each in the smallest gap that those which have ended have left (best fit): takes
  /// time in proportion to n log n.
  Index place_in_time(Index alignment) {
    std::vector<int> starts = numbers(), ends = numbers();
    std::stable_sort(starts.begin(), starts.end(), [&](int a, int b) { return at(a).first < at(b).first; });
    std::stable_sort(ends.begin(), ends.end(), [&](int a, int b) { return at(a).last < at(b).last; });
    Gaps gaps;
    auto ended = ends.begin();
    for (const int number : starts) {
      Array& array = at(number);
      if (array.first < 0) continue;
      for (; at(*ended).last < array.first; ++ended)
        if (at(*ended).first >= 0) gaps.give_back(at(*ended).offset, rounded_up(at(*ended).size, alignment));
      array.offset = 0;
      end_of(array);  // of any offset, so that rounding cannot overflow
      array.offset = gaps.take(rounded_up(array.size, alignment));
      end_of(array);
    }
    return gaps.whole();
  }

  struct Array {
    Index size = 0;
    Index first = -1, last = -1;
    Index offset = -1;
  };

  /// Stretches of memory that no array uses, up to the end of the last array that did.
  class Gaps {
   public:
    /// The offset of a stretch that is free from now on no more: the smallest that is wide enough, or one at the end.
    Index take(Index size) {
      const auto found = by_size_.lower_bound({size, 0});
      if (found == by_size_.end()) {
        whole_ += size;
        return whole_ - size;
      }
      const auto [wide, begin] = *found;
      remove(begin, wide);
      if (wide > size) add(begin + size, wide - size);
      return begin;
    }
    /// Joins what is given back with its neighbours.
    void give_back(Index begin, Index size) {
      if (size == 0) return;
      auto next = by_begin_.lower_bound(begin);
      if (next != by_begin_.end() && next->first == begin + size) {
        size += next->second;
        remove(next->first, next->second);
      }
      next = by_begin_.lower_bound(begin);
      if (next != by_begin_.begin()) {
        const auto [before, length] = *std::prev(next);
        if (before + length == begin) {
          remove(before, length);
          begin = before;
          size += length;
        }
      }
      add(begin, size);
    }
    Index whole() const { return whole_; }

   private:
    void add(Index begin, Index size) {
      by_begin_.emplace(begin, size);
      by_size_.emplace(size, begin);
    }
    void remove(Index begin, Index size) {
      by_begin_.erase(begin);
      by_size_.erase({size, begin});
    }
    std::map<Index, Index> by_begin_;
    std::set<std::pair<Index, Index>> by_size_;
    Index whole_ = 0;
  };

  std::vector<int> numbers() const {
    std::vector<int> all(arrays_.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  /// Offsets stay below 2^62, so that no sum of two overflows.
  static Index end_of(const Array& array) {
    if (array.size < 0 || array.size >= too_many || array.offset + array.size >= too_many)
      fail(Code::overflow, "the arrays of this program are too large for memory");
    return array.offset + array.size;
  }
  Array& at(int array) { return arrays_[static_cast<std::size_t>(array)]; }
  static Index rounded_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }
  std::vector<Array> arrays_;
};

std::vector<Step> steps_of(Mode mode, const std::vector<NodeFacts>& nodes) {
  std::vector<Step> steps;
  for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
    const NodeFacts& node = nodes[static_cast<std::size_t>(n)];
    if (node.is_leaf) continue;
    steps.push_back({.map = Mode::forward, .node = n});
    // The tangent follows its value at once, so that neither waits in memory for the other.
    if (mode == Mode::jvp && node.is_active) steps.push_back({.map = Mode::jvp, .node = n});
  }
  if (mode != Mode::vjp) return steps;
  for (int n = static_cast<int>(nodes.size()) - 1; n >= 0; --n) {
    const NodeFacts& node = nodes[static_cast<std::size_t>(n)];
    if (node.is_leaf || !node.is_active) continue;
    for (int slot = 0; slot < static_cast<int>(node.inputs.size()); ++slot)
      if (nodes[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(slot)])].is_active)
        steps.push_back({.map = Mode::vjp, .node = n, .slot = slot});
  }
  return steps;
}

/// Finds out which arrays each step uses, then where they can lie.
class Layout {
 public:
  Layout(Mode mode, const std::vector<NodeFacts>& nodes) : mode_(mode), nodes_(nodes) {
    tape.steps = steps_of(mode, nodes);
    tape.keeps_value.assign(nodes.size(), false);
    for (const NodeFacts& node : nodes) {
      // Values of leaves come from outside, which may not last as long as results do: outputs are copied.
      value_.push_back(node.is_leaf && !node.is_output ? -1 : elements_.add(node.elements));
      // Tangents of leaves come from outside. Only one that is a result too may have to be made, if it is zero.
      const bool is_given = mode == Mode::jvp && node.is_leaf && !node.is_output;
      derivative_.push_back(mode == Mode::forward || !node.is_active || is_given ? -1 : elements_.add(node.elements));
      kept_.push_back(mode == Mode::forward || !node.is_active || node.kept_bytes == 0 ? -1
                                                                                       : bytes_.add(node.kept_bytes));
    }
  }

  void place(Index alignment) {
    const Index end = static_cast<Index>(tape.steps.size());
    Index first_vjp = end;
    std::vector<int> scratch, summands;
    std::vector<bool> has_gradient(nodes_.size(), false);
    for (Index time = 0; time < end; ++time) {
      const Step& step = tape.steps[static_cast<std::size_t>(time)];
      if (step.map == Mode::vjp) first_vjp = std::min(first_vjp, time);
      use_arrays(step, time);
      scratch.push_back(used_once(node_of(step).scratch_elements, time));
      summands.push_back(-1);
      if (step.map != Mode::vjp) continue;
      const auto input = static_cast<std::size_t>(node_of(step).inputs[static_cast<std::size_t>(step.slot)]);
      if (has_gradient[input] || nodes_[input].is_output) summands.back() = used_once(nodes_[input].elements, time);
      has_gradient[input] = true;
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].is_output) elements_.use(value_[n], end);
      // Gradients of outputs are given before the first step back; those of leaves are results, as tangents of outputs.
      if (mode_ == Mode::vjp && nodes_[n].is_output) elements_.use(derivative_[n], first_vjp);
      if (mode_ == Mode::vjp ? nodes_[n].is_leaf : nodes_[n].is_output) elements_.use(derivative_[n], end);
    }
    tape.elements = elements_.place(alignment);
    tape.bytes = bytes_.place(static_cast<Index>(sizeof(std::uint32_t)));
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      tape.value.push_back(elements_.offset(value_[n]));
      tape.derivative.push_back(elements_.offset(derivative_[n]));
      tape.kept.push_back(bytes_.offset(kept_[n]));
    }
    for (std::size_t s = 0; s < tape.steps.size(); ++s) {
      tape.steps[s].scratch = elements_.offset(scratch[s]);
      tape.steps[s].summand = elements_.offset(summands[s]);
    }
  }

  Tape tape;

 private:
  const NodeFacts& node_of(const Step& step) const { return nodes_[static_cast<std::size_t>(step.node)]; }

  int used_once(Index size, Index time) {
    if (size == 0) return -1;
    const int array = elements_.add(size);
    elements_.use(array, time);
    return array;
  }

  void use_arrays(const Step& step, Index time) {
    const NodeFacts& node = node_of(step);
    const auto own = static_cast<std::size_t>(step.node);
    bytes_.use(kept_[own], time);
    if (step.map == Mode::forward || node.reads_output) use_value(own, step.map, time);
    if (step.map != Mode::forward) elements_.use(derivative_[own], time);
    for (std::size_t by = 0; by < node.inputs.size(); ++by) {
      const auto input = static_cast<std::size_t>(node.inputs[by]);
      if (step.map == Mode::forward) {
        use_value(input, step.map, time);
        continue;
      }
      if (!nodes_[input].is_active || (step.map == Mode::vjp && by != static_cast<std::size_t>(step.slot))) continue;
      elements_.use(derivative_[input], time);
      for (std::size_t slot = 0; slot < node.inputs.size(); ++slot)
        if (node.reads(slot, by)) use_value(static_cast<std::size_t>(node.inputs[slot]), step.map, time);
    }
  }

  void use_value(std::size_t node, Mode map, Index time) {
    if (nodes_[node].is_leaf) return;
    elements_.use(value_[node], time);
    if (map == Mode::vjp) tape.keeps_value[node] = true;
  }

  Mode mode_;
  const std::vector<NodeFacts>& nodes_;
  Arrays elements_, bytes_;
  std::vector<int> value_, derivative_, kept_;
};

}  // namespace

Tape make_tape(Mode mode, const std::vector<NodeFacts>& nodes, Index alignment) {
  Layout layout(mode, nodes);
  layout.place(alignment);
  return std::move(layout.tape);
}

}  // namespace ndpool::graph
