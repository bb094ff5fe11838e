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

/// Copies elements between native arrays of one shape and dtype.
void copy_elements(const Array& from, const Array& to);

}  // namespace ndpool::cli
