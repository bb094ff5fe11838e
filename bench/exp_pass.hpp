// One pass of exp over an array, the unit in which the cost of smooth max is stated. The kernels' own exp is no part of
// the library's face, so this is a plain loop that the compiler vectorises: a Taylor polynomial of degree 6 with the
// power of two put into the exponent, good to a few units in the last place and without special cases.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ndpool::bench {

/// The exp of every element, block by block into `block`, which stays in the first-level cache: a pass writes nothing
/// else.
__attribute__((target_clones("avx2", "default"))) inline void exp_pass(const float* in, std::size_t count, float* block,
                                                                       std::size_t block_size) {
  for (std::size_t begin = 0; begin < count; begin += block_size) {
    const std::size_t size = std::min(block_size, count - begin);
    for (std::size_t i = 0; i < size; ++i) {
      const float x = in[begin + i];
      constexpr float to_integers = 0x1.8p23F;  // adding it rounds to an integer, which is then in the last bits
      const float shifted = x * 1.44269504F + to_integers;
      const float n = shifted - to_integers;
      const float r = (x - n * 0.693145752F) - n * 1.42860677e-6F;
      float p = 1.0F / 720;
      for (const float term : {1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F}) p = p * r + term;
      block[i] = std::bit_cast<float>(std::bit_cast<std::int32_t>(p) + (std::bit_cast<std::int32_t>(shifted) << 23));
    }
  }
}

}  // namespace ndpool::bench
