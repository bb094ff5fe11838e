// An array that owns its memory, and pools that return their results: what tests want and the library does not need.
#pragma once

#include <ndpool/ndpool.hpp>

#include <memory>
#include <ostream>
#include <vector>

namespace ndpool::testing {

template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(const Shape& shape, const T& fill = T(0)) : shape_(shape), size_(element_count(shape)) {
    elements_.reset(new T[static_cast<std::size_t>(size_)]());
    for (T& element : *this) element = fill;
  }
  Array(const Shape& shape, const std::vector<T>& values) : Array(shape) {
    if (static_cast<Index>(values.size()) != size_) throw std::logic_error("a test gave a wrong number of values");
    for (Index i = 0; i < size_; ++i) (*this)[i] = values[static_cast<std::size_t>(i)];
  }

  const Shape& shape() const { return shape_; }
  Index size() const { return size_; }
  T& operator[](Index i) { return elements_[i]; }
  const T& operator[](Index i) const { return elements_[i]; }
  T* begin() { return elements_.get(); }
  T* end() { return elements_.get() + size_; }
  const T* begin() const { return elements_.get(); }
  const T* end() const { return elements_.get() + size_; }
  View<T> view() { return {elements_.get(), shape_}; }
  View<const T> view() const { return {elements_.get(), shape_}; }

  friend bool operator==(const Array& a, const Array& b) {
    if (!(a.shape_ == b.shape_)) return false;
    for (Index i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }
  friend std::ostream& operator<<(std::ostream& out, const Array& array) {
    out << "shape";
    for (Index extent : array.shape_) out << ' ' << extent;
    out << ":";
    for (const T& element : array) out << ' ' << +element;
    return out;
  }

 private:
  Shape shape_;
  Index size_ = 0;
  std::shared_ptr<T[]> elements_;
};

template <class T>
Array<T> forward(const Pool& pool, const Array<T>& x) {
  Array<T> y(pool.output_shape(x.shape()));
  pool.forward(x.view(), y.view());
  return y;
}

template <class T>
Array<Index> indices(const Pool& pool, const Array<T>& x) {
  Array<T> y(pool.output_shape(x.shape()));
  Array<Index> found(y.shape());
  pool.forward(x.view(), y.view(), found.view());
  return found;
}

template <class T, class D>
Array<D> jvp(const Pool& pool, const Array<T>& x, const Array<D>& dx) {
  Array<D> dy(pool.output_shape(x.shape()));
  pool.jvp(x.view(), dx.view(), dy.view());
  return dy;
}

template <class T, class D>
Array<D> vjp(const Pool& pool, const Array<T>& x, const Array<D>& gy) {
  Array<D> gx(x.shape());
  pool.vjp(x.view(), gy.view(), gx.view());
  return gx;
}

/// 0, 1, 2, ...
template <class T>
Array<T> arange(const Shape& shape, Index first = 0) {
  Array<T> array(shape);
  for (Index i = 0; i < array.size(); ++i) array[i] = static_cast<T>(first + i);
  return array;
}

}  // namespace ndpool::testing
