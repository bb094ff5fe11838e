// The one file that knows Eigen. Products are cut into blocks whose packed copies fit on the stack, so that none
// allocates, whatever the sizes.
#define EIGEN_STACK_ALLOCATION_LIMIT 524288
#include <ndpool/graph/product.hpp>

#include <Eigen/Core>

#include <algorithm>

namespace ndpool::graph {

namespace {

constexpr Index most_depth = 256, most_side = 256;  // 512 KiB of doubles per packed block
static_assert(most_depth * most_side * sizeof(double) <= EIGEN_STACK_ALLOCATION_LIMIT);

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const RowMajor<T>>;

template <class T, class A, class B>
void by_blocks(const A& a, const B& b, T* c, bool adds) {
  Eigen::Map<RowMajor<T>> result(c, a.rows(), b.cols());
  if (!adds) result.setZero();
  for (Index row = 0; row < a.rows(); row += most_side)
    for (Index column = 0; column < b.cols(); column += most_side)
      for (Index k = 0; k < a.cols(); k += most_depth) {
        const Index rows = std::min(most_side, a.rows() - row), columns = std::min(most_side, b.cols() - column),
                    depth = std::min(most_depth, a.cols() - k);
        result.block(row, column, rows, columns).noalias() +=
            a.block(row, k, rows, depth) * b.block(k, column, depth, columns);
      }
}

template <class T>
void by_eigen(const Matrix<T>& a, const Matrix<T>& b, T* c, bool adds) {
  const ConstMap<T> left(a.data, a.rows, a.columns), right(b.data, b.rows, b.columns);
  if (a.transposed && b.transposed)
    by_blocks<T>(left.transpose(), right.transpose(), c, adds);
  else if (a.transposed)
    by_blocks<T>(left.transpose(), right, c, adds);
  else if (b.transposed)
    by_blocks<T>(left, right.transpose(), c, adds);
  else
    by_blocks<T>(left, right, c, adds);
}

}  // namespace

void multiply(const Matrix<float>& a, const Matrix<float>& b, float* c, bool adds) { by_eigen(a, b, c, adds); }
void multiply(const Matrix<double>& a, const Matrix<double>& b, double* c, bool adds) { by_eigen(a, b, c, adds); }

}  // namespace ndpool::graph
