#include "parts.hpp"

#include "operands.hpp"

#include <ndpool/part.hpp>

#include <array>
#include <bit>
#include <string>
#include <vector>

namespace ndpool::python {

namespace {

[[noreturn]] void reject_range(const char* name, const Range& range, Index limit) {
  throw nb::value_error((std::string(name) + " has the range " + std::to_string(range.begin) + " to " +
                         std::to_string(range.end) + "; it must have an entry, and be inside of 0 to " +
                         std::to_string(limit))
                            .c_str());
}

Range checked(const Range& range, const char* name, Index limit) {
  require_range(range, name, limit);
  return range;
}

std::size_t index(int axis) { return static_cast<std::size_t>(axis); }

int read_axis(nb::handle object, const Geometry& geometry) {
  const Index axis = read_index(object, "axis", "an int");
  if (axis < 0 || axis >= geometry.rank) raise({Code::axis_out_of_range, Argument::axes, -1, {axis, geometry.rank}});
  return static_cast<int>(axis);
}

Geometry geometry_of(const Described& pool, nb::handle shape) {
  return pool.pool().geometry(read_extents(shape, "shape", 1));
}

nb::tuple to_tuple(const std::vector<Range>& ranges) {
  nb::list list;
  for (const Range& range : ranges) list.append(nb::make_tuple(range.begin, range.end));
  return nb::tuple(list);
}

/// Calls f(range) for each row of an array of pairs, and writes what it answers into an array with `Row`s of numbers.
template <class Row, class F>
nb::object for_each_range(nb::handle object, const char* name, Index limit, F f) {
  const Array given = read_array(object, name, &flat);
  require_scalar(given, name, flat, "ranges");
  if (given.rank != 2 || given.extents[1] != 2)
    throw nb::value_error((std::string(name) + " must have the shape (n, 2)").c_str());
  const View<const Index> from = given.view<const Index>();
  constexpr Index columns = sizeof(Row) / sizeof(Index);
  const Array made = new_array({given.extents[0], columns}, flat);
  const View<Index> to = made.view<Index>();
  for (Index i = 0; i < given.extents[0]; ++i) {
    const Row row = f(checked({from[{i, 0}], from[{i, 1}]}, name, limit));
    const auto numbers = std::bit_cast<std::array<Index, columns>>(row);
    for (Index c = 0; c < columns; ++c) to[{i, c}] = numbers[static_cast<std::size_t>(c)];
  }
  return made.owner;
}

nb::object cells_of(const Described& pool, nb::handle shape, nb::handle axis, nb::handle outputs) {
  const Geometry geometry = geometry_of(pool, shape);
  const Axis& window = geometry.axes[read_axis(axis, geometry)];
  return for_each_range<PaddedCells>(outputs, "outputs", window.output,
                                     [&](const Range& range) { return cells_under(window, range); });
}

nb::object outputs_of(const Described& pool, nb::handle shape, nb::handle axis, nb::handle cells) {
  const Geometry geometry = geometry_of(pool, shape);
  const Axis& window = geometry.axes[read_axis(axis, geometry)];
  return for_each_range<Range>(cells, "cells", window.input, [&](const Range& range) {
    const Range outputs = outputs_over(window, range);
    return outputs.begin < outputs.end ? outputs : Range{outputs.begin, outputs.begin};
  });
}

nb::tuple part(const nb::handle self, nb::handle shape, nb::handle outputs_object) {
  const Described& pool = nb::cast<const Described&>(self);
  const Geometry whole = geometry_of(pool, shape);
  const std::vector<Range> outputs = read_ranges(outputs_object, "outputs", whole.rank);
  std::vector<Range> cells;
  const Geometry geometry = part_of(whole, outputs, cells);
  Index offset = 0;
  for (int a = 0; a < whole.rank; ++a) offset += cells[static_cast<std::size_t>(a)].begin * whole.cell_stride[a];
  const nb::object made = keep_part(self, geometry, shape, to_tuple(outputs));
  return nb::make_tuple(made, to_tuple(cells), offset);
}

/// Throws what a run on arrays of a shape would throw, before one is made. Answers the shape of the result with all
/// axes, and the pooled axes.
nb::tuple resolve_for(const Described& pool, nb::handle shape, nb::handle dtype, bool derivative) {
  const Geometry geometry = geometry_of(pool, shape);
  const Scalar scalar = read_scalar(dtype, "dtype");
  if (derivative) with_real(scalar, []<class>() {});
  with_dtype(scalar, [&]<class T>() {
    const auto check = [&](const auto& reducer) {
      require(derivative ? spec::core::check_reducer(geometry, reducer) : spec::core::check_value(geometry, reducer));
    };
    std::visit([&](const auto& reduction) { reduction.template with<T>(check); }, pool.pool().reduction());
  });
  nb::list pooled;
  for (int a = 0; a < geometry.rank; ++a)
    if (geometry.axes[a].pooled) pooled.append(a);
  return nb::make_tuple(python::to_tuple(geometry.output_shape()), nb::tuple(pooled));
}

/// Cells from window to window and windows for so many cells, on average.
nb::tuple pace(const Described& pool, nb::handle shape, nb::handle axis) {
  const Geometry geometry = geometry_of(pool, shape);
  const Axis& window = geometry.axes[read_axis(axis, geometry)];
  if (window.adaptive) return nb::make_tuple(window.input, window.output);
  return nb::make_tuple(window.stride, 1);
}

nb::tuple longest_windows(const Described& pool, nb::handle shape) {
  const Geometry geometry = geometry_of(pool, shape);
  Shape lengths;
  for (int a = 0; a < geometry.rank; ++a) lengths.push_back(most_cells_under(geometry.axes[a], 1));
  return python::to_tuple(lengths);
}

/// Indices of an array of `shape` over its axes `axes` as those of a box of its cells: -1 outside of it. With a pool an
/// index outside of its window is an error, else one outside of the array.
nb::object local_indices(nb::handle pool, nb::handle shape_object, nb::handle axes_object, nb::handle indices_object,
                         nb::handle outputs_object, nb::handle cells_object) {
  const Shape shape = read_extents(shape_object, "shape", 1), axes = read_extents(axes_object, "axes", 1);
  const int rank = shape.size();
  const std::vector<Range> outputs = read_ranges(outputs_object, "outputs", rank),
                           cells = read_ranges(cells_object, "cells", rank);
  const bool has_windows = !pool.is_none();
  Geometry whole;
  if (has_windows) whole = nb::cast<const Described&>(pool).pool().geometry(shape);
  Shape extents, strides = Shape::filled(rank, 0), weights = strides;
  for (int a = 0; a < rank; ++a) extents.push_back(outputs[index(a)].end - outputs[index(a)].begin);
  Index weight = 1, stride = 1;
  for (int i = axes.size() - 1; i >= 0; --i) {
    const int a = static_cast<int>(axes[i]);
    if (a < 0 || a >= rank) raise({Code::axis_out_of_range, Argument::axes, -1, {a, rank}});
    require_range(cells[index(a)], "cells", shape[a]);
    weights[a] = weight;
    strides[a] = stride;
    weight *= shape[a];
    stride *= cells[index(a)].end - cells[index(a)].begin;
  }
  if (has_windows)
    for (int a = 0; a < rank; ++a) require_range(outputs[index(a)], "outputs", whole.axes[a].output);
  const Array indices = read_indices(indices_object);
  require_scalar(indices, "indices", flat, "flat indices");
  const View<const Index> from = indices.view<const Index>();
  require(check_view(from, extents, Argument::indices));
  const Array made = new_array(extents, flat);
  const View<Index> to = made.view<Index>();
  const auto convert = [&](const Shape& at) {
    const Index found = from[at];
    to[at] = -1;
    if (found == -1) return;
    Shape output = at;
    for (int a = 0; a < rank; ++a) output[a] += outputs[index(a)].begin;
    const bool is_known = has_windows ? whole.tap_from_flat(output, found) >= 0 : found >= 0 && found < weight;
    if (!is_known) raise({Code::index_out_of_range, Argument::indices, -1, {found, weight}});
    Index local = 0;
    for (const Index axis : axes) {
      const int a = static_cast<int>(axis);
      const Index cell = found / weights[a] % shape[a] - cells[index(a)].begin;
      if (cell < 0 || cell >= cells[index(a)].end - cells[index(a)].begin) return;
      local += cell * strides[a];
    }
    to[at] = local;
  };
  {
    const nb::gil_scoped_release release;
    spec::for_each_position(extents, convert);
  }
  return made.owner;
}

/// Adds to the indices that are not -1.
void shift_indices(nb::handle object, Index by) {
  const Array indices = write_array(object, "indices");
  require_scalar(indices, "indices", flat, "flat indices");
  const View<Index> view = indices.view<Index>();
  const nb::gil_scoped_release release;
  spec::for_each_position(indices.shape(), [&](const Shape& at) {
    if (view[at] >= 0) view[at] += by;
  });
}

}  // namespace

void require_range(const Range& range, const char* name, Index limit) {
  if (range.begin < 0 || range.end > limit || range.begin >= range.end) reject_range(name, range, limit);
}

std::vector<Range> read_ranges(nb::handle object, const char* name, int rank) {
  std::vector<Range> ranges;
  for (nb::handle entry : object) {
    const Shape pair = read_extents(entry, name, 0);
    if (pair.size() != 2) throw nb::value_error((std::string(name) + " must have a pair for each axis").c_str());
    ranges.push_back({pair[0], pair[1]});
  }
  if (static_cast<int>(ranges.size()) != rank)
    throw nb::value_error(
        (std::string(name) + " must have a pair for each of " + std::to_string(rank) + " axes").c_str());
  return ranges;
}

Geometry part_of(const Geometry& whole, const std::vector<Range>& outputs, std::vector<Range>& cells) {
  Geometry geometry = whole;
  cells.clear();
  for (int a = 0; a < whole.rank; ++a) {
    const Range& range = outputs[static_cast<std::size_t>(a)];
    cells.push_back(take_part(geometry, a, checked(range, "outputs", whole.axes[a].output)));
  }
  return geometry;
}

void add_parts(nb::class_<Described>& pool) {
  pool.def("resolve_for", &resolve_for, nb::arg("shape"), nb::arg("dtype"), nb::arg("derivative") = false,
           "(output shape with all axes, pooled axes) on arrays of `shape`. Raises what a run would raise.")
      .def(
          "is_linear", [](const Described& self) { return self.pool().is_linear(); }, "True of sums and averages.")
      .def("longest_windows", &longest_windows, nb::arg("shape"), "Cells of the longest window on each axis.")
      .def("pace", &pace, nb::arg("shape"), nb::arg("axis"),
           "(cells, outputs) of an axis: so many outputs for so many cells.")
      .def(
          "cells_of", &cells_of, nb::arg("shape"), nb::arg("axis"), nb::arg("outputs"),
          "For each row (begin, end) of `outputs` (begin, end, lo, hi): the cells that these outputs of the axis read, "
          "and the padding before and behind the array that they reach over.")
      .def("outputs_of", &outputs_of, nb::arg("shape"), nb::arg("axis"), nb::arg("cells"),
           "For each row (begin, end) of `cells` the outputs (begin, end) of the axis whose windows reach over them.")
      .def(
          "part", &part, nb::arg("shape"), nb::arg("outputs"),
          "(pool, cells, offset) of a range of outputs for each axis: the pool of arrays of just these cells, and what "
          "its flat indices are less than those of the whole.");
}

void add_part_indices(nb::module_& module) {
  module.def("shift_indices", &shift_indices, nb::arg("indices"), nb::arg("by"),
             "Adds `by` to the indices that are not -1.");
  module.def("local_indices", &local_indices, nb::arg("pool").none(), nb::arg("shape"), nb::arg("axes"),
             nb::arg("indices"), nb::arg("outputs"), nb::arg("cells"),
             "Flat indices of some outputs of a pool, or any, as those of a box of cells; -1 outside of it.");
}

}  // namespace ndpool::python
