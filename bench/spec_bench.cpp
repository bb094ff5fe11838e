// What the reference costs: time per input element of each reducer's three maps, beside a plain copy of the same bytes.
#include <ndpool/ndpool.hpp>

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

namespace {

const ndpool::Shape input_shape = {8, 56, 56};
const ndpool::Window window = {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};

struct Arrays {
  explicit Arrays(const ndpool::Pool& pool)
      : output_shape(pool.output_shape(input_shape)),
        x(static_cast<std::size_t>(ndpool::element_count(input_shape))),
        gx(x.size()),
        y(static_cast<std::size_t>(ndpool::element_count(output_shape))) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761U % 1000);
  }
  ndpool::Shape output_shape;
  std::vector<float> x, gx, y;
};

void report(benchmark::State& state, const Arrays& arrays) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(arrays.x.size()));
}

void copy(benchmark::State& state) {
  Arrays arrays(ndpool::sum_pool(window));
  for (auto _ : state) {
    std::memcpy(arrays.gx.data(), arrays.x.data(), arrays.x.size() * sizeof(float));
    benchmark::DoNotOptimize(arrays.gx.data());
    benchmark::ClobberMemory();
  }
  report(state, arrays);
}

void forward(benchmark::State& state, const ndpool::Pool& pool) {
  Arrays arrays(pool);
  for (auto _ : state) pool.forward(ndpool::view(arrays.x, input_shape), ndpool::view(arrays.y, arrays.output_shape));
  report(state, arrays);
}

void jvp(benchmark::State& state, const ndpool::Pool& pool) {
  Arrays arrays(pool);
  for (auto _ : state)
    pool.jvp(ndpool::view(arrays.x, input_shape), ndpool::view(arrays.x, input_shape),
             ndpool::view(arrays.y, arrays.output_shape));
  report(state, arrays);
}

void vjp(benchmark::State& state, const ndpool::Pool& pool) {
  Arrays arrays(pool);
  for (auto _ : state)
    pool.vjp(ndpool::view(arrays.x, input_shape), ndpool::view(arrays.y, arrays.output_shape),
             ndpool::view(arrays.gx, input_shape));
  report(state, arrays);
}

#define NDPOOL_BENCH(name, pool)          \
  BENCHMARK_CAPTURE(forward, name, pool); \
  BENCHMARK_CAPTURE(jvp, name, pool);     \
  BENCHMARK_CAPTURE(vjp, name, pool)

BENCHMARK(copy);
NDPOOL_BENCH(max, ndpool::max_pool(window).without_kernels());
NDPOOL_BENCH(avg, ndpool::avg_pool(window).without_kernels());
NDPOOL_BENCH(smooth_max, ndpool::smooth_max_pool(window).without_kernels());
NDPOOL_BENCH(lp, ndpool::lp_pool(2, window).without_kernels());

}  // namespace
