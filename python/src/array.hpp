// Arrays of Python: NumPy's through its C interface, every other one through DLPack, both without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <ndpool/dtype.hpp>
#include <ndpool/ndpool.hpp>

#include <cstdint>

namespace ndpool::python {

namespace nb = nanobind;

using Scalar = Dtype;

/// NumPy's name of a scalar.
const char* dtype_name(Scalar scalar);

/// An array that somebody else holds: `owner` keeps alive what the pointers point to.
struct Array {
  void* data = nullptr;
  Scalar scalar = Scalar::f32;
  bool writable = false;
  bool is_new = false;  ///< made for this run: overlaps no other array
  bool strides_in_bytes = false;
  int rank = 0;
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;  ///< null: packed
  nb::object owner;

  Shape shape() const { return {extents, rank}; }
  Shape element_strides() const;
  Index size() const;
  /// The addresses it lies in; begin == end if it is empty.
  detail::ByteRange bytes() const;
  template <class T>
  View<T> view() const {
    return {static_cast<T*>(data), shape(), element_strides()};
  }
};

/// The array in `object`. Whatever is no array is made one by numpy.asarray, with `like` as its scalar if that is
/// given. Throws a TypeError for scalars that cannot be pooled. `name` is what errors call the array.
Array read_array(nb::handle object, const char* name, const Scalar* like = nullptr);

/// True if `object` is an array whose type has DLPack's exchange functions, and it is in the memory of the CPU; no
/// error of Python is left behind otherwise. The signs of torch's negated views are not looked at.
bool read_plain(nb::handle object, Array& array);

/// The array in `object`, to be written: a NumPy array or one with DLPack.
Array write_array(nb::handle object, const char* name);

/// The scalar that `object` names: a dtype, whatever numpy.dtype makes one of, or "bfloat16".
Scalar read_scalar(nb::handle object, const char* name);

/// A new packed NumPy array.
Array new_array(const Shape& shape, Scalar scalar);

/// Throws a TypeError for masked arrays and for sequences of them.
void require_no_mask(nb::handle object, const char* name);

/// Throws a TypeError unless `array` has the scalar of another one.
void require_scalar(const Array& array, const char* name, Scalar scalar, const char* other);

/// To be called once, before anything else.
void import_numpy();

}  // namespace ndpool::python
