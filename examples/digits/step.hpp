// One training step, written down number by number, so that another library can be asked for the same.
#pragma once

#include "data.hpp"
#include "network.hpp"

namespace digits {

/// Lines of a name and numbers: the batch, the loss, and of every parameter its value, its gradient, and its value
/// after a step against the gradient.
inline void write_step(const std::string& file, const Images& images, const ndpool::Pool& pool, std::uint32_t seed,
                       float rate) {
  std::ofstream out(file);
  out.precision(9);
  const auto write = [&](const std::string& name, std::span<const float> values) {
    out << name;
    for (const float value : values) out << ' ' << value;
    out << '\n';
  };
  constexpr std::size_t count = 32;
  std::vector<std::size_t> first(count);
  std::iota(first.begin(), first.end(), std::size_t{0});
  Images batch = room_for(count);
  images.gather(first, batch);
  write("pixels", batch.pixels);
  write("labels", batch.labels);

  Network network(count, pool, seed);
  ndpool::Program<float> program = network.graph.compile({network.loss});
  for (const ndpool::Node& node : program.parameters())
    write("value:" + network.graph.name(node), program.parameter(node));
  const auto [loss, gradients] =
      program.value_and_grad(network.loss, {{network.images, batch.pixels}, {network.labels, batch.labels}});
  write("loss", std::span(&loss, 1));
  for (const ndpool::Node& node : program.parameters())
    write("gradient:" + network.graph.name(node), gradients.gradient(node));
  training::Descent(program, 0.9F).step(gradients, rate);
  for (const ndpool::Node& node : program.parameters())
    write("updated:" + network.graph.name(node), program.parameter(node));
  if (!out) throw std::runtime_error("cannot write " + file);
}

}  // namespace digits
