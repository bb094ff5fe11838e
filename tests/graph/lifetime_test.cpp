// Moved, copied and destroyed graphs, programs, arenas and results: each use is defined, or an error that says why not.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "support/expect_error.hpp"

namespace ndpool::testing {
namespace {

using Numbers = std::vector<float>;

TEST(GraphLifetime, NodesFollowTheGraphThatTheirsWasMovedTo) {
  Graph<float> first;
  const Node x = first.input({2}, "x"), y = first.scale(x, 3, "y");
  Graph<float> second = std::move(first);
  const Node z = second.add(y, x, "z");
  EXPECT_EQ(second.shape(z), Shape{2});
  Graph<float> third;
  const Node stranger = third.input({7}, "stranger");
  third = std::move(second);
  EXPECT_EQ(third.node("z"), z);
  expect_error("node number 0 belongs to another graph", [&] { third.relu(stranger); });
  Program<float> program = third.compile({z});
  const Numbers at{1, 2};
  EXPECT_EQ(program.forward({{x, at}})[z][1], 8);
}

TEST(GraphLifetime, AMovedFromGraphIsEmptyAndKnowsNoOldNode) {
  Graph<float> graph;
  const Node x = graph.input({2, 3}, "x");
  Graph<float> other(std::move(graph));
  expect_error("node number 0 belongs to another graph", [&] { graph.relu(x); });  // NOLINT: use after move is tested
  expect_error("the graph has no node to compute", [&] { graph.compile(); });
  expect_error("there is no node \"x\"", [&] { graph.node("x"); });
  const Node again = graph.input({5}, "x");  // its names are free again, and its nodes are strangers to the other
  EXPECT_EQ(graph.shape(again), Shape{5});
  EXPECT_EQ(other.shape(x), (Shape{2, 3}));
  expect_error("node number 0 belongs to another graph", [&] { other.shape(again); });
  Graph<float> assigned;
  assigned = std::move(other);
  expect_error("node number 0 belongs to another graph", [&] { other.shape(x); });  // NOLINT
}

TEST(GraphLifetime, AssignmentToItselfKeepsTheNodes) {
  Graph<float> graph;
  const Node x = graph.input({2}, "x");
  Graph<float>& same = graph;
  graph = same;
  EXPECT_EQ(graph.shape(x), Shape{2});
  graph = std::move(same);
  EXPECT_EQ(graph.shape(x), Shape{2});
}

TEST(GraphLifetime, ATypedGraphMovesWithItsNodes) {
  typed::Graph<float> graph;
  const auto x = graph.input<typed::Shape<2>>("x");
  typed::Graph<float> moved = std::move(graph);
  EXPECT_EQ(moved.dynamic().shape(moved.relu(x)), Shape{2});
  expect_error("node number 0 belongs to another graph", [&] { graph.relu(x); });  // NOLINT
}

TEST(GraphLifetime, AProgramOutlivesItsGraph) {
  std::optional<Graph<float>> graph(std::in_place);
  const Node x = graph->input({1}, "x"), w = graph->parameter({1}, {2}, "w"), y = graph->multiply(x, w, "y");
  Program<float> program = graph->compile({y});
  graph.reset();
  EXPECT_EQ(program.forward({{x, Numbers{3}}})[y][0], 6);
  EXPECT_EQ(program.parameter(w)[0], 2);
}

/// A program y = w x with an output that is an input, and one that is a parameter.
class ProgramLifetime : public ::testing::Test {
 protected:
  Graph<float> graph;
  Node x = graph.input({1}, "x"), w = graph.parameter({1}, {2}, "w"), y = graph.multiply(x, w, "y");
  Numbers three{3};
  Program<float> compile() const { return graph.compile({y, x, w}); }
  static constexpr const char* gone =
      R"(value of node "y" (1): these results are gone, because the program or arena that held them is)";
  static constexpr const char* moved_from = "this program was moved from: only the one it was moved to can run";
};

TEST_F(ProgramLifetime, AMovedFromProgramSaysSo) {
  Program<float> program = compile();
  Program<float> moved = std::move(program);
  expect_error(moved_from, [&] { program.forward({{x, three}}); });  // NOLINT: use after move is tested
  expect_error(moved_from, [&] { program.jvp({{x, three}}, {{x, three}}); });
  expect_error(moved_from, [&] { program.vjp({{x, three}}, {{y, three}}); });
  expect_error(moved_from, [&] { program.value_and_grad(y, {{x, three}}); });
  expect_error(moved_from, [&] { program.parameter(w); });
  expect_error(moved_from, [&] { program.parameters(); });
  expect_error(moved_from, [&] { program.inputs(); });
  expect_error(moved_from, [&] { program.summary(); });
  expect_error(moved_from, [&] { program.make_arena(); });
  expect_error(moved_from, [&] { program.arena_bytes(); });
  expect_error(moved_from, [&] { program.arena_bytes(graph::Mode::vjp); });
  expect_error(moved_from, [&] { const Program<float> copy = program; });
  const auto arena = moved.make_arena();
  expect_error(moved_from, [&] { std::as_const(program).forward(*arena, {{x, three}}); });
  EXPECT_EQ(moved.forward({{x, three}})[y][0], 6);
  program = moved;  // assigning makes it a program again
  EXPECT_EQ(program.forward({{x, three}})[y][0], 6);
}

TEST_F(ProgramLifetime, AssignmentToItselfKeepsTheProgram) {
  Program<float> program = compile();
  Program<float>& same = program;
  program = std::move(same);
  EXPECT_EQ(program.forward({{x, three}})[y][0], 6);
  program = same;
  EXPECT_EQ(program.parameter(w)[0], 2);
  EXPECT_EQ(program.value_and_grad(y, {{x, three}}).gradients.gradient(w)[0], 3);
}

TEST_F(ProgramLifetime, AProgramMayMoveWhileItRuns) {
  std::optional<Program<float>> program, moved;
  const auto moves = [&](const CustomCall<float>& call) {
    if (program && !moved) moved = std::move(*program);
    call.out({1}).data()[0] = call.x(0).data()[0];
  };
  const Node z = graph.scale(graph.custom({y}, {1}, {moves, moves, moves}), 5);
  program = graph.compile({z});
  const auto results = program->forward({{x, three}});
  EXPECT_EQ(results[z][0], 30);
  expect_error(moved_from, [&] { program->forward({{x, three}}); });
}

/// What y = 10 w x makes of x = 3 and w = 2 if a map in the middle, when it is called, calls `ends` on the program.
class ProgramThatEnds : public ProgramLifetime {
 protected:
  std::optional<Program<float>> program;
  std::function<void()> ends;
  Node z = graph.multiply(graph.custom({graph.scale(x, 10)}, {1}, {copies(), copies(), copies()}), w);

  CustomMaps<float>::Function copies() {
    return [this](const CustomCall<float>& call) {
      if (const auto once = std::exchange(ends, nullptr)) once();
      call.out({1}).data()[0] = call.x(0).data()[0];
    };
  }
};

TEST_F(ProgramThatEnds, InItsOwnRunComputesToTheEnd) {
  const std::function<void()> ways[] = {[&] { program.reset(); }, [&] { program = graph.compile({y}); },
                                        [&] { program = std::optional(*program); }};
  for (const auto& way : ways) {
    program = graph.compile({z});
    const auto arena = program->make_arena();
    ends = way;
    EXPECT_EQ(program->forward(*arena, {{x, three}})[z][0], 60);
    program = graph.compile({z});
    ends = way;
    const auto results = program->forward({{x, three}});
    expect_error(
        R"(value of node "multiply1" (1): these results are gone, because the program or arena that held them is)",
        [&] { results.value(z); });
  }
}

TEST_F(ProgramLifetime, ResultsThatWereMovedFromAreStillResults) {
  Program<float> program = compile();
  auto results = program.forward({{x, three}});
  const auto moved = std::move(results);
  EXPECT_EQ(moved[y][0], 6);
  EXPECT_EQ(results[y][0], 6);  // NOLINT: use after move is tested
}

TEST_F(ProgramLifetime, ResultsStayWithAProgramThatMoves) {
  Program<float> program = compile();
  const auto results = program.forward({{x, three}});
  Program<float> moved = std::move(program);
  EXPECT_EQ(results[y][0], 6);
  EXPECT_EQ(results[w][0], 2);
  moved.forward({{x, three}});
  expect_error(R"(value of node "y" (1): these results are gone, because the program has run again)",
               [&] { results.value(y); });
}

TEST_F(ProgramLifetime, ResultsThatOutliveTheirProgramSaySo) {
  auto program = std::make_unique<Program<float>>(compile());
  const auto results = program->vjp({{x, three}}, {{y, three}});
  EXPECT_EQ(results.gradient(x)[0], 6);
  program.reset();
  expect_error(gone, [&] { results.value(y); });
  expect_error(R"(gradient of node "x" (1): these results are gone, because the program or arena that held them is)",
               [&] { results.gradient(x); });
}

TEST_F(ProgramLifetime, ResultsOfAProgramThatIsAssignedToSaySo) {
  Program<float> program = compile();
  const auto results = program.forward({{x, three}});
  program = compile();
  expect_error(gone, [&] { results.value(y); });
}

TEST_F(ProgramLifetime, ResultsOutliveTheProgramButNotTheArena) {
  auto program = std::make_unique<Program<float>>(compile());
  auto arena = program->make_arena();
  const auto results = program->forward(*arena, {{x, Numbers{3}}});
  program.reset();
  EXPECT_EQ(results[y][0], 6);
  EXPECT_EQ(results[x][0], 3);  // a copy: neither the caller's array nor the program's parameters are there any more
  EXPECT_EQ(results[w][0], 2);
  arena.reset();
  expect_error(gone, [&] { results.value(y); });
}

TEST_F(ProgramLifetime, TangentsOfOutputsThatAreInputsOutliveTheArray) {
  Program<float> program = compile();
  Numbers given{7};
  const auto results = program.jvp({{x, three}}, {{x, given}});
  given[0] = -1;
  EXPECT_EQ(results.tangent(x)[0], 7);
  EXPECT_EQ(results.tangent(w)[0], 0);
  EXPECT_EQ(results.tangent(y)[0], 14);
}

TEST_F(ProgramLifetime, ResultsDoNotFollowParametersThatChange) {
  Program<float> program = compile();
  const auto results = program.forward({{x, three}});
  program.parameter(w)[0] = 100;
  EXPECT_EQ(results[w][0], 2);
}

TEST_F(ProgramLifetime, ResultsCannotBeInputsOfTheRunThatOverwritesThem) {
  Program<float> program = compile();
  const std::string sentence =
      R"(the array for node "y" (1) is a result of the last run, which this run overwrites: copy it first)";
  const auto results = program.forward({{x, three}});
  expect_error("vjp: " + sentence, [&] { program.vjp({{x, three}}, {{y, results[y]}}); });
  const auto again = program.forward({{x, three}});
  const std::string of_x =
      R"(the array for node "x" (1) is a result of the last run, which this run overwrites: copy it first)";
  expect_error("input: " + of_x, [&] { program.forward({{x, again[y]}}); });
  const auto third = program.forward({{x, three}});
  expect_error("jvp: " + of_x, [&] { program.jvp({{x, three}}, {{x, view(third[y].data(), {1})}}); });
  const auto arena = program.make_arena();
  const auto apart = program.forward({{x, three}});
  EXPECT_EQ(program.forward(*arena, {{x, apart[y]}})[y][0], 12);  // another arena's are not overwritten
  EXPECT_EQ(program.forward({{x, std::vector<float>(apart[y].begin(), apart[y].end())}})[y][0], 12);
  EXPECT_EQ(program.forward({{x, program.parameter(w)}})[y][0], 4);
}

TEST_F(ProgramLifetime, CopiesOfAProgramDoNotShareResults) {
  Program<float> program = compile();
  const auto results = program.forward({{x, three}});
  Program<float> copy = program;
  copy.parameter(w)[0] = 5;
  EXPECT_EQ(copy.forward({{x, three}})[y][0], 15);
  EXPECT_EQ(results[y][0], 6);
  EXPECT_EQ(program.forward(*copy.make_arena(), {{x, three}})[y][0], 6);  // an arena fits every copy
}

TEST_F(ProgramLifetime, NamedBindingsLast) {
  Program<float> program = compile();
  Bindings<float> in = {{x, three}};
  Bindings<float> tangents{{x, three}, {w, three}};
  const Numbers overwritten(4096, -1);  // of the stack and the heap, where a dead list would lie
  EXPECT_EQ(overwritten.size(), 4096U);
  EXPECT_EQ(program.forward(in)[y][0], 6);
  EXPECT_EQ(program.jvp(in, tangents).tangent(y)[0], 15);
  const Bindings<float> copy = in;
  in = Bindings<float>();
  EXPECT_EQ(program.value_and_grad(y, copy).value, 6);
  EXPECT_EQ(program.forward({{x, Numbers{4}}})[y][0], 8);  // in the call itself, temporaries live long enough
}

TEST_F(ProgramLifetime, NamedBindingsRefuseArraysThatDoNotLast) {
  expect_error("bindings that are kept cannot hold the array for node number 0: it is a temporary", [&] {
    const Bindings<float> in = {{x, Numbers{3}}};
  });
  const char* const temporary = "bindings that are kept cannot hold the array for node number 0: it is a temporary";
  std::vector<Bound<float>> list;
  expect_error(temporary, [&] { list.push_back({x, Numbers{3}}); });
  expect_error(temporary, [&] { list = {{x, Numbers{3}}}; });
  const Bound<float> one{x, Numbers{3}};
  expect_error(temporary, [&] { compile().forward({one}); });
  expect_error(temporary, [&] { compile().forward(std::span(&one, 1)); });
  const std::initializer_list<Bound<float>> braces = {{x, Numbers{3}}};
  expect_error(temporary, [&] { compile().forward(braces); });
  auto named = {Bound<float>(x, Numbers{3})};
  expect_error(temporary, [&] { compile().jvp(named, {}); });
  const auto lasting = {Bound<float>(x, three)};
  Program<float> program = compile();
  EXPECT_EQ(program.forward(lasting)[y][0], 6);
  list.push_back({x, three});
  EXPECT_EQ(compile().forward(list)[y].size(), 1U);
  const Bindings<float> in = {{x, std::span<const float>(three)}, {w, view(three, {1})}};  // views name an array
  EXPECT_EQ(compile().jvp({{x, three}}, in).tangent(y)[0], 15);
}

TEST(GraphReentry, ARunInsideARunOfTheSameArenaIsAnError) {
  Graph<float> graph;
  const Node x = graph.input({1}, "x");
  std::optional<Program<float>> program;
  using Call = CustomCall<float>;
  const auto again = [&](const Call& call) {
    if (program) program->forward({{x, call.x(0)}});
    call.out({1}).data()[0] = 1;
  };
  const Node y = graph.custom({x}, {1}, {.forward = again, .jvp = again, .vjp = again}, "y");
  program = graph.compile({y});
  const Numbers at{1};
  for (int attempt = 0; attempt < 2; ++attempt)  // the arena is free again after the error
    expect_error("the arena is in use by another run: threads, and runs inside a run, need an arena each", [&] {
      program->forward({{x, at}});
    });
}

}  // namespace
}  // namespace ndpool::testing
