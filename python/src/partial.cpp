// Windows made of several parts: states of reducers as arrays of bytes, one entry more than the outputs have axes.
#include <ndpool/partial.hpp>

#include "operands.hpp"
#include "parts.hpp"

namespace ndpool::python {

namespace {

using partial::Box;
using partial::States;

struct Given {
  Geometry whole;
  Box box;
};

Given read_box(const Described& pool, nb::handle shape, nb::handle outputs, nb::handle cells) {
  Given given{pool.pool().geometry(read_extents(shape, "shape", 1)), {}};
  given.box.outputs = read_ranges(outputs, "outputs", given.whole.rank);
  if (!cells.is_none()) given.box.cells = read_ranges(cells, "cells", given.whole.rank);
  for (int a = 0; a < given.whole.rank; ++a) {
    const auto i = static_cast<std::size_t>(a);
    require_range(given.box.outputs[i], "outputs", given.whole.axes[a].output);
    if (!cells.is_none()) require_range(given.box.cells[i], "cells", given.whole.axes[a].input);
  }
  return given;
}

/// Calls f.operator()<T>(reducer) with the reference of the pool's reducer for a scalar.
template <class F>
void with_reducer(const Described& pool, Scalar scalar, F f) {
  with_dtype(scalar, [&]<class T>() {
    std::visit(
        [&](const auto& reduction) {
          reduction.template with<T>([&](const auto& reducer) { f.template operator()<T>(reducer); });
        },
        pool.pool().reduction());
  });
}

Shape with_bytes(Shape shape, std::size_t size) {
  shape.push_back(static_cast<Index>(size));
  return shape;
}

/// The states in an array, which must have room for one of this size per output.
Array read_states(nb::handle object, const Shape& outputs, std::size_t size) {
  const Array states = read_array(object, "states");
  require_scalar(states, "states", Scalar::u8, "bytes");
  require(check_view(states.view<const std::uint8_t>(), with_bytes(outputs, size), Argument::x));
  const Shape packed = packed_strides(states.shape()), strides = states.element_strides();
  if (!(strides == packed)) throw nb::value_error("states must be packed");
  return states;
}

template <class State>
States<State> states_in(const Array& array) {
  return States<State>(static_cast<std::byte*>(array.data));
}

/// The states that are given, or for None those of no taps: all that sums and averages need.
template <class Reducer>
Array states_or_none(const Reducer& reducer, nb::handle object, const Shape& outputs) {
  using State = typename Reducer::State;
  if (!object.is_none()) return read_states(object, outputs, sizeof(State));
  Array made = new_array(with_bytes(outputs, sizeof(State)), Scalar::u8);
  for (Index i = 0; i < element_count(outputs); ++i) states_in<State>(made).set(i, reducer.identity());
  return made;
}

nb::object fold(const Described& pool, nb::handle shape, nb::handle outputs, nb::handle cells, nb::handle x_object) {
  const Given given = read_box(pool, shape, outputs, cells);
  const Array x = read_array(x_object, "x");
  nb::object result;
  with_reducer(pool, x.scalar, [&]<class T>(const auto& reducer) {
    using State = typename std::remove_cvref_t<decltype(reducer)>::State;
    const View<const T> from = x.view<const T>();
    require(check_view(from, given.box.cell_shape(), Argument::x));
    const Array made = new_array(with_bytes(given.box.output_shape(), sizeof(State)), Scalar::u8);
    result = made.owner;
    const nb::gil_scoped_release release;
    partial::fold_by_kernels(given.whole, reducer, given.box, from, states_in<State>(made));
  });
  return result;
}

nb::object combine(const Described& pool, nb::handle dtype, nb::handle a_object, nb::handle b_object) {
  nb::object result;
  with_reducer(pool, read_scalar(dtype, "dtype"), [&]<class T>(const auto& reducer) {
    using State = typename std::remove_cvref_t<decltype(reducer)>::State;
    Shape outputs;
    const Shape given = read_array(a_object, "states").shape();
    for (int a = 0; a + 1 < given.size(); ++a) outputs.push_back(given[a]);
    const Array a = read_states(a_object, outputs, sizeof(State)), b = read_states(b_object, outputs, sizeof(State));
    const Array made = new_array(given, Scalar::u8);
    std::memcpy(made.data, a.data, static_cast<std::size_t>(element_count(given)));
    partial::combine(reducer, element_count(outputs), states_in<State>(b), states_in<State>(made));
    result = made.owner;
  });
  return result;
}

nb::object finish(const Described& pool, nb::handle shape, nb::handle dtype, nb::handle outputs, nb::handle states,
                  bool with_indices) {
  const Given given = read_box(pool, shape, outputs, nb::none());
  const Scalar scalar = read_scalar(dtype, "dtype");
  const Array y = new_array(given.box.output_shape(), scalar);
  const Array indices = with_indices ? new_array(given.box.output_shape(), flat) : Array{};
  with_reducer(pool, scalar, [&]<class T>(const auto& reducer) {
    using State = typename std::remove_cvref_t<decltype(reducer)>::State;
    const Array from = read_states(states, given.box.output_shape(), sizeof(State));
    partial::finish(given.whole, reducer, given.box, states_in<State>(from), static_cast<T*>(y.data),
                    static_cast<Index*>(indices.data));
  });
  return with_indices ? nb::object(nb::make_tuple(y.owner, indices.owner)) : y.owner;
}

template <class T>
inline constexpr bool derives = spec::Differentiable<T>;

nb::object fold_jvp(const Described& pool, nb::handle shape, nb::handle outputs, nb::handle cells, nb::handle states,
                    nb::handle x_object, nb::handle dx_object) {
  const Given given = read_box(pool, shape, outputs, cells);
  const Array x = read_array(x_object, "x"), dx = read_array(dx_object, "dx", &x.scalar);
  require_scalar(dx, "dx", x.scalar, "x");
  nb::object result;
  with_reducer(pool, x.scalar, [&]<class T>(const auto& reducer) {
    if constexpr (derives<T>) {
      using Reducer = std::remove_cvref_t<decltype(reducer)>;
      using Number = spec::Accumulator<T>;
      const View<const T> at = x.view<const T>(), tangent = dx.view<const T>();
      require(check_view(at, given.box.cell_shape(), Argument::x));
      require(check_view(tangent, given.box.cell_shape(), Argument::dx));
      const Array from = states_or_none(reducer, states, given.box.output_shape());
      const Array made = new_array(given.box.output_shape(), dtype_of<Number>());
      result = made.owner;
      const nb::gil_scoped_release release;
      partial::fold_jvp(given.whole, reducer, given.box, states_in<typename Reducer::State>(from), at, tangent,
                        static_cast<Number*>(made.data));
    } else {
      raise({Code::no_derivative, Argument::x, -1, {}});
    }
  });
  return result;
}

nb::object finish_jvp(const Described& pool, nb::handle shape, nb::handle dtype, nb::handle outputs, nb::handle states,
                      nb::handle sums_object) {
  const Given given = read_box(pool, shape, outputs, nb::none());
  const Scalar scalar = read_scalar(dtype, "dtype");
  const Array sums = read_array(sums_object, "sums");
  const Array dy = new_array(given.box.output_shape(), scalar);
  with_reducer(pool, scalar, [&]<class T>(const auto& reducer) {
    if constexpr (derives<T>) {
      using Reducer = std::remove_cvref_t<decltype(reducer)>;
      using Number = spec::Accumulator<T>;
      require_scalar(sums, "sums", dtype_of<Number>(), "the accumulator");
      require(check_view(sums.view<const Number>(), given.box.output_shape(), Argument::dx));
      if (!(sums.element_strides() == packed_strides(sums.shape()))) throw nb::value_error("sums must be packed");
      const Array from = states_or_none(reducer, states, given.box.output_shape());
      partial::finish_jvp(given.whole, reducer, given.box, states_in<typename Reducer::State>(from),
                          static_cast<const Number*>(sums.data), static_cast<T*>(dy.data));
    } else {
      raise({Code::no_derivative, Argument::x, -1, {}});
    }
  });
  return dy.owner;
}

nb::object fold_vjp(const Described& pool, nb::handle shape, nb::handle outputs, nb::handle cells, nb::handle states,
                    nb::handle x_object, nb::handle gy_object) {
  const Given given = read_box(pool, shape, outputs, cells);
  const Array gy = read_array(gy_object, "gy");
  nb::object result;
  with_reducer(pool, gy.scalar, [&]<class T>(const auto& reducer) {
    if constexpr (derives<T>) {
      using Reducer = std::remove_cvref_t<decltype(reducer)>;
      using Number = spec::Accumulator<T>;
      static const T nothing{};
      const Shape extents = given.box.cell_shape();
      View<const T> at(&nothing, extents, Shape::filled(extents.size(), 0));
      if (!x_object.is_none()) {
        const Array x = read_array(x_object, "x");
        require_scalar(x, "x", gy.scalar, "gy");
        at = x.view<const T>();
        require(check_view(at, extents, Argument::x));
      }
      const View<const T> gradient = gy.view<const T>();
      require(check_view(gradient, given.box.output_shape(), Argument::gy));
      const Array from = states_or_none(reducer, states, given.box.output_shape());
      const Array made = new_array(extents, gy.scalar);
      result = made.owner;
      const View<T> gx = made.view<T>();
      const nb::gil_scoped_release release;
      const auto run = [&](const View<Number>& sums) {
        partial::vjp(given.whole, reducer, given.box, states_in<typename Reducer::State>(from), at, gradient, sums);
      };
      if constexpr (std::same_as<T, Number>) {
        run(gx);
      } else {
        std::vector<Number> sums(static_cast<std::size_t>(element_count(extents)));
        const View<Number> view(sums.data(), extents);
        run(view);
        spec::for_each_position(extents, [&](const Shape& cell) { gx[cell] = static_cast<T>(view[cell]); });
      }
    } else {
      raise({Code::no_derivative, Argument::x, -1, {}});
    }
  });
  return result;
}

}  // namespace

void add_partial(nb::class_<Described>& pool) {
  const auto optional = [](const char* name) { return nb::arg(name).none(); };
  pool.def("partial", &fold, nb::arg("shape"), nb::arg("outputs"), nb::arg("cells"), nb::arg("x"),
           "The states of some outputs over the cells of a chunk x: bytes on a last axis.")
      .def("combine_partial", &combine, nb::arg("dtype"), nb::arg("a"), nb::arg("b"),
           "The states of the windows of which a and b are the states of parts.")
      .def("finish_partial", &finish, nb::arg("shape"), nb::arg("dtype"), nb::arg("outputs"), nb::arg("states"),
           nb::arg("indices") = false, "y, or (y, indices), of the states of whole windows.")
      .def("partial_jvp", &fold_jvp, nb::arg("shape"), nb::arg("outputs"), nb::arg("cells"), optional("states"),
           nb::arg("x"), nb::arg("dx"), "Sums of weights times dx over the cells of a chunk, to be added.")
      .def("finish_partial_jvp", &finish_jvp, nb::arg("shape"), nb::arg("dtype"), nb::arg("outputs"),
           optional("states"), nb::arg("sums"), "dy of these sums.")
      .def("partial_vjp", &fold_vjp, nb::arg("shape"), nb::arg("outputs"), nb::arg("cells"), optional("states"),
           optional("x"), nb::arg("gy"), "gx of the cells of a chunk, from all outputs that see them.");
}

}  // namespace ndpool::python
