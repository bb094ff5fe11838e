// Products of matrices: for any scalar by loops, for float and double by Eigen, which only src/graph/product.cpp sees.
#pragma once

#include <ndpool/graph/tree_sum.hpp>

namespace ndpool::graph {

/// A packed row-major matrix, to be read as its transpose if `transposed`; `rows` and `columns` are those of the
/// memory.
template <class T>
struct Matrix {
  /// Row-major.
  const T* data;
  Index rows;     ///< as stored
  Index columns;  ///< as stored
  /// Reads it as its transpose.
  bool transposed = false;
};

/// c = a b, or c += a b if `adds`; c is packed and row-major. Sums by the tree.
template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, T* c, bool adds) {
  using Number = spec::Accumulator<T>;
  const auto read = [](const Matrix<T>& m, Index row, Index column) -> const T& {
    return m.transposed ? m.data[column * m.columns + row] : m.data[row * m.columns + column];
  };
  const Index rows = a.transposed ? a.columns : a.rows, depth = a.transposed ? a.rows : a.columns;
  const Index columns = b.transposed ? b.rows : b.columns;
  for (Index row = 0; row < rows; ++row)
    for (Index column = 0; column < columns; ++column) {
      T& to = c[row * columns + column];
      const Number before = adds ? static_cast<Number>(to) : Number(0);
      const Number sum = tree_sum(depth, Number(0), [&](Index k) {
        return Number(static_cast<Number>(read(a, row, k)) * static_cast<Number>(read(b, k, column)));
      });
      to = spec::narrow<T>(Number(before + sum));
    }
}

void multiply(const Matrix<float>& a, const Matrix<float>& b, float* c, bool adds);
void multiply(const Matrix<double>& a, const Matrix<double>& b, double* c, bool adds);

}  // namespace ndpool::graph
