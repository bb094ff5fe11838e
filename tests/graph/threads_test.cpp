// Threads: one program shared with an arena each, and a program each.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace ndpool::testing {
namespace {

constexpr int workers = 4, rounds = 20;

/// A small network, and images that differ from worker to worker.
struct Network {
  Graph<float> graph;
  Node image = graph.input({4, 1, 12, 12}), labels = graph.side({4});
  Node loss;
  std::vector<std::vector<float>> images;
  std::vector<float> classes = {0, 1, 2, 1};

  Network() {
    const auto weights = [&](const Shape& shape) {
      std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 17) / 16 - 0.5F;
      return graph.parameter(shape, values);
    };
    Node x = graph.relu(graph.convolution(image, weights({6, 1, 3, 3}), weights({6})));
    x = graph.max_pool2d(x, 2, 2, 2);
    x = graph.pool(x, smooth_max_pool({.kernel = {2, 2}}));
    x = graph.dense(graph.flatten(x), weights({3, 24}), weights({3}));
    loss = graph.softmax_cross_entropy(x, labels);
    for (int worker = 0; worker < workers; ++worker) {
      std::vector<float>& one = images.emplace_back(4 * 12 * 12);
      for (std::size_t i = 0; i < one.size(); ++i)
        one[i] = static_cast<float>((i * 7919 + static_cast<std::size_t>(worker) * 104729) % 1009) / 1009;
    }
  }
};

/// Loss, gradient of the image, and tangent of the loss, in one list.
std::vector<float> run(const Network& network, const Program<float>& program, Arena<float>& arena, int worker) {
  const std::vector<float>& image = network.images[static_cast<std::size_t>(worker)];
  const auto inputs = {Bound<float>(network.image, image), Bound<float>(network.labels, network.classes)};
  std::vector<float> all = {program.forward(arena, inputs)[network.loss][0]};
  const auto results = program.value_and_grad(arena, network.loss, inputs);
  for (const float value : results.gradients.gradient(network.image)) all.push_back(value);
  all.push_back(program.jvp(arena, inputs, {{network.image, image}}).tangent(network.loss)[0]);
  return all;
}

template <class Work>
void on_all_workers(Work work) {
  std::vector<std::thread> threads;
  for (int worker = 0; worker < workers; ++worker) threads.emplace_back([=] { work(worker); });
  for (std::thread& thread : threads) thread.join();
}

TEST(GraphThreads, OneProgramSharedWithAnArenaEach) {
  const Network network;
  const Program<float> program = network.graph.compile({network.loss});
  std::vector<std::vector<float>> alone, together(workers);
  for (int worker = 0; worker < workers; ++worker) {
    alone.push_back(run(network, program, *program.make_arena(), worker));
  }
  on_all_workers([&](int worker) {
    const auto arena = program.make_arena();
    for (int round = 0; round < rounds; ++round)
      together[static_cast<std::size_t>(worker)] = run(network, program, *arena, worker);
  });
  EXPECT_EQ(alone, together);
  EXPECT_NE(alone[0], alone[1]);
}

TEST(GraphThreads, AProgramEachFromOneGraph) {
  const Network network;
  std::vector<std::vector<float>> together(workers);
  on_all_workers([&](int worker) {
    Program<float> program = network.graph.compile({network.loss});
    const auto arena = program.make_arena();
    for (float& value : program.parameter(program.parameters()[0])) value += static_cast<float>(worker);
    for (int round = 0; round < rounds; ++round)
      together[static_cast<std::size_t>(worker)] = run(network, program, *arena, worker);
  });
  Program<float> program = network.graph.compile({network.loss});
  const auto arena = program.make_arena();
  EXPECT_EQ(run(network, program, *arena, 0), together[0]);
  for (float& value : program.parameter(program.parameters()[0])) value += 3;
  EXPECT_EQ(run(network, program, *arena, 3), together[3]);
}

}  // namespace
}  // namespace ndpool::testing
