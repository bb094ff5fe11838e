#include "io/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ndpool::cli {

namespace {

/// Reads an element of `from`, which may lie anywhere, in this machine's byte order.
template <class T>
T decoded(const char* from, Encoding encoding) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (encoding == Encoding::swapped) std::reverse(bytes, bytes + sizeof(T));
  if constexpr (std::is_same_v<T, bool>) return bytes[0] != 0;
  return std::bit_cast<T>(bytes);
}

/// Calls use(offset in a, offset in b) for each line along the last axis of two arrays of one shape.
template <class Use>
void for_each_line(const Array& a, const Array& b, const Use& use, int axis = 0, Index in_a = 0, Index in_b = 0) {
  if (axis >= a.shape.size() - 1) return use(in_a, in_b);
  for (Index i = 0; i < a.shape[axis]; ++i)
    for_each_line(a, b, use, axis + 1, in_a + i * a.strides[axis], in_b + i * b.strides[axis]);
}

}  // namespace

Array Array::cut(int axis, Range range) const { return pick(axis, {range.begin, range.end - range.begin, 1}); }

Array Array::pick(int axis, const Progression& cells) const {
  Array part = *this;
  part.data += cells.first * strides[axis] * item_size(dtype);
  part.shape[axis] = cells.count;
  part.strides[axis] *= cells.step;
  return part;
}

const char* name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return "float32";
    case Dtype::f64: return "float64";
    case Dtype::f16: return "float16";
    case Dtype::bf16: return "bfloat16";
    case Dtype::i8: return "int8";
    case Dtype::u8: return "uint8";
    case Dtype::i16: return "int16";
    case Dtype::u16: return "uint16";
    case Dtype::i32: return "int32";
    case Dtype::i64: return "int64";
    case Dtype::u32: return "uint32";
    case Dtype::u64: return "uint64";
    case Dtype::boolean: return "bool";
  }
  __builtin_unreachable();
}

std::string text_of(const Shape& shape) {
  return shape.empty() ? "()" : fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x"));
}

Shape strides_for(const Shape& shape, bool fortran) {
  if (!fortran) return packed_strides(shape);
  Shape strides = shape;
  Index stride = 1;
  for (int a = 0; a < shape.size(); ++a) {
    strides[a] = stride;
    stride *= std::max<Index>(1, shape[a]);
  }
  return strides;
}

OwnArray::OwnArray(Dtype dtype, const Shape& shape)
    : bytes_(static_cast<std::size_t>(std::max<Index>(1, element_count(shape)) * item_size(dtype))),
      array_{dtype, shape, packed_strides(shape), bytes_.data()} {}

OwnArray::OwnArray(const Array& array) : OwnArray(array.dtype, array.shape) { copy_elements(array, array_); }

void copy_elements(const Array& from, const Array& to) {
  with_dtype(from.dtype, [&]<class T>() {
    const Index size = sizeof(T);
    const int last = from.shape.size() - 1;
    const Index count = last < 0 ? 1 : from.shape[last];
    const Index stride = last < 0 ? 1 : from.strides[last], to_stride = last < 0 ? 1 : to.strides[last];
    for_each_line(from, to, [&](Index offset, Index to_offset) {
      const char* source = from.data + offset * size;
      char* target = to.data + to_offset * size;
      if (stride == 1 && to_stride == 1 && from.encoding == Encoding::native) {
        std::memcpy(target, source, static_cast<std::size_t>(count * size));
        return;
      }
      for (Index i = 0; i < count; ++i) {
        const T value = decoded<T>(source + i * stride * size, from.encoding);
        std::memcpy(target + i * to_stride * size, &value, sizeof(T));
      }
    });
  });
}

}  // namespace ndpool::cli
