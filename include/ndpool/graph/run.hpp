// One run of a program: the maps of its nodes, called in the order of a tape, on arrays of an arena.
#pragma once

#include <ndpool/graph/arena.hpp>
#include <ndpool/graph/bindings.hpp>
#include <ndpool/graph/elementwise.hpp>

namespace ndpool::graph {

/// One run over one tape.
template <class T>
struct Run {
  std::shared_ptr<const Compiled<T>> shared_code;  ///< held, as a custom map may move or end the program that runs
  /// Where it computes.
  Arena<T>& arena;
  /// Which kind of run.
  Mode mode;
  /// The right to run.
  typename Arena<T>::Lock lock = {};
  std::shared_ptr<const std::vector<T>> parameters = {};  ///< held, too
  /// What vjp begins with.
  BoundArrays<T> seeds = {};
  /// The program.
  const Compiled<T>& code = *shared_code;

  /// Runs the tape.
  Results<T> run() {
    const Tape& tape = code.tape(mode);
    bool is_seeded = false;
    for (const Step& step : tape.steps) {
      if (step.map == Mode::vjp && !is_seeded) seed(tape), is_seeded = true;
      run_step(tape, step);
    }
    if (mode == Mode::vjp && !is_seeded) seed(tape);
    if (mode != Mode::forward) fill_missing(tape);
    keep_leaf_outputs(tape);
    return {shared_code, arena, mode};
  }

  /// Calls the maps that allocate in their first run, on zeros.
  void rehearse() {
    const Tape& tape = code.tape(mode);
    Index most = 0;
    for (const NodeFacts& facts : code.facts) most = std::max(most, facts.elements);
    const std::vector<T> zeros(static_cast<std::size_t>(most), T(0));
    for (const Step& step : tape.steps) {
      if (!code.nodes[static_cast<std::size_t>(step.node)].operation->needs_rehearsal()) continue;
      for (const int input : code.facts[static_cast<std::size_t>(step.node)].inputs) {
        arena.values[static_cast<std::size_t>(input)] = zeros.data();
        arena.derivatives[static_cast<std::size_t>(input)] = step.map == Mode::jvp ? zeros.data() : nullptr;
      }
      if (step.map == Mode::vjp) arena.derivatives[static_cast<std::size_t>(step.node)] = zeros.data();
      run_step(tape, step);
    }
  }

 private:
  void run_step(const Tape& tape, const Step& step) {
    const auto own = static_cast<std::size_t>(step.node);
    const std::vector<int>& inputs = code.facts[own].inputs;
    const Operation<T>& operation = *code.nodes[own].operation;
    T* y = arena.elements + tape.value[own];
    arena.values[own] = y;
    const T** x = arena.ports.data();
    const T** dx = x + inputs.size();
    bool has_tangent = false;
    for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
      x[slot] = arena.values[static_cast<std::size_t>(inputs[slot])];
      dx[slot] = arena.derivatives[static_cast<std::size_t>(inputs[slot])];
      has_tangent = has_tangent || dx[slot] != nullptr;
    }
    const Arrays<T> arrays{{x, inputs.size()},
                           y,
                           tape.kept[own] < 0 ? nullptr : arena.kept + tape.kept[own],
                           step.scratch < 0 ? nullptr : arena.elements + step.scratch};
    switch (step.map) {
      case Mode::forward: operation.forward(arrays); break;
      case Mode::jvp:
        if (!has_tangent) break;
        operation.jvp(arrays, {dx, inputs.size()}, own_derivative(tape, own));
        break;
      case Mode::vjp: vjp_step(tape, step, arrays, operation); break;
    }
  }

  void vjp_step(const Tape& tape, const Step& step, const Arrays<T>& arrays, const Operation<T>& operation) {
    const T* gy = arena.derivatives[static_cast<std::size_t>(step.node)];
    if (gy == nullptr) return;
    const auto input = static_cast<std::size_t>(
        code.facts[static_cast<std::size_t>(step.node)].inputs[static_cast<std::size_t>(step.slot)]);
    if (arena.derivatives[input] == nullptr) return operation.vjp(arrays, gy, step.slot, own_derivative(tape, input));
    T* summand = arena.elements + step.summand;
    operation.vjp(arrays, gy, step.slot, summand);
    add_to(summand, code.facts[input].elements, arena.elements + tape.derivative[input]);
  }

  /// Where the tape has put a derivative; from now on the node has one.
  T* own_derivative(const Tape& tape, std::size_t node) {
    T* array = arena.elements + tape.derivative[node];
    arena.derivatives[node] = array;
    return array;
  }

  void seed(const Tape& tape) {
    for (const Bound<T>& seed : seeds) {
      const auto node = static_cast<std::size_t>(code.position_of(seed.node(), "gradient"));
      if (code.facts[node].is_active) copy(seed.data(), code.facts[node].elements, own_derivative(tape, node));
    }
  }

  /// Outputs that are leaves are copied, with their tangents: the array of a caller, or a parameter, may be gone or
  /// changed before it is read.
  void keep_leaf_outputs(const Tape& tape) {
    for (std::size_t n = 0; n < code.nodes.size(); ++n) {
      if (!code.facts[n].is_leaf || !code.facts[n].is_output) continue;
      T* kept = arena.elements + tape.value[n];
      copy(arena.values[n], code.facts[n].elements, kept);
      arena.values[n] = kept;
      if (mode == Mode::jvp && code.facts[n].is_active) {
        const T* given = arena.derivatives[n];
        copy(given, code.facts[n].elements, own_derivative(tape, n));
      }
    }
  }

  /// Results that nothing has contributed to are zero.
  void fill_missing(const Tape& tape) {
    for (std::size_t n = 0; n < code.nodes.size(); ++n) {
      const NodeFacts& facts = code.facts[n];
      const bool is_result = mode == Mode::vjp ? facts.is_leaf : facts.is_output;
      if (is_result && facts.is_active && arena.derivatives[n] == nullptr)
        fill(own_derivative(tape, n), facts.elements, T(0));
    }
  }
};

}  // namespace ndpool::graph
