// Reading what a caller of the C interface describes: structs of known sizes, enumerators, flags, lists.
#pragma once

#include "c/errors.hpp"

#include <ndpool/dtype.hpp>
#include <ndpool/extents.hpp>

#include <climits>
#include <cstring>

namespace ndpool::c {

/// The caller's struct, with the defaults of fields that its version did not have; `first_size` is the size of the
/// first version.
template <class Struct>
Struct read_struct(const Struct& given, const Struct& defaults, std::size_t first_size, const char* name) {
  if (given.size < first_size || given.size > sizeof(Struct))
    throw Refusal(ndpool_code_struct_size, name,
                  std::string(name) + " has size " + std::to_string(given.size) + ", which version " +
                      ndpool_version() + " does not know: it is " + std::to_string(sizeof(Struct)) +
                      " here, and set by the struct's initialiser macro");
  Struct read = defaults;
  std::memcpy(static_cast<void*>(&read), &given, given.size);
  read.size = sizeof(Struct);
  return read;
}

[[noreturn]] inline void refuse_value(const char* name, std::int64_t value, std::int64_t first, std::int64_t last) {
  throw Refusal(ndpool_code_unknown_value, name,
                std::string(name) + " " + std::to_string(value) + " is none of " + std::to_string(first) + " to " +
                    std::to_string(last));
}

/// An enumerator of C++ from its number.
template <class Enum>
Enum read_enum(std::int32_t value, Enum last, const char* name) {
  const int limit = static_cast<int>(last);
  if (value < 0 || value > limit) refuse_value(name, value, 0, limit);
  return static_cast<Enum>(value);
}

inline bool read_flag(std::int32_t value, const char* name) {
  if (value != 0 && value != 1) refuse_value(name, value, 0, 1);
  return value == 1;
}

inline void require_reserved(std::int32_t value) {
  if (value != 0) refuse_value("reserved", value, 0, 0);
}

#define NDPOOL_ROW(name, type) +1
inline constexpr int dtype_count = 0 NDPOOL_DTYPES(NDPOOL_ROW);
inline constexpr int reducer_count = 0 NDPOOL_REDUCERS(NDPOOL_ROW);
#undef NDPOOL_ROW

inline Dtype read_dtype(std::int32_t value, const char* name) {
  return read_enum(value, static_cast<Dtype>(dtype_count - 1), name);
}

/// `count` numbers; a longer list than an array can have axes keeps its length, for the error that names it.
inline Shape read_numbers(const std::int64_t* values, std::int64_t count, const char* name) {
  if (count < 0)
    throw Refusal(ndpool_code_unknown_value, name,
                  std::string(name) + " has " + std::to_string(count) + " entries; a list has 0 or more");
  if (count == 0) return {};
  required(values, name);
  return {values, count > INT_MAX ? INT_MAX : static_cast<int>(count)};
}
inline Shape read_list(const ndpool_list& list, const char* name) {
  return read_numbers(list.values, list.count, name);
}

}  // namespace ndpool::c
