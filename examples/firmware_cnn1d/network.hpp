// The parts of a small network that ndpool/tiny.hpp does not have: learning, ReLU and a dense layer, with static
// shapes, forward and backward. Everything is float arithmetic in a fixed order, so every machine computes the same
// bits.
#pragma once

#include <ndpool/tiny.hpp>

#include <cstdint>

namespace network {

using ndpool::Index;
using ndpool::tiny::Shape;
using ndpool::tiny::Tensor;

/// Numbers between -1 and 1, the same on every machine.
class Random {
 public:
  float next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<std::int32_t>(state_) >> 8) / 8388608.0F;
  }

 private:
  std::uint32_t state_ = 12345;
};

template <class Array>
void randomise(Array& values, Random& random, float size) {
  for (float& value : values) value = size * random.next();
}

/// One step down the gradient.
template <class Array>
void descend(Array& values, const Array& gradient, float rate) {
  for (Index i = 0; i < Array::size(); ++i) values.data[i] -= rate * gradient.data[i];
}

/// A convolution with its parameters and their gradient.
template <class Conv>
struct Trained {
  typename Conv::Parameters parameters, gradient;

  void forward(const typename Conv::Input& x, typename Conv::Output& y) const { Conv::forward(x, parameters, y); }
  void backward(const typename Conv::Input& x, const typename Conv::Output& gy, typename Conv::Input& gx) {
    Conv::backward(x, parameters, gy, gx, gradient);
  }
  void learn(float rate) {
    descend(parameters.weight, gradient.weight, rate);
    descend(parameters.bias, gradient.bias, rate);
  }
};

/// What is below 0 becomes 0; on the way back, so does its gradient.
template <class Array>
void relu(Array& y) {
  for (float& v : y)
    if (v < 0) v = 0;
}
template <class Array>
void relu_backward(const Array& y, Array& gradient) {
  for (Index i = 0; i < Array::size(); ++i)
    if (!(y.data[i] > 0)) gradient.data[i] = 0;
}

/// One number per sample from all its features.
template <Index batch, Index features>
struct Dense {
  Tensor<float, Shape<features>> weight, weight_gradient;
  Tensor<float, Shape<1>> bias, bias_gradient;

  void forward(const float* x, float* y) const {
    for (Index b = 0; b < batch; ++b) {
      y[b] = bias.data[0];
      for (Index f = 0; f < features; ++f) y[b] += weight.data[f] * x[b * features + f];
    }
  }
  void backward(const float* x, const float* gy, float* gx) {
    weight_gradient = {};
    bias_gradient = {};
    for (Index b = 0; b < batch; ++b) {
      bias_gradient.data[0] += gy[b];
      for (Index f = 0; f < features; ++f) {
        weight_gradient.data[f] += gy[b] * x[b * features + f];
        gx[b * features + f] = gy[b] * weight.data[f];
      }
    }
  }
  void learn(float rate) {
    descend(weight, weight_gradient, rate);
    descend(bias, bias_gradient, rate);
  }
};

}  // namespace network
