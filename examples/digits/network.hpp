// The network: convolution, relu and pooling, twice; then a dense layer.
#pragma once

#include "../training.hpp"

namespace digits {

struct Network {
  ndpool::Graph<float> graph;
  ndpool::Node images, labels, logits, loss;

  /// The same weights for every batch size and pool: they depend on the seed alone.
  Network(ndpool::Index batch, const ndpool::Pool& pool, std::uint32_t seed) {
    training::Random random(seed);
    const auto weights = [&](const std::string& name, const ndpool::Shape& shape) {
      return graph.parameter(shape, training::initial_weights(shape, random), name + ".weight");
    };
    const auto bias = [&](const std::string& name, ndpool::Index outputs) {
      return graph.parameter({outputs}, name + ".bias");
    };
    images = graph.side({batch, 1, 8, 8}, "images");  // side data: nobody asks for the gradient of a pixel
    labels = graph.side({batch}, "labels");
    const ndpool::ConvolutionOptions same{.padding = {1, 1}};
    const ndpool::Node w1 = weights("conv1", {16, 1, 3, 3}), w2 = weights("conv2", {32, 16, 3, 3}),
                       w3 = weights("dense", {10, 128});
    ndpool::Node x = graph.relu(graph.convolution(images, w1, bias("conv1", 16), same));
    x = graph.pool(x, pool);
    x = graph.relu(graph.convolution(x, w2, bias("conv2", 32), same));
    x = graph.pool(x, pool);
    logits = graph.dense(graph.flatten(x), w3, bias("dense", 10), "logits");
    loss = graph.softmax_cross_entropy(logits, labels, "loss");
  }
};

}  // namespace digits
