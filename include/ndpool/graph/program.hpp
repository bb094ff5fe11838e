// A compiled graph, ready to run: values, tangents and gradients without allocating.
#pragma once

#include <ndpool/graph/run.hpp>
#include <ndpool/graph/summary.hpp>

namespace ndpool {

/// Holds its parameters and an arena of its own. Copies are independent. A program may be shared by threads that each
/// bring an arena (`make_arena`) and change no parameter meanwhile.
template <class T>
class Program {
 public:
  /// A loss and the gradients of the parameters.
  struct ValueAndGradients {
    /// The loss.
    T value;
    /// Of all parameters.
    Results<T> gradients;
  };

  /// Shares the compiled graph; allocates parameters and an arena of its own.
  explicit Program(std::shared_ptr<const graph::Compiled<T>> code)
      : code_(std::move(code)),
        offsets_(this->code().nodes.size(), 0),
        parameters_(std::make_shared<std::vector<T>>()),
        arena_(make_arena()) {
    for (std::size_t n = 0; n < code_->nodes.size(); ++n) {
      if (code_->nodes[n].source != graph::Source::parameter) continue;
      offsets_[n] = parameters_->size();
      parameters_->insert(parameters_->end(), code_->nodes[n].values.begin(), code_->nodes[n].values.end());
    }
  }
  /// Shares the compiled graph; copies the parameters; allocates an arena of its own.
  Program(const Program& other)
      : code_(other.code_), offsets_(other.offsets_), parameters_(other.copy_parameters()), arena_(make_arena()) {}
  /// Takes parameters, arena and results along; the other can only be assigned to afterwards.
  Program(Program&&) noexcept = default;
  /// One of either kind, taken by value: a program that is assigned to itself stays what it is.
  Program& operator=(Program other) noexcept {
    code_.swap(other.code_);
    offsets_.swap(other.offsets_);
    parameters_.swap(other.parameters_);
    arena_.swap(other.arena_);
    return *this;
  }

  // A program that was moved from can be assigned to; every other call is an error that says so.

  /// Bytes of the arena; and what one kind of run alone would need.
  std::size_t arena_bytes() const { return code().arena_bytes(); }
  /// Bytes that one kind of run would need.
  std::size_t arena_bytes(graph::Mode mode) const { return code().arena_bytes(mode); }
  /// Memory for one more thread, to be made on that thread: what kernels keep per thread is allocated now, too.
  std::unique_ptr<Arena<T>> make_arena() const {
    code();
    auto arena = std::make_unique<Arena<T>>(code_);
    for (const graph::Mode mode : {graph::Mode::forward, graph::Mode::jvp, graph::Mode::vjp})
      Run{code_, *arena, mode}.rehearse();
    return arena;
  }

  /// The numbers of a parameter, to be read or changed between runs.
  std::span<T> parameter(const Node& node) {
    const auto position = static_cast<std::size_t>(code().position_of(node, "parameter"));
    if (code_->nodes[position].source != graph::Source::parameter)
      graph::fail(Code::index_out_of_range,
                  "node " + code_->describe(static_cast<int>(position)) + " is not a parameter");
    return {parameters_->data() + offsets_[position], static_cast<std::size_t>(code_->facts[position].elements)};
  }
  /// All parameters, and all inputs, that the outputs need.
  std::vector<Node> parameters() const { return nodes_from(graph::Source::parameter); }
  /// All inputs that the outputs need.
  std::vector<Node> inputs() const { return nodes_from(graph::Source::input); }

  /// The values of all outputs. `inputs` has an array for every input and all side data that the outputs need.
  Results<T> forward(const graph::BoundArrays<T>& inputs) { return forward(*own_arena(), inputs); }
  /// The same in an arena of the caller's; safe to call on several threads, an arena each.
  Results<T> forward(Arena<T>& arena, const graph::BoundArrays<T>& inputs) const {
    return start(arena, graph::Mode::forward, inputs).run();
  }

  /// The values and, for tangents of inputs and parameters (zero where none is given), the tangents of all outputs.
  Results<T> jvp(const graph::BoundArrays<T>& inputs, const graph::BoundArrays<T>& tangents) {
    return jvp(*own_arena(), inputs, tangents);
  }
  /// The same in an arena of the caller's; safe to call on several threads, an arena each.
  Results<T> jvp(Arena<T>& arena, const graph::BoundArrays<T>& inputs, const graph::BoundArrays<T>& tangents) const {
    Run run = start(arena, graph::Mode::jvp, inputs);
    for (const Bound<T>& tangent : tangents) {
      const int at = checked(arena, tangent, "jvp");
      const graph::NodeFacts& facts = code_->facts[static_cast<std::size_t>(at)];
      if (!facts.is_leaf || !facts.is_active)
        graph::fail(Code::index_out_of_range,
                    "jvp: node " + code_->describe(at) + " takes no tangent: only inputs and parameters do");
      bind_once(arena.derivatives, at, tangent, "tangent of node");
    }
    return run.run();
  }

  /// The values and, for gradients of outputs (zero where none is given), the gradients of all inputs and parameters.
  Results<T> vjp(const graph::BoundArrays<T>& inputs, const graph::BoundArrays<T>& gradients) {
    return vjp(*own_arena(), inputs, gradients);
  }
  /// The same in an arena of the caller's; safe to call on several threads, an arena each.
  Results<T> vjp(Arena<T>& arena, const graph::BoundArrays<T>& inputs, const graph::BoundArrays<T>& gradients) const {
    Run run = start(arena, graph::Mode::vjp, inputs);
    for (const Bound<T>& gradient : gradients) {
      const int at = checked(arena, gradient, "vjp");
      if (!code_->facts[static_cast<std::size_t>(at)].is_output)
        graph::fail(Code::index_out_of_range,
                    "vjp: node " + code_->describe(at) + " takes no gradient: it is not an output");
      bind_once(arena.derivatives, at, gradient, "gradient of node");
    }
    std::fill(arena.derivatives.begin(), arena.derivatives.end(), nullptr);  // copied when the way back begins
    run.seeds = gradients;
    return run.run();
  }

  /// The value of an output that is a single number, and its gradients.
  ValueAndGradients value_and_grad(const Node& loss, const graph::BoundArrays<T>& inputs = {}) {
    return value_and_grad(*own_arena(), loss, inputs);
  }
  /// The same in an arena of the caller's; safe to call on several threads, an arena each.
  ValueAndGradients value_and_grad(Arena<T>& arena, const Node& loss, const graph::BoundArrays<T>& inputs = {}) const {
    const graph::NodeFacts& facts = code().facts_of(loss, "value_and_grad");
    if (facts.elements != 1)
      graph::fail(Code::shape_mismatch, "value_and_grad: node " + code_->describe(code_->position_of(loss, "value")) +
                                            " is not a single number");
    const T one(1);
    const Results<T> results = vjp(arena, inputs, {{loss, std::span<const T>(&one, 1)}});
    return {results.value(loss)[0], results};
  }

  /// A table of the nodes: shape, parameters, bytes kept for the way back.
  std::string summary() const { return graph::summary(code()); }

 private:
  using Run = graph::Run<T>;

  const graph::Compiled<T>& code() const {
    if (code_ == nullptr)
      graph::fail(Code::null_data, "this program was moved from: only the one it was moved to can run");
    return *code_;
  }
  /// Held for the whole of a run, as are code and parameters: a custom map may assign to the program that runs.
  std::shared_ptr<Arena<T>> own_arena() {
    code();
    return arena_;
  }
  std::shared_ptr<std::vector<T>> copy_parameters() const {
    code();
    return std::make_shared<std::vector<T>>(*parameters_);
  }

  std::vector<Node> nodes_from(graph::Source source) const {
    std::vector<Node> found;
    for (std::size_t number = 0; number < code().position.size(); ++number)
      if (const int at = code_->position[number];
          at >= 0 && code_->nodes[static_cast<std::size_t>(at)].source == source)
        found.emplace_back(code_->graph, static_cast<int>(number));
    return found;
  }

  /// Checks the inputs, and sets the arena up for a run.
  Run start(Arena<T>& arena, graph::Mode mode, const graph::BoundArrays<T>& inputs) const {
    if (arena.program_code() != &code()) graph::fail(Code::shape_mismatch, "the arena was made by another program");
    typename Arena<T>::Lock lock = arena.lock();
    ++*arena.runs;
    std::fill(arena.values.begin(), arena.values.end(), nullptr);
    std::fill(arena.derivatives.begin(), arena.derivatives.end(), nullptr);
    for (const Bound<T>& input : inputs) bind(arena, input);
    for (std::size_t n = 0; n < code_->nodes.size(); ++n) {
      const graph::NodeRecord<T>& node = code_->nodes[n];
      if (node.source == graph::Source::parameter) arena.values[n] = parameters_->data() + offsets_[n];
      if (node.source == graph::Source::constant) arena.values[n] = node.values.data();
      if (code_->facts[n].is_leaf && arena.values[n] == nullptr && code_->facts[n].elements > 0)
        graph::fail(Code::null_data, std::string(node.kind()) + " node " + code_->describe(static_cast<int>(n)) +
                                         " needs an array, and none was given");
    }
    return {code_, arena, mode, std::move(lock), parameters_};
  }

  void bind(Arena<T>& arena, const Bound<T>& input) const {
    // A program whose outputs do not need some input still takes it: others of the same graph may.
    if (code_->knows(input.node()) && code_->position[static_cast<std::size_t>(input.node().number())] < 0) return;
    const int at = checked(arena, input, "input");
    const graph::Source source = code_->nodes[static_cast<std::size_t>(at)].source;
    if (source != graph::Source::input && source != graph::Source::side)
      graph::fail(Code::index_out_of_range, "node " + code_->describe(at) + " is no input of the program, but a " +
                                                code_->nodes[static_cast<std::size_t>(at)].kind() + " node");
    bind_once(arena.values, at, input, "input");
  }

  void bind_once(std::vector<const T*>& arrays, int at, const Bound<T>& given, const char* what) const {
    const T*& array = arrays[static_cast<std::size_t>(at)];
    if (array != nullptr) graph::fail(Code::wrong_count, what + (" " + code_->describe(at)) + " was given twice");
    array = given.data();
  }

  /// The position of the node of an array whose size, and shape if it tells one, is right, and that this run does not
  /// overwrite.
  int checked(const Arena<T>& arena, const Bound<T>& array, const char* what) const {
    const int at = code_->position_of(array.node(), what);
    if (arena.holds(array.data(), array.count()))
      graph::fail(Code::overlap, std::string(what) + ": the array for node " + code_->describe(at) +
                                     " is a result of the last run, which this run overwrites: copy it first");
    const graph::NodeRecord<T>& node = code_->nodes[static_cast<std::size_t>(at)];
    if (array.shape() != nullptr && !(*array.shape() == node.shape))
      graph::fail(Code::shape_mismatch, std::string(what) + ": the array for node " + code_->describe(at) + " is " +
                                            graph::text(*array.shape()));
    if (array.count() != element_count(node.shape))
      graph::fail(Code::shape_mismatch, std::string(what) + ": the array for node " + code_->describe(at) + " holds " +
                                            std::to_string(array.count()) + " numbers instead of " +
                                            std::to_string(element_count(node.shape)));
    return at;
  }

  std::shared_ptr<const graph::Compiled<T>> code_;
  std::vector<std::size_t> offsets_;  ///< of each node that is a parameter
  std::shared_ptr<std::vector<T>> parameters_;
  std::shared_ptr<Arena<T>> arena_;
};

}  // namespace ndpool
