// An array in a file without a name, in $TMPDIR.
#pragma once

#include "io/array.hpp"
#include "io/mapping.hpp"
#include "io/new_file.hpp"

namespace ndpool::cli {

/// Zeros at first.
class TemporaryArray {
 public:
  TemporaryArray(Dtype dtype, const Shape& shape) : file_("-") {
    const auto bytes = static_cast<std::size_t>(element_count(shape) * item_size(dtype));
    file_.reserve(bytes);
    mapping_ = Mapping(file_.descriptor(), bytes, true, "a temporary file");
    array_ = {dtype, shape, packed_strides(shape), mapping_.data()};
  }
  TemporaryArray(const TemporaryArray&) = delete;
  TemporaryArray& operator=(const TemporaryArray&) = delete;

  const Array& array() const { return array_; }
  template <class T>
  View<T> view() const {
    return array_.view<T>();
  }

 private:
  NewFile file_;
  Mapping mapping_;
  Array array_;
};

}  // namespace ndpool::cli
