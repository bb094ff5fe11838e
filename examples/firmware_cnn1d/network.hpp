// The parts of a small network that are not pools: convolution, ReLU and a dense layer, with static shapes, forward and
// backward. Everything is float arithmetic in a fixed order, so every machine computes the same bits.
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

/// Numbers to be learned, and the gradient that is collected for them.
template <Index count>
struct Parameters {
  float value[count] = {}, gradient[count] = {};

  void randomise(Random& random, float size) {
    for (float& v : value) v = size * random.next();
  }
  void learn(float rate) {
    for (Index i = 0; i < count; ++i) {
      value[i] -= rate * gradient[i];
      gradient[i] = 0;
    }
  }
};

/// Convolution over the length, with zeros beyond the ends so that the length stays.
template <Index batch, Index in, Index out, Index length, Index kernel>
struct Conv1D {
  using Input = Tensor<float, Shape<batch, in, length>>;
  using Output = Tensor<float, Shape<batch, out, length>>;
  Parameters<out * in * kernel> weight;
  Parameters<out> bias;

  void forward(const Input& x, Output& y) const {
    for (Index b = 0; b < batch; ++b)
      for (Index o = 0; o < out; ++o)
        for (Index l = 0; l < length; ++l) {
          float sum = bias.value[o];
          for_each_tap(b, o, l, [&](Index w, Index cell) { sum += weight.value[w] * x.data[cell]; });
          y.data[(b * out + o) * length + l] = sum;
        }
  }

  void backward(const Input& x, const Output& gy, Input& gx) {
    gx = {};
    for (Index b = 0; b < batch; ++b)
      for (Index o = 0; o < out; ++o)
        for (Index l = 0; l < length; ++l) {
          const float g = gy.data[(b * out + o) * length + l];
          bias.gradient[o] += g;
          for_each_tap(b, o, l, [&](Index w, Index cell) {
            weight.gradient[w] += g * x.data[cell];
            gx.data[cell] += g * weight.value[w];
          });
        }
  }

  void learn(float rate) {
    weight.learn(rate);
    bias.learn(rate);
  }

 private:
  template <class Visit>
  static void for_each_tap(Index b, Index o, Index l, Visit visit) {
    for (Index i = 0; i < in; ++i)
      for (Index k = 0; k < kernel; ++k)
        if (const Index at = l + k - kernel / 2; at >= 0 && at < length)
          visit((o * in + i) * kernel + k, (b * in + i) * length + at);
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
  Parameters<features> weight;
  Parameters<1> bias;

  void forward(const float* x, float* y) const {
    for (Index b = 0; b < batch; ++b) {
      y[b] = bias.value[0];
      for (Index f = 0; f < features; ++f) y[b] += weight.value[f] * x[b * features + f];
    }
  }
  void backward(const float* x, const float* gy, float* gx) {
    for (Index b = 0; b < batch; ++b) {
      bias.gradient[0] += gy[b];
      for (Index f = 0; f < features; ++f) {
        weight.gradient[f] += gy[b] * x[b * features + f];
        gx[b * features + f] = gy[b] * weight.value[f];
      }
    }
  }
  void learn(float rate) {
    weight.learn(rate);
    bias.learn(rate);
  }
};

}  // namespace network
