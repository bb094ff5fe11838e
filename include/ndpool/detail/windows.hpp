// The windows of a pool as they were described, and the axes that its results lack.
#pragma once

#include <ndpool/error.hpp>
#include <ndpool/geometry.hpp>
#include <ndpool/part.hpp>
#include <ndpool/view.hpp>

#include <memory>
#include <type_traits>
#include <variant>

namespace ndpool::detail {

/// What is the same for pools of all reducers, those of a caller's own included.
class Windows {
 public:
  using Description = std::variant<Window, Adaptive, Global, std::shared_ptr<const Geometry>>;

  explicit Windows(const Description& description) : description_(description) {}

  const Description& description() const { return description_; }

  /// Throws if the window does not fit.
  Geometry geometry(const Shape& shape) const {
    Geometry geometry;
    std::visit(
        [&]<class D>(const D& description) {
          if constexpr (std::is_same_v<D, std::shared_ptr<const Geometry>>)
            require(resolve(*description, shape, geometry));
          else
            require(resolve(description, shape, geometry));
        },
        description_);
    return geometry;
  }

  /// The output shape without the axes that a global pool drops.
  Shape visible_shape(const Geometry& geometry) const {
    return drops_axes() ? drop_pooled_axes(geometry) : geometry.output_shape();
  }

  /// A view of the visible output shape with the dropped axes put back as axes of length 1.
  template <class T>
  View<T> with_all_axes(const Geometry& geometry, const View<T>& view, Argument argument) const {
    if (!drops_axes()) return view;
    require(check_view(view, visible_shape(geometry), argument));
    return {view.data(), geometry.output_shape(), strides_of_all_axes(geometry, view.strides())};
  }
  Shape strides_of_all_axes(const Geometry& geometry, const Shape& visible) const {
    if (!drops_axes()) return visible;
    Shape strides;
    for (int a = 0, next = 0; a < geometry.rank; ++a) strides.push_back(geometry.axes[a].pooled ? 1 : visible[next++]);
    return strides;
  }

 private:
  bool drops_axes() const {
    const Global* global = std::get_if<Global>(&description_);
    return global != nullptr && !global->keepdims;
  }

  Description description_;
};

}  // namespace ndpool::detail
