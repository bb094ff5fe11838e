// The order in which a program calls the maps of its nodes, and where in its arena each array lies. Nothing here knows
// the scalar: sizes are numbers of elements, and bytes for what operations keep.
#pragma once

#include <ndpool/fault.hpp>

#include <string>
#include <vector>

namespace ndpool::graph {

/// The three runs of a program; each has an order and a layout of its own, over the same arena.
enum class Mode { forward, jvp, vjp };

/// What order and lifetimes depend on. Nodes are numbered in the order of the program: inputs before their users.
struct NodeFacts {
  /// The nodes that it reads.
  std::vector<int> inputs;
  /// Numbers of the value.
  Index elements = 0;
  /// What the forward map leaves to the derivatives.
  Index kept_bytes = 0;
  /// Numbers of scratch.
  Index scratch_elements = 0;
  bool is_leaf = false;    ///< the value comes from outside
  bool is_output = false;  ///< value and tangent outlive the run
  bool is_active = false;  ///< depends on an input or a parameter, so it has a derivative
  /// The derivatives read the value of the node.
  bool reads_output = false;
  std::vector<bool> reads_input;  ///< entry slot * inputs.size() + by

  /// True if the derivative by input `by` reads input `slot`.
  bool reads(std::size_t slot, std::size_t by) const { return reads_input[slot * inputs.size() + by]; }
};

/// One call of a map.
struct Step {
  /// Which map.
  Mode map = Mode::forward;
  /// Of which node.
  int node = 0;
  int slot = 0;        ///< of vjp: the input whose gradient it makes
  Index scratch = -1;  ///< offset of the scratch of the map
  Index summand = -1;  ///< of vjp: where a gradient is made that is then added to what other users of the input gave
};

/// The order and layout of one kind of run.
struct Tape {
  /// In order.
  std::vector<Step> steps;
  std::vector<Index> value;       ///< offset of each node's value in the arena, -1 where it has none
  std::vector<Index> derivative;  ///< the same of its tangent or gradient
  std::vector<Index> kept;        ///< the same of what its forward map leaves to the derivatives
  std::vector<bool> keeps_value;  ///< whether a VJP reads the value of the node
  Index elements = 0;             ///< what the layout needs of the arena
  /// What the layout needs of the arena in bytes behind the numbers.
  Index bytes = 0;
};

/// Arrays start at multiples of `alignment` elements.
Tape make_tape(Mode mode, const std::vector<NodeFacts>& nodes, Index alignment);

}  // namespace ndpool::graph
