// Runs every function of the table once and prints the outputs of each layer. Both forms must have made the same.
#include "board/board.hpp"
#include "cases.hpp"
#include "table.hpp"

namespace embedded {

template <class Row>
std::remove_const_t<decltype(Row::loop)> Loop<Row>::pool = Row::loop;

namespace {

template <class Row>
void run(const char* name) {
  static InputOf<Row> x, gx[2];
  static OutputOf<Row> y[2], gy;
  fill(x.data, x.size(), 1);
  fill(gy.data, gy.size(), 2);
  Loop<Row>::pool = Row::loop;
  Tiny<Row>::infer(x, y[0]);
  Loop<Row>::infer(x, y[1]);
  bool same = y[0] == y[1];
  if constexpr (has_mask<Row>) {
    Loop<Row>::pool.training = true;
    Loop<Row>::pool.mask = Loop<Row>::mask;
  }
  Tiny<Row>::train(x, y[0]);
  Loop<Row>::train(x, y[1]);
  same = same && y[0] == y[1];
  Tiny<Row>::back(gy, gx[0]);
  Loop<Row>::back(gy, gx[1]);
  // Windows of 3 and 9 numbers are summed in another order, so their averages may differ in the last bit.
  same = same && (gx[0] == gx[1]);
  board::write(name);
  board::write(same ? " same\n" : " different\n");
}

}  // namespace
}  // namespace embedded

void program() {
  using namespace embedded;
  run<max_1d>("max_1d");
  run<avg_1d>("avg_1d");
  run<max_1d_overlapping>("max_1d_overlapping");
  run<avg_1d_overlapping>("avg_1d_overlapping");
  run<max_2d>("max_2d");
  run<avg_2d>("avg_2d");
  run<max_2d_overlapping>("max_2d_overlapping");
  run<avg_2d_overlapping>("avg_2d_overlapping");
}
