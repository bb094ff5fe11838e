// Arrays of layers: in row-major order, with memory of their own.
#pragma once

#include <ndpool/extents.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace ndpool::nn {

template <class T>
class BasicTensor {
 public:
  /// Without elements; so is a tensor that was moved from.
  BasicTensor() = default;
  explicit BasicTensor(const Shape& shape, T fill = 0);
  /// Throws if there are not as many values as the shape has elements.
  BasicTensor(const Shape& shape, std::vector<T> values);

  BasicTensor(const BasicTensor&) = default;
  BasicTensor& operator=(const BasicTensor&) = default;
  BasicTensor(BasicTensor&& other) noexcept
      : values_(std::exchange(other.values_, {})), shape_(std::exchange(other.shape_, Shape{0})) {}
  BasicTensor& operator=(BasicTensor&& other) noexcept {
    values_ = std::exchange(other.values_, {});
    shape_ = std::exchange(other.shape_, Shape{0});
    return *this;
  }
  ~BasicTensor() = default;

  const Shape& shape() const { return shape_; }
  Index size() const { return static_cast<Index>(values_.size()); }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  T& operator[](Index i) { return values_[static_cast<std::size_t>(i)]; }
  T operator[](Index i) const { return values_[static_cast<std::size_t>(i)]; }

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
