// The one file that knows Eigen. Products are cut into blocks whose packed copies fit on the stack, so that none
// allocates, whatever the sizes.
#define EIGEN_STACK_ALLOCATION_LIMIT 524288
#include <ndpool/graph/product.hpp>

#include <Eigen/Core>

#include <algorithm>

namespace ndpool::graph {

namespace {

constexpr Index max_depth = 256, max_side = 256;  // 512 KiB of doubles per packed block
static_assert(max_depth * max_side * sizeof(double) <= EIGEN_STACK_ALLOCATION_LIMIT);

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const RowMajor<T>>;

template <class T, class A, class B>
void by_blocks(const A& a, const B& b, T* c, bool adds) {
  Eigen::Map<RowMajor<T>> result(c, a.rows(), b.cols());
  if (!adds) result.setZero();
  for (Index row = 0; row < a.rows(); row += max_side)
    for (Index column = 0; column < b.cols(); column += max_side)
      for (Index k = 0; k < a.cols(); k += max_depth) {
        const Index rows = std::min(max_side, a.rows() - row), columns = std::min(max_side, b.cols() - column),
                    depth = std::min(max_depth, a.cols() - k);
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
