// One layer of the table: `ROW` as `KIND` (Tiny, Loop or Known), for inference or, if TRAINING is defined, for
// training, where MASK says that the loop keeps one.
#include "table.hpp"

namespace embedded {

#ifdef TRAINING

template <class Row>
void Tiny<Row>::train(const InputOf<Row>& x, OutputOf<Row>& y) {
  Row::template Tiny<training>::forward(x, y, memory);
}
template <class Row>
void Tiny<Row>::back(const OutputOf<Row>& gy, InputOf<Row>& gx) {
  Row::template Tiny<training>::backward(memory, gy, gx);
}
template <class Row>
typename Row::template Tiny<training>::Memory Tiny<Row>::memory;

template <class Row>
void Loop<Row>::train(const InputOf<Row>& x, OutputOf<Row>& y) {
  pool.forward(x.data, y.data);
}
template <class Row>
void Loop<Row>::back(const OutputOf<Row>& gy, InputOf<Row>& gx) {
  pool.backward(gy.data, gx.data);
}
template <class Row>
float Loop<Row>::mask[mask_size<Row>()];

/// The loop for training, its mask included.
template <class Row>
constexpr auto known_pool() {
  auto pool = Row::loop;
  if constexpr (has_mask<Row>) {
    pool.training = true;
    pool.mask = Known<Row>::mask;
  }
  return pool;
}
template <class Row>
void Known<Row>::train(const InputOf<Row>& x, OutputOf<Row>& y) {
  known_pool<Row>().forward(x.data, y.data);
}
template <class Row>
void Known<Row>::back(const OutputOf<Row>& gy, InputOf<Row>& gx) {
  known_pool<Row>().backward(gy.data, gx.data);
}
template <class Row>
float Known<Row>::mask[mask_size<Row>()];

#ifdef MASK
template float KIND<ROW>::mask[mask_size<ROW>()];
#endif
template void KIND<ROW>::train(const InputOf<ROW>& x, OutputOf<ROW>& y);
template void KIND<ROW>::back(const OutputOf<ROW>& gy, InputOf<ROW>& gx);

#else

template <class Row>
void Tiny<Row>::infer(const InputOf<Row>& x, OutputOf<Row>& y) {
  Row::template Tiny<inference>::forward(x, y);
}
template <class Row>
void Loop<Row>::infer(const InputOf<Row>& x, OutputOf<Row>& y) {
  pool.forward(x.data, y.data);
}

template <class Row>
void Known<Row>::infer(const InputOf<Row>& x, OutputOf<Row>& y) {
  Row::loop.forward(x.data, y.data);
}

template void KIND<ROW>::infer(const InputOf<ROW>& x, OutputOf<ROW>& y);

#endif

}  // namespace embedded
