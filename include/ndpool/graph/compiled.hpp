// What compiling makes of a graph: the live nodes in order, and for each kind of run a tape. Immutable.
#pragma once

#include <ndpool/graph/node.hpp>
#include <ndpool/graph/operation.hpp>
#include <ndpool/graph/tape.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace ndpool::graph {

/// Where the value of a node comes from.
enum class Source { input, side, parameter, constant, operation };

/// A node of a graph.
template <class T>
struct NodeRecord {
  /// Unique in its graph.
  std::string name;
  /// Shape of the value.
  Shape shape;
  /// Where the value comes from.
  Source source = Source::operation;
  /// Null unless the value is computed.
  std::shared_ptr<const Operation<T>> operation = {};
  std::vector<int> inputs = {};  ///< numbers of nodes of the graph
  std::vector<T> values = {};    ///< of a constant, or of a parameter before training
  bool is_active = false;        ///< depends on an input or a parameter, so it has a derivative

  /// The word by which summaries know it.
  const char* kind() const {
    static constexpr const char* kinds[] = {"input", "side", "parameter", "constant"};
    return source == Source::operation ? operation->kind() : kinds[static_cast<int>(source)];
  }
};

/// A compiled graph: what programs and arenas share. Immutable.
template <class T>
struct Compiled {
  /// Identity of the graph.
  std::uint64_t graph = 0;
  std::vector<NodeRecord<T>> nodes;  ///< in the order of the program
  /// Of each node.
  std::vector<NodeFacts> facts;
  std::vector<int> position;           ///< of each node of the graph; -1 for those that no output needs
  std::vector<std::string> all_names;  ///< of each node of the graph
  /// By kind of run.
  Tape tapes[3];
  /// Numbers of the arena.
  Index elements = 0, bytes = 0;  ///< the arena: what the largest tape needs
  /// Inputs of the node that has most.
  int most_inputs = 0;

  /// The order and layout of one kind of run.
  const Tape& tape(Mode mode) const { return tapes[static_cast<int>(mode)]; }
  /// Bytes of an arena; for all kinds of runs, or for one.
  std::size_t arena_bytes() const { return bytes_of(elements, bytes); }
  /// Bytes of an arena; for all kinds of runs, or for one.
  std::size_t arena_bytes(Mode mode) const { return bytes_of(tape(mode).elements, tape(mode).bytes); }

  /// The node as sentences name it.
  std::string describe(int at) const {
    const NodeRecord<T>& node = nodes[static_cast<std::size_t>(at)];
    return text(node.name, node.shape);
  }
  /// True if a node is one of the graph that was compiled.
  bool knows(const Node& node) const {
    return node.graph() == graph && node.number() >= 0 && node.number() < static_cast<int>(position.size());
  }
  /// The position of a node that the program must have; `what` is what the caller wanted of it.
  int position_of(const Node& node, const char* what) const {
    if (!knows(node)) fail_unknown(node, what);
    const auto number = static_cast<std::size_t>(node.number());
    if (position[number] < 0)
      fail(Code::index_out_of_range, std::string(what) + " of node \"" + all_names[number] +
                                         "\": no output of the program needs this node, so it was dropped");
    return position[number];
  }
  /// What order and lifetimes depend on; throws if the program lacks the node.
  const NodeFacts& facts_of(const Node& node, const char* what) const {
    return facts[static_cast<std::size_t>(position_of(node, what))];
  }

 private:
  [[noreturn]] void fail_unknown(const Node& node, const char* what) const {
    const std::string number = std::string(what) + " of node number " + std::to_string(node.number());
    if (node.graph() == 0)
      fail(Code::index_out_of_range, std::string(what) + " of an empty Node, which is no node of a graph");
    if (node.graph() != graph) fail(Code::index_out_of_range, number + ", which belongs to another graph");
    const std::string then = "the graph had " + std::to_string(position.size()) + " nodes";
    if (node.number() < 0) fail(Code::index_out_of_range, number + ", which does not exist: " + then);
    fail(Code::compiled_before, number + ", which was added after the program was compiled, when " + then);
  }
  static std::size_t bytes_of(Index element_count, Index byte_count) {
    return static_cast<std::size_t>(element_count) * sizeof(T) + static_cast<std::size_t>(byte_count);
  }
};

/// Orders the nodes that `outputs` need, inputs first, and lays out all three runs.
template <class T>
std::shared_ptr<const Compiled<T>> make_compiled(std::uint64_t graph, const std::vector<NodeRecord<T>>& all,
                                                 const std::vector<int>& order, const std::vector<int>& outputs) {
  auto code = std::make_shared<Compiled<T>>();
  code->graph = graph;
  code->position.assign(all.size(), -1);
  for (const NodeRecord<T>& node : all) code->all_names.push_back(node.name);
  std::vector<bool> is_output(all.size(), false);
  for (const int output : outputs) is_output[static_cast<std::size_t>(output)] = true;
  for (const int number : order) {
    const NodeRecord<T>& node = all[static_cast<std::size_t>(number)];
    NodeFacts facts;
    facts.elements = element_count(node.shape);
    facts.is_leaf = node.source != Source::operation;
    facts.is_output = is_output[static_cast<std::size_t>(number)];
    facts.is_active = node.is_active;
    for (const int input : node.inputs) facts.inputs.push_back(code->position[static_cast<std::size_t>(input)]);
    if (node.operation != nullptr) {
      facts.kept_bytes = node.operation->kept_bytes();
      facts.scratch_elements = node.operation->scratch_elements();
      facts.reads_output = node.operation->reads_output();
      const int count = static_cast<int>(node.inputs.size());
      for (int slot = 0; slot < count; ++slot)
        for (int by = 0; by < count; ++by) facts.reads_input.push_back(node.operation->reads_input(slot, by));
      code->most_inputs = std::max(code->most_inputs, count);
    }
    code->position[static_cast<std::size_t>(number)] = static_cast<int>(code->nodes.size());
    code->nodes.push_back(node);
    code->facts.push_back(std::move(facts));
  }
  constexpr Index line = 64, alignment = sizeof(T) < line ? line / static_cast<Index>(sizeof(T)) : 1;
  for (const Mode mode : {Mode::forward, Mode::jvp, Mode::vjp}) {
    Tape& tape = code->tapes[static_cast<int>(mode)];
    tape = make_tape(mode, code->facts, alignment);
    if (tape.elements > (std::numeric_limits<Index>::max() - tape.bytes) / static_cast<Index>(sizeof(T)))
      fail(Code::overflow, "the arrays of this program are too large for memory");
    code->elements = std::max(code->elements, tape.elements);
    code->bytes = std::max(code->bytes, tape.bytes);
  }
  return code;
}

}  // namespace ndpool::graph
