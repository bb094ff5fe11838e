// What the tests of layers share: noise, the reference of a pool as a layer would answer, and refusals.
#pragma once

#include "support/array.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ndpool::nn {

inline Tensor noise(const Shape& shape, unsigned seed) {
  Tensor tensor(shape);
  for (float& value : tensor) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>(seed >> 20) - 2048) / 64;
  }
  return tensor;
}

/// What the reference of a pool answers, as a layer would.
inline Tensor by_spec(const Pool& pool, const Tensor& x) {
  Tensor y(pool.output_shape(x.shape()));
  pool.without_kernels().forward(view(x.data(), x.shape()), view(y.data(), y.shape()));
  return y;
}
inline Tensor by_spec(const Pool& pool, const Tensor& x, const Tensor& gy) {
  Tensor gx(x.shape());
  pool.without_kernels().vjp(view(x.data(), x.shape()), view(gy.data(), gy.shape()), view(gx.data(), gx.shape()));
  return gx;
}

template <class Call>
std::string refusal(Call call, Code code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

}  // namespace ndpool::nn
