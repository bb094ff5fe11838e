// Arrays of layers: in row-major order, with memory of their own.
#pragma once

#include <ndpool/api.h>
#include <ndpool/extents.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace ndpool::nn {

/// An array of the layers: owns its elements, in row-major order. Copies copy the elements.
template <class T>
class NDPOOL_API BasicTensor {
 public:
  /// Without elements; so is a tensor that was moved from.
  BasicTensor() = default;
  /// Every element is `fill`. Allocates; throws if a length is negative or the product overflows.
  explicit BasicTensor(const Shape& shape, T fill = 0);
  /// Throws if there are not as many values as the shape has elements.
  BasicTensor(const Shape& shape, std::vector<T> values);

  /// Copies the elements.
  BasicTensor(const BasicTensor&) = default;
  /// Copies the elements; without memory for them, this tensor stays what it is.
  BasicTensor& operator=(const BasicTensor&) = default;
  /// Takes the elements; the other tensor has none afterwards.
  BasicTensor(BasicTensor&& other) noexcept
      : values_(std::exchange(other.values_, {})), shape_(std::exchange(other.shape_, Shape{0})) {}
  /// Takes the elements; the other tensor has none afterwards.
  BasicTensor& operator=(BasicTensor&& other) noexcept {
    values_ = std::exchange(other.values_, {});
    shape_ = std::exchange(other.shape_, Shape{0});
    return *this;
  }
  ~BasicTensor() = default;

  /// The length of each axis.
  const Shape& shape() const { return shape_; }
  /// The number of elements.
  Index size() const { return static_cast<Index>(values_.size()); }
  /// The first element.
  T* data() { return values_.data(); }
  /// The first element.
  const T* data() const { return values_.data(); }
  /// The first element.
  T* begin() { return data(); }
  /// One past the last element.
  T* end() { return data() + size(); }
  /// The first element.
  const T* begin() const { return data(); }
  /// One past the last element.
  const T* end() const { return data() + size(); }
  /// The i-th element in row-major order. Not checked.
  T& operator[](Index i) { return values_[static_cast<std::size_t>(i)]; }
  /// The i-th element in row-major order. Not checked.
  T operator[](Index i) const { return values_[static_cast<std::size_t>(i)]; }

  /// True if shapes and elements are equal.
  bool operator==(const BasicTensor&) const = default;

 private:
  std::vector<T> values_;  // before the shape, so that a copy without memory changes neither
  Shape shape_{0};
};

using Tensor = BasicTensor<float>;
/// Positions, such as those of maxima.
using IndexTensor = BasicTensor<Index>;

extern template class BasicTensor<float>;
extern template class BasicTensor<Index>;

}  // namespace ndpool::nn
