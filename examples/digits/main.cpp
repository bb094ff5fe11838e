// Trains a small network on 1,437 handwritten digits and tries it on 360 others.
//
//   digits                                         max pooling
//   digits --pool max --pool avg --pool smooth --beta 4 --curve curve.svg
#include "data.hpp"
#include "network.hpp"
#include "step.hpp"

#include <ndpool/threads.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>

namespace {

struct Options {
  std::vector<std::string> pools;
  double beta = 4;
  int epochs = 30;
  std::uint32_t seed = 1;
  float rate = 0.03F, momentum = 0.9F;
  double at_least = 0;  ///< percent
  std::string data = NDPOOL_DIGITS, curve, step;
  bool measure = false;
};

const char* const usage =
    "digits [--pool max|avg|smooth]... [--beta 4] [--epochs 30] [--rate 0.03] [--seed 1]\n"
    "       [--curve FILE.svg] [--data FILE] [--at-least PERCENT: fail below it] [--step FILE: write one training "
    "step]\n"
    "       [--measure: the time of an epoch, and of pooling in it, on one thread]\n";

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--measure") {
      options.measure = true;
      continue;
    }
    if (i + 1 == count) throw std::runtime_error(usage);
    const std::string value = words[++i];
    if (word == "--pool")
      options.pools.push_back(value);
    else if (word == "--beta")
      options.beta = std::stod(value);
    else if (word == "--epochs")
      options.epochs = std::stoi(value);
    else if (word == "--seed")
      options.seed = static_cast<std::uint32_t>(std::stoul(value));
    else if (word == "--rate")
      options.rate = std::stof(value);
    else if (word == "--at-least")
      options.at_least = std::stod(value);
    else if (word == "--data")
      options.data = value;
    else if (word == "--curve")
      options.curve = value;
    else if (word == "--step")
      options.step = value;
    else
      throw std::runtime_error(usage);
  }
  if (options.pools.empty()) options.pools = {"max"};
  return options;
}

ndpool::Pool pool_of(const std::string& name, double beta) {
  const ndpool::Window halves{.kernel = {2, 2}};
  if (name == "max") return ndpool::max_pool(halves);
  if (name == "avg") return ndpool::avg_pool(halves);
  if (name == "smooth") return ndpool::smooth_max_pool(halves, {.beta = beta});
  throw std::runtime_error(usage);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr std::size_t batch = 32;

/// A network with its program, trained batch by batch.
class Trainer {
 public:
  Trainer(const digits::Images& images, const ndpool::Pool& pool, const Options& options)
      : images_(images),
        options_(options),
        network(batch, pool, options.seed),
        program(network.graph.compile({network.loss})),
        descent_(program, options.momentum),
        random_(options.seed + 1),
        order_(images.size()),
        taken_(digits::room_for(batch)) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  /// One pass over the images in a new order; the mean of the losses. What does not fill a batch waits for another
  /// pass.
  double epoch(int number) {
    random_.shuffle(order_);
    const std::size_t batches = images_.size() / batch;
    double sum = 0;
    for (std::size_t b = 0; b < batches; ++b) {
      images_.gather(std::span(order_).subspan(b * batch), taken_);
      const auto [loss, gradients] =
          program.value_and_grad(network.loss, {{network.images, taken_.pixels}, {network.labels, taken_.labels}});
      const int step = static_cast<int>(batches) * number + static_cast<int>(b);
      descent_.step(gradients,
                    training::falling_rate(options_.rate, step, static_cast<int>(batches) * options_.epochs));
      sum += static_cast<double>(loss);
    }
    return sum / static_cast<double>(batches);
  }

 private:
  const digits::Images& images_;
  const Options& options_;

 public:
  digits::Network network;
  ndpool::Program<float> program;

 private:
  training::Descent descent_;
  training::Random random_;
  std::vector<std::size_t> order_;
  digits::Images taken_;
};

/// The same network for as many images as are given at once, with the weights of a trained program.
class Judge {
 public:
  Judge(const digits::Images& images, const ndpool::Pool& pool, const Options& options)
      : images_(images),
        network_(static_cast<ndpool::Index>(images.size()), pool, options.seed),
        program_(network_.graph.compile({network_.logits})) {}
  double accuracy(ndpool::Program<float>& trained) {
    const auto from = trained.parameters(), to = program_.parameters();
    for (std::size_t p = 0; p < to.size(); ++p)
      std::ranges::copy(trained.parameter(from[p]), program_.parameter(to[p]).begin());
    return training::accuracy(program_.forward({{network_.images, images_.pixels}})[network_.logits], images_.labels);
  }

 private:
  const digits::Images& images_;
  digits::Network network_;
  ndpool::Program<float> program_;
};

struct Outcome {
  std::string name;
  double accuracy = 0, seconds = 0;
};

Outcome train(const std::string& name, const digits::Split& split, const Options& options, training::Curves& curves) {
  const auto start = std::chrono::steady_clock::now();
  const ndpool::Pool pool = pool_of(name, options.beta);
  Trainer trainer(split.training, pool, options);
  Judge judge(split.held_out, pool, options);
  if (name == options.pools.front()) std::printf("%s\n", trainer.program.summary().c_str());
  std::vector<double> curve;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const double loss = trainer.epoch(epoch);
    curve.push_back(judge.accuracy(trainer.program));
    std::printf("%-6s epoch %2d/%d  loss %.4f  held-out accuracy %6.2f %%  %5.1f s\n", name.c_str(), epoch + 1,
                options.epochs, loss, 100 * curve.back(), seconds_since(start));
    std::fflush(stdout);
  }
  curves.add(name, curve);
  return {name, curve.empty() ? 0 : curve.back(), seconds_since(start)};
}

/// The best of several epochs, and of as many times the pooling alone that an epoch needs.
void measure(const digits::Split& split, const Options& options) {
  ndpool::set_threads(1);
  const ndpool::Pool pool = pool_of(options.pools.front(), options.beta);
  Trainer trainer(split.training, pool, options);
  double epoch = 1e9, pooling = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    trainer.epoch(0);
    epoch = std::min(epoch, seconds_since(start));
  }
  // A graph of its two pools alone: forward, and back to their inputs.
  ndpool::Graph<float> graph;
  const ndpool::Node first = graph.input({batch, 16, 8, 8}), second = graph.input({batch, 32, 4, 4});
  const ndpool::Node small = graph.pool(first, pool), smaller = graph.pool(second, pool);
  ndpool::Program<float> pools = graph.compile();
  training::Random random(options.seed);
  const auto numbers = [&](ndpool::Node node) {
    std::vector<float> values(static_cast<std::size_t>(ndpool::element_count(graph.shape(node))));
    for (float& value : values) value = random.uniform();
    return values;
  };
  const auto x1 = numbers(first), x2 = numbers(second), g1 = numbers(small), g2 = numbers(smaller);
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t b = 0; b < split.training.size() / batch; ++b)
      pools.vjp({{first, x1}, {second, x2}}, {{small, g1}, {smaller, g2}});
    pooling = std::min(pooling, seconds_since(start));
  }
  std::printf("%.6f %.6f\n", epoch, pooling);
}

}  // namespace

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  const digits::Images images = digits::read_images(options.data);
  training::Random random(options.seed);
  const digits::Split split(images, random);
  if (options.measure) return measure(split, options), 0;
  if (!options.step.empty())
    return digits::write_step(options.step, split.training, pool_of(options.pools.front(), options.beta), options.seed,
                              options.rate),
           0;

  training::Curves curves;
  std::vector<Outcome> outcomes;
  for (const std::string& name : options.pools) outcomes.push_back(train(name, split, options, curves));
  std::printf("\npool    held-out accuracy   time\n");
  bool is_good = true;
  for (const Outcome& outcome : outcomes) {
    std::printf("%-6s  %15.2f %%  %5.1f s\n", outcome.name.c_str(), 100 * outcome.accuracy, outcome.seconds);
    is_good = is_good && 100 * outcome.accuracy >= options.at_least;
  }
  if (!options.curve.empty()) {
    curves.write(options.curve);
    std::printf("The learning curves are in %s\n", options.curve.c_str());
  }
  if (!is_good) std::fprintf(stderr, "an accuracy is below %g %%\n", options.at_least);
  return is_good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
