// Nodes, inputs and arrays that do not exist: each is an error that names what was asked for and what there is.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include <type_traits>

#include "support/expect_error.hpp"

namespace ndpool::testing {
namespace {

using Numbers = std::vector<float>;
using Call = CustomCall<float>;

class ForgedNode : public ::testing::Test {
 protected:
  Graph<float> graph;
  Node x = graph.input({2}, "x"), y = graph.relu(x, "y");
  Node beyond = Node(x.graph(), 2), before = Node(x.graph(), -1);
  Numbers two{1, 2};
};

TEST_F(ForgedNode, IsNoNodeOfTheGraph) {
  expect_error("node number 2 does not exist: the graph has 2 nodes", [&] { graph.relu(beyond); });
  expect_error("node number -1 does not exist: the graph has 2 nodes", [&] { graph.shape(before); });
  expect_error("node number 2 does not exist: the graph has 2 nodes", [&] { graph.add(x, beyond); });
  expect_error("node number 2 does not exist: the graph has 2 nodes", [&] { graph.compile({y, beyond}); });
  expect_error("node number 2 does not exist: the graph has 2 nodes", [&] { graph.rewire(y, 0, beyond); });
  expect_error("node number 2 does not exist: the graph has 2 nodes", [&] { graph.max_pool(beyond, {.kernel = {2}}); });
  expect_error("node number 2 does not exist: the graph has 2 nodes", [&] { graph.softmax_cross_entropy(x, beyond); });
  expect_error("node number 2 does not exist: the graph has 2 nodes", [&] { graph.custom({x, beyond}, {2}, {}); });
}

TEST_F(ForgedNode, IsNoNodeOfTheProgram) {
  Program<float> program = graph.compile({y});
  const Node late = graph.scale(y, 2, "late");
  const std::string sentence =
      " of node number 2, which was added after the program was compiled, when the graph had 2 nodes";
  expect_error("input" + sentence, [&] { program.forward({{late, two}}); });
  expect_error("parameter" + sentence, [&] { program.parameter(late); });
  const auto results = program.forward({{x, two}});
  expect_error("value" + sentence, [&] { results.value(late); });
  expect_error("gradient of node number -1, which does not exist: the graph had 2 nodes",
               [&] { results.gradient(before); });
  expect_error("value of an empty Node, which is no node of a graph", [&] { results.value(Node()); });
  Graph<float> other;
  const Node there = other.input({2});
  expect_error("value of node number 0, which belongs to another graph", [&] { results.value(there); });
}

TEST_F(ForgedNode, OfAnotherShapeIsRefusedByTheTypedGraph) {
  typed::Graph<float> typed;
  const Node three = typed.dynamic().input({3}, "three");
  const typed::Var<typed::Shape<5>> wrong(three);
  const std::string sentence = R"(node "three" (3) does not have the shape 5 of its type)";
  expect_error(sentence, [&] { typed.relu(wrong); });
  expect_error(sentence, [&] { typed.add(wrong, wrong); });
  expect_error(sentence, [&] { typed.sum(wrong); });
  expect_error(sentence, [&] { typed.pool(wrong, typed::max_pool<typed::Window<typed::Kernel<2>>>); });
  using Five = typed::Tensor<float, typed::Shape<5>>;
  const auto first = [](const Five& a, const auto&...) { return a; };
  expect_error(sentence, [&] { typed.custom<typed::Shape<5>>(first, first, first, wrong); });
  EXPECT_EQ(typed.dynamic().shape(typed.relu(typed::Var<typed::Shape<3>>(three))), Shape{3});
}

/// The error of a custom node of one input, one of whose maps asks for something.
template <class Ask>
void expect_error_of_maps(Graph<float>& graph, Node x, const char* map, const std::string& sentence, Ask ask) {
  const auto copies = [](const Call& call) { call.out({2}).data()[0] = call.x(0).data()[0]; };
  const auto asks = [&](const Call& call) { ask(call), copies(call); };
  CustomMaps<float> maps{copies, copies, copies};
  const std::string name = map;
  (name == "forward map" ? maps.forward : name == "jvp" ? maps.jvp : maps.vjp) = asks;
  expect_error(R"(custom node "mine" (2): its )" + name + " asks for " + sentence,
               [&] { graph.custom({x}, {2}, maps, "mine"); });
}

TEST_F(ForgedNode, InputsThatACustomNodeDoesNotHave) {
  for (const char* map : {"forward map", "jvp", "vjp"}) {
    expect_error_of_maps(graph, x, map, "input 5, but the node has 1 input", [](const Call& call) { call.x(5); });
    expect_error_of_maps(graph, x, map, "input -1, but the node has 1 input", [](const Call& call) { call.x(-1); });
  }
  expect_error_of_maps(graph, x, "jvp", "input 1, but the node has 1 input", [](const Call& call) { call.dx(1); });
}

TEST_F(ForgedNode, ArraysThatACustomMapDoesNotHave) {
  const std::string forward = "forward map", jvp = "jvp", vjp = "vjp";
  expect_error_of_maps(graph, x, "forward map", "y, which only jvp and vjp have", [](const Call& call) { call.y(); });
  for (const char* map : {"forward map", "vjp"})
    expect_error_of_maps(graph, x, map, "dx, which only jvp has", [](const Call& call) { call.dx(0); });
  for (const char* map : {"forward map", "jvp"}) {
    expect_error_of_maps(graph, x, map, "gy, which only vjp has", [](const Call& call) { call.gy(); });
    expect_error_of_maps(graph, x, map, "slot, which only vjp has", [](const Call& call) { (void)call.slot(); });
  }
}

TEST_F(ForgedNode, ACallCannotBeKeptBeyondItsMap) {
  EXPECT_FALSE(std::is_copy_constructible_v<Call>);
  EXPECT_FALSE(std::is_move_constructible_v<Call>);
}

}  // namespace
}  // namespace ndpool::testing
