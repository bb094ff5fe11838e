// Tells three kinds of sensor signals apart: Conv1D, ReLU, MaxPool1D(2), twice, then Dense, with shapes as types. What
// does not fit together does not compile.
#include "../training.hpp"

#include <cstdio>

namespace {

using namespace ndpool::typed;

constexpr ndpool::Index batch = 32, length = 64, classes = 3;
using Signals = Tensor<float, Shape<batch, 1, length>>;
using Labels = Tensor<float, Shape<batch>>;

/// Sine, square and saw-tooth waves of random frequency and phase, under noise.
void draw(training::Random& random, Signals& signals, Labels& labels) {
  for (ndpool::Index b = 0; b < batch; ++b) {
    const auto kind = random.below(classes);
    labels(b) = static_cast<float>(kind);
    const float waves = 3.0F + random.uniform(), phase = random.uniform();
    for (ndpool::Index i = 0; i < length; ++i) {
      const float turns = waves * static_cast<float>(i) / length + phase, part = turns - std::floor(turns);
      const float wave[] = {std::sin(6.2831853F * part), part < 0.5F ? 1.0F : -1.0F, 2.0F * part - 1.0F};
      signals(b, 0, i) = wave[kind] + 0.5F * random.uniform();
    }
  }
}

template <class S>
Tensor<float, S> initial(training::Random& random) {
  Tensor<float, S> weights;
  std::ranges::copy(training::initial_weights({S::extents.begin(), S::rank}, random), weights.begin());
  return weights;
}

}  // namespace

int main() try {
  training::Random random(1);
  Graph<float> graph;
  const auto signals = graph.side<Shape<batch, 1, length>>("signals");
  const auto labels = graph.side<Shape<batch>>("labels");
  const auto halves = max_pool<Window<Kernel<2>>>;

  const auto w1 = graph.parameter(initial<Shape<8, 1, 5>>(random), "conv1.weight");
  const auto w2 = graph.parameter(initial<Shape<16, 8, 5>>(random), "conv2.weight");
  const auto w3 = graph.parameter(initial<Shape<classes, 16 * length / 4>>(random), "dense.weight");
  const auto x1 =
      graph.pool(graph.relu(graph.convolution<Padding<2>>(signals, w1, graph.parameter<Shape<8>>())), halves);
  const auto x2 = graph.pool(graph.relu(graph.convolution<Padding<2>>(x1, w2, graph.parameter<Shape<16>>())), halves);
  const Var<Shape<batch, classes>> logits = graph.dense(graph.flatten(x2), w3, graph.parameter<Shape<classes>>());
  const auto loss = graph.softmax_cross_entropy(logits, labels, "loss");

  auto program = graph.compile({loss, logits});
  std::printf("%s\n", program.summary().c_str());
  training::Descent descent(program, 0.9F);
  Signals x;
  Labels kinds;
  constexpr int epochs = 10, steps = 30;
  double accuracy = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    for (int step = 0; step < steps; ++step) {
      draw(random, x, kinds);
      const auto [value, gradients] = program.value_and_grad(loss, {{signals, x}, {labels, kinds}});
      descent.step(gradients, training::falling_rate(0.02F, epoch * steps + step, epochs * steps));
      sum += static_cast<double>(value);
    }
    // Signals that it has not seen: every batch is drawn anew.
    accuracy = 0;
    for (int test = 0; test < 10; ++test) {
      draw(random, x, kinds);
      const auto results = program.forward({{signals, x}, {labels, kinds}});
      accuracy += training::accuracy(results[logits], {kinds.begin(), kinds.end()}) / 10;
    }
    std::printf("epoch %2d/%d  loss %.4f  accuracy on new signals %6.2f %%\n", epoch + 1, epochs, sum / steps,
                100 * accuracy);
  }
  return accuracy > 0.95 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
