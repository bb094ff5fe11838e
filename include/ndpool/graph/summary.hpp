// Graphs and programs as text.
#pragma once

#include <ndpool/graph/compiled.hpp>

namespace ndpool::graph {

/// A line of a summary.
struct SummaryRow {
  std::string name;   ///< of the node
  std::string kind;   ///< the word of its operation
  std::string shape;  ///< of its value
  /// Numbers that are trained.
  Index parameters = 0;
  /// Bytes kept for the way back.
  Index kept_bytes = 0;
};

/// The rows as a table; the last lines tell all parameters, what is kept in all, and the arena.
std::string summary_table(const std::vector<SummaryRow>& rows, Index parameters, std::size_t arena_bytes);

/// A node, as Graphviz draws it.
struct DotNode {
  std::string name;   ///< of the node
  std::string label;  ///< what is written on it
  /// Where its value comes from.
  Source source = Source::operation;
  /// The nodes that it reads.
  std::vector<int> inputs;
};
std::string dot_text(const std::vector<DotNode>& nodes);

/// Every node but the parameters, which are counted with the node that uses them. What is kept for the way back is what
/// the operation keeps, and the value where a VJP reads it.
template <class T>
std::string summary(const Compiled<T>& code) {
  std::vector<SummaryRow> rows;
  Index all_parameters = 0;
  const Tape& back = code.tape(Mode::vjp);
  for (std::size_t n = 0; n < code.nodes.size(); ++n) {
    const NodeRecord<T>& node = code.nodes[n];
    const NodeFacts& facts = code.facts[n];
    if (node.source == Source::parameter) {
      all_parameters += facts.elements;
      continue;
    }
    SummaryRow row{node.name, node.kind(), text(node.shape)};
    for (const int input : facts.inputs)
      if (code.nodes[static_cast<std::size_t>(input)].source == Source::parameter)
        row.parameters += code.facts[static_cast<std::size_t>(input)].elements;
    if (facts.is_active && !facts.is_leaf)
      row.kept_bytes = facts.kept_bytes + (back.keeps_value[n] ? facts.elements * static_cast<Index>(sizeof(T)) : 0);
    rows.push_back(std::move(row));
  }
  return summary_table(rows, all_parameters, code.arena_bytes());
}

}  // namespace ndpool::graph
