// What a graph hands out for its nodes, and how it says that something is wrong with one.
#pragma once

#include <ndpool/error.hpp>
#include <ndpool/extents.hpp>

#include <cstdint>
#include <string>

namespace ndpool {

/// A node of a graph: a number, and the graph that gave it. Cheap to copy; it keeps nothing alive.
class Node {
 public:
  Node() = default;
  /// For graphs: node `number` of a graph.
  Node(std::uint64_t graph, int number) : graph_(graph), number_(number) {}
  std::uint64_t graph() const { return graph_; }  ///< identity of the graph; 0 for a node that is none
  /// The number of the node in its graph.
  int number() const { return number_; }
  friend bool operator==(const Node&, const Node&) = default;

 private:
  std::uint64_t graph_ = 0;
  int number_ = -1;
};

namespace graph {

/// An `Error` whose sentence names nodes. Faults are plain values without strings, so the sentence is kept beside.
class Error : public ndpool::Error {
 public:
  /// A fault and its sentence.
  Error(const Fault& fault, std::string sentence) : ndpool::Error(fault), sentence_(std::move(sentence)) {}
  /// The sentence.
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

[[noreturn]] inline void fail(Code code, const std::string& sentence) {
  throw Error({code, Argument::shape, -1, {}}, sentence);
}

/// `32x1x8x8`; `scalar` for an array without axes.
std::string text(const Shape& shape);

/// `"relu1" (16x8x8)`: how every sentence names a node.
std::string text(const std::string& name, const Shape& shape);

}  // namespace graph
}  // namespace ndpool
