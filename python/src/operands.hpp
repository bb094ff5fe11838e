// What the maps share: how they take their arrays, and which types they are made for.
#pragma once

#include "maps.hpp"
#include "run.hpp"

#include <algorithm>
#include <string>

namespace ndpool::python {

/// Calls `f`; what it finds wrong with the array that the core calls `result` is said of `out`.
template <class F>
void name_out(Argument result, F f) {
  try {
    f();
  } catch (const Error& error) {
    Fault fault = error.fault();
    if (fault.argument == result) fault.argument = Argument::out;
    throw Error(fault);
  }
}

/// The output that the caller gave, or none yet.
inline Array given_output(nb::handle out, Scalar scalar, const char* like) {
  if (out.is_none()) return {};
  Array array = write_array(out, "out");
  require_scalar(array, "out", scalar, like);
  return array;
}

/// True if two arrays share bytes, or the ranges that they lie in do.
inline bool overlap(const Array& a, const Array& b) {
  if (a.is_new || b.is_new) return false;
  const detail::ByteRange first = a.bytes(), second = b.bytes();
  return first.begin < second.end && second.begin < first.end;
}

inline Index larger_size(const Array& a, const Array& b) { return std::max(a.size(), b.size()); }

/// Calls `f.operator()<T>()` for floats; derivatives of others do not exist.
template <class F>
decltype(auto) with_real(Scalar scalar, F f) {
  switch (scalar) {
    case Scalar::f32: return f.template operator()<float>();
    case Scalar::f64: return f.template operator()<double>();
    case Scalar::f16: return f.template operator()<f16>();
    case Scalar::bf16: return f.template operator()<bf16>();
    default: raise({Code::no_derivative, Argument::x, -1, {}});
  }
}

/// Calls `f.operator()<I>()` with the type of indices: flat ones, or tap numbers.
template <class F>
decltype(auto) with_index(const Array& indices, F f) {
  switch (indices.scalar) {
    case Scalar::i64: return f.template operator()<Index>();
    case Scalar::u8: return f.template operator()<std::uint8_t>();
    case Scalar::u16: return f.template operator()<std::uint16_t>();
    case Scalar::u32: return f.template operator()<std::uint32_t>();
    default:
      throw nb::type_error((std::string("indices has dtype ") + dtype_name(indices.scalar) +
                            "; expected int64 (or uint8, uint16 or uint32 for tap numbers)")
                               .c_str());
  }
}
inline Dtype index_dtype(const Array& indices) {
  return with_index(indices, []<class I>() { return dtype_of<std::remove_const_t<I>>(); });
}

inline constexpr Scalar flat = Scalar::i64;
/// What `read_array` makes of lists of indices.
inline Array read_indices(nb::handle indices) { return read_array(indices, "indices", &flat); }

}  // namespace ndpool::python
