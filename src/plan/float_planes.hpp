// Short floats have kernels of their own for values and sums. Every other map runs on planes that are made floats.
#pragma once

#include "kernels/scratch.hpp"
#include "kernels/table.hpp"

#include <algorithm>

namespace ndpool {

/// The arrays of a map, by their strides.
struct Arrays {
  const void* in = nullptr;
  void* out = nullptr;
  void* tangent_in = nullptr;
  void* tangent_out = nullptr;
};

enum class Role : unsigned char { none, read, written, other };  ///< `other` arrays are not of the plan's scalar
struct Roles {
  Role in = Role::none, out = Role::none, tangent_in = Role::none, tangent_out = Role::none;
  std::size_t other_size = 0;
};

inline constexpr Roles of_jvp{.in = Role::read, .tangent_in = Role::read, .tangent_out = Role::written};
inline constexpr Roles of_vjp{.in = Role::read, .tangent_in = Role::written, .tangent_out = Role::read};

/// Makes the strides of one array those of a packed plane.
inline void pack_plane(Rows& rows, Index Strides::*array, bool has_input_shape) {
  const auto extent = [has_input_shape](const Axis& axis) { return has_input_shape ? axis.input : axis.output; };
  Index step = rows.inner.extent;
  rows.inner.stride.*array = 1;
  rows.horizontal.stride.*array = step;
  step *= extent(rows.horizontal.window);
  for (int v = rows.vertical_count - 1; v >= 0; --v) {
    rows.vertical[v].stride.*array = step;
    step *= extent(rows.vertical[v].window);
  }
}

/// The rows of one plane.
inline Rows one_plane_of(const Rows& rows) {
  Rows plane = rows;
  plane.loop_count = 0;
  plane.row_count = rows.rows_per_plane;
  return plane;
}

/// Runs a map on planes of short floats that are made floats, and its results short again: they are rounded once.
class FloatPlanes {
 public:
  /// Scratch for the planes, or more than anybody has.
  static std::size_t bytes(const Rows& rows) {
    const double floats = 2 * (static_cast<double>(plane_cells(rows)) + static_cast<double>(plane_outputs(rows)));
    constexpr double most = 1e15;  // a plane of a broadcast array can be larger than can be counted in bytes
    return (static_cast<std::size_t>(std::min(floats, most)) * sizeof(float) + 127) / 64 * 64;
  }

  FloatPlanes(const Rows& rows, ScalarKind kind, const Arrays& arrays, const Roles& roles)
      : rows_(rows),
        wide_rows_(one_plane_of(rows)),
        kernel_(kernels().widen->of[static_cast<int>(kind)]),
        roles_(roles) {
    add(&Strides::in, true, roles.in, const_cast<void*>(arrays.in));
    add(&Strides::out, false, roles.out, arrays.out);
    add(&Strides::tangent_in, true, roles.tangent_in, arrays.tangent_in);
    add(&Strides::tangent_out, false, roles.tangent_out, arrays.tangent_out);
  }

  /// Calls run(rows, arrays, scratch) for the planes of rows [begin, end).
  template <class Run>
  void operator()(Index begin, Index end, void* scratch, const Run& run) const {
    for (Index row = begin; row < end; row += rows_.rows_per_plane) {
      const Strides offset = RowCursor(rows_, row).offset();
      void* planes[4];
      float* wide = static_cast<float*>(scratch);
      for (int i = 0; i < 4; ++i) {
        const Plane& plane = planes_[i];
        char* const narrow = static_cast<char*>(plane.data);
        planes[i] = wide;
        if (plane.role == Role::other) planes[i] = narrow + offset.*plane.array * static_cast<Index>(roles_.other_size);
        if (plane.role != Role::read && plane.role != Role::written) continue;
        if (plane.role == Role::read) convert(plane, offset, wide, false);
        wide += plane.elements;
      }
      run(wide_rows_, Arrays{planes[0], planes[1], planes[2], planes[3]}, static_cast<char*>(scratch) + bytes(rows_));
      for (int i = 0; i < 4; ++i)
        if (planes_[i].role == Role::written) convert(planes_[i], offset, static_cast<float*>(planes[i]), true);
    }
  }

 private:
  struct Plane {
    Index Strides::*array;
    bool has_input_shape;
    Role role;
    void* data;
    Index elements;
  };

  void add(Index Strides::*array, bool has_input_shape, Role role, void* data) {
    planes_[count_++] = {array, has_input_shape, role, data,
                         has_input_shape ? plane_cells(rows_) : plane_outputs(rows_)};
    if (role == Role::read || role == Role::written) pack_plane(wide_rows_, array, has_input_shape);
  }

  void convert(const Plane& plane, const Strides& offset, float* wide, bool back) const {
    constexpr Index size = 2;
    kernel_({rows_, plane.array, plane.has_input_shape, static_cast<char*>(plane.data) + offset.*plane.array * size,
             wide, back});
  }

  const Rows& rows_;
  Rows wide_rows_;
  const WidenKernel kernel_;
  const Roles roles_;
  Plane planes_[4];
  int count_ = 0;
};

}  // namespace ndpool
