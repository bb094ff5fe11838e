// The nodes of a graph: their records, their names, and the identity by which a node knows its graph.
#pragma once

#include <ndpool/graph/compiled.hpp>

#include <unordered_map>

namespace ndpool::graph {

/// A new identity for a graph; never 0.
std::uint64_t new_identity() noexcept;

/// The nodes that `outputs` need, inputs before their users. `inputs[n]` are the inputs of node n.
std::vector<int> order_of(const std::vector<std::vector<int>>& inputs, const std::vector<int>& outputs);

/// The number of each name. Every call takes constant time on average.
class Names {
 public:
  /// The number of a name, -1 if there is none.
  int find(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }
  /// Adds a name.
  void add(const std::string& name, int number) { numbers_.emplace(name, number); }
  /// The first of kind1, kind2, ... that is not taken. Names are never removed, so the next search starts here.
  std::string free_name(const std::string& kind) {
    int& number = first_free_.try_emplace(kind, 1).first->second;
    while (find(kind + std::to_string(number)) >= 0) ++number;
    return kind + std::to_string(number);
  }

 private:
  std::unordered_map<std::string, int> numbers_, first_free_;
};

/// A list that hands out nodes. A copy has an identity of its own, so it does not know the nodes of the other; a list
/// that is moved takes its identity along, so its nodes stay good, and what it leaves behind is new and empty.
template <class T>
class NodeList {
 public:
  /// What is known of a node.
  using Record = NodeRecord<T>;

  /// An empty list.
  NodeList() = default;
  /// The same nodes in a list of its own.
  NodeList(const NodeList& other) : all_(other.all_), names_(other.names_) {}
  /// Takes the nodes; the other list is empty afterwards.
  NodeList(NodeList&& other) noexcept { swap(other); }
  /// Becomes a copy with a new identity; nodes handed out before are strangers.
  NodeList& operator=(const NodeList& other) {
    if (this != &other) NodeList(other).swap(*this);
    return *this;
  }
  /// Takes the nodes; the other list is empty afterwards.
  NodeList& operator=(NodeList&& other) noexcept {
    NodeList(std::move(other)).swap(*this);
    return *this;
  }
  ~NodeList() = default;

  /// Identity of the graph.
  std::uint64_t identity() const { return identity_; }
  /// All nodes, by number.
  const std::vector<Record>& all() const { return all_; }

  /// A node by its handle; throws if it is not of this graph.
  const Record& at(Node node) const {
    if (node.graph() != identity_ || node.number() < 0 || node.number() >= static_cast<int>(all_.size()))
      fail_unknown(node);
    return all_[static_cast<std::size_t>(node.number())];
  }
  /// A node by its name; throws if there is none.
  Node find(const std::string& name) const {
    if (const int number = names_.find(name); number >= 0) return {identity_, number};
    fail(Code::index_out_of_range, "there is no node \"" + name + "\"");
  }
  /// A name that no node has.
  std::string free_name(const std::string& kind) { return names_.free_name(kind); }

  /// Adds a node; throws if another has its name.
  Node append(Record record) {
    if (record.name.empty()) record.name = free_name(record.kind());
    if (names_.find(record.name) >= 0) fail(Code::name_repeated, "there is a node \"" + record.name + "\" already");
    record.is_active = is_active(record);
    all_.push_back(std::move(record));
    const int number = static_cast<int>(all_.size()) - 1;
    names_.add(all_.back().name, number);
    return {identity_, number};
  }

  /// Makes `source` the input `slot` of a node. Takes time in proportion to the graph.
  void set_input(Node node, int slot, Node source) {
    all_[static_cast<std::size_t>(node.number())].inputs[static_cast<std::size_t>(slot)] = source.number();
    std::vector<int> numbers(all_.size());
    for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = static_cast<int>(n);
    // Rewired nodes may come before their inputs, hence the order.
    for (const int n : order_of(inputs(), numbers)) {
      Record& record = all_[static_cast<std::size_t>(n)];
      record.is_active = is_active(record);
    }
  }

  /// The inputs of each node.
  std::vector<std::vector<int>> inputs() const {
    std::vector<std::vector<int>> inputs;
    for (const Record& node : all_) inputs.push_back(node.inputs);
    return inputs;
  }

 private:
  [[noreturn]] void fail_unknown(Node node) const {
    if (node.graph() == 0) fail(Code::index_out_of_range, "an empty Node is no node of a graph");
    const std::string number = "node number " + std::to_string(node.number());
    if (node.graph() != identity_) fail(Code::index_out_of_range, number + " belongs to another graph");
    fail(Code::index_out_of_range, number + " does not exist: the graph has " + std::to_string(all_.size()) + " nodes");
  }
  void swap(NodeList& other) noexcept {
    std::swap(identity_, other.identity_);
    std::swap(all_, other.all_);
    std::swap(names_, other.names_);
  }
  bool is_active(const Record& record) const {
    return record.source == Source::input || record.source == Source::parameter ||
           std::any_of(record.inputs.begin(), record.inputs.end(),
                       [&](int input) { return all_[static_cast<std::size_t>(input)].is_active; });
  }

  std::uint64_t identity_ = new_identity();
  std::vector<Record> all_;
  Names names_;
};

}  // namespace ndpool::graph
