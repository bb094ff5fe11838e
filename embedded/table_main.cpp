// Runs every function of the table once and says for each layer whether loops and tiny layer made the same.
#include "board/board.hpp"
#include "cases.hpp"
#include "table.hpp"

namespace embedded {

template <class Row>
std::remove_const_t<decltype(Row::loop)> Loop<Row>::pool = Row::loop;

namespace {

template <class Row>
struct Arrays {
  InputOf<Row> x, gx;
  OutputOf<Row> y, gy;
};

/// Calls the functions of one form of a layer; tells whether they make what was there before.
template <template <class> class Kind, class Row>
bool run_as(Arrays<Row>& arrays) {
  const auto before = arrays;
  Kind<Row>::infer(arrays.x, arrays.y);
  bool same = arrays.y == before.y;
  if constexpr (requires { Kind<Row>::pool.training; }) {
    Kind<Row>::pool.training = true;
    Kind<Row>::pool.mask = Kind<Row>::mask;
  }
  if constexpr (trains<Row>) {
    Kind<Row>::train(arrays.x, arrays.y);
    same = same && arrays.y == before.y;
    Kind<Row>::back(arrays.gy, arrays.gx);
  }
  return same && arrays.gx == before.gx;
}

template <class Row>
void run(const char* name) {
  static Arrays<Row> arrays;
  fill(arrays.x.data, arrays.x.size(), 1);
  fill(arrays.gy.data, arrays.gy.size(), 2);
  run_as<Tiny>(arrays);
  bool same = true;
  if constexpr (has_loop<Row>) {
    Loop<Row>::pool = Row::loop;
    same = run_as<Loop>(arrays) && run_as<Known>(arrays);
  }
  board::write(name);
  board::write(same ? " same\n" : " different\n");
}

}  // namespace
}  // namespace embedded

#define NDPOOL_RUN(row) embedded::run<embedded::row>(#row)
void program() {
  NDPOOL_RUN(max_1d);
  NDPOOL_RUN(avg_1d);
  NDPOOL_RUN(max_1d_overlapping);
  NDPOOL_RUN(avg_1d_overlapping);
  NDPOOL_RUN(max_2d);
  NDPOOL_RUN(avg_2d);
  NDPOOL_RUN(max_2d_overlapping);
  NDPOOL_RUN(avg_2d_overlapping);
  NDPOOL_RUN(global_avg);
  NDPOOL_RUN(max_2d_padded);
  NDPOOL_RUN(avg_2d_padded);
  NDPOOL_RUN(adaptive_max);
  NDPOOL_RUN(adaptive_avg);
  NDPOOL_RUN(max_2d_int8);
  NDPOOL_RUN(avg_2d_int8);
}
