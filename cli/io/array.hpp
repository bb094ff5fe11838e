// An array whose memory somebody else holds, with a scalar known at run time.
#pragma once

#include <ndpool/dtype.hpp>
#include <ndpool/ndpool.hpp>

#include <string>
#include <vector>

namespace ndpool::cli {

/// How the elements lie in memory, apart from strides.
enum class Encoding : unsigned char {
  native,   ///< as the kernels read them
  swapped,  ///< in the other byte order
  foreign,  ///< in this byte order, but not aligned, or bytes that need not be valid values
};

struct Array {
  Dtype dtype = Dtype::f32;
  Shape shape;
  Shape strides;  ///< in elements
  char* data = nullptr;
  Encoding encoding = Encoding::native;

  template <class T>
  View<T> view() const {
    return {reinterpret_cast<T*>(data), shape, strides};
  }
  /// The cells `range` of one axis.
  Array cut(int axis, Range range) const;
  /// The same for cells that may have a distance.
  Array pick(int axis, const Progression& cells) const;
};

/// `float32`, `uint8`, ...: NumPy's names.
const char* name_of(Dtype dtype);

/// `2x3x4`; `()` for no axes.
std::string text_of(const Shape& shape);

/// Packed strides in row-major or, for Fortran's order, column-major order.
Shape strides_for(const Shape& shape, bool fortran);

/// Elements in memory of their own, packed in row-major order.
class OwnArray {
 public:
  OwnArray(Dtype dtype, const Shape& shape);
  /// A native copy of `array`.
  explicit OwnArray(const Array& array);
  const Array& array() const { return array_; }

 private:
  std::vector<char> bytes_;
  Array array_;
};

/// Copies elements to a native array of the same shape and dtype.
void copy_elements(const Array& from, const Array& to);

/// Calls f(element of a, element of b) for two native arrays of one shape.
template <class A, class B, class F>
void for_each_pair(const Array& a, const Array& b, const F& f, int axis = 0, Index in_a = 0, Index in_b = 0) {
  const Index length = a.shape[axis], step_a = a.strides[axis], step_b = b.strides[axis];
  if (axis < a.shape.size() - 1) {
    for (Index i = 0; i < length; ++i) for_each_pair<A, B>(a, b, f, axis + 1, in_a + i * step_a, in_b + i * step_b);
    return;
  }
  A* first = reinterpret_cast<A*>(a.data) + in_a;
  B* second = reinterpret_cast<B*>(b.data) + in_b;
  if (step_a == 1 && step_b == 1)  // for the compiler's vectors
    for (Index i = 0; i < length; ++i) f(first[i], second[i]);
  else
    for (Index i = 0; i < length; ++i) f(first[i * step_a], second[i * step_b]);
}

}  // namespace ndpool::cli
