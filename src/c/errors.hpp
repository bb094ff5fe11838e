// The edge of the C interface: exceptions become codes and sentences, and go no further.
#pragma once

#include <ndpool/c.h>
#include <ndpool/error.hpp>

#include <string>
#include <type_traits>

namespace ndpool::c {

/// A call that is wrong in a way that only C can be wrong in.
class Refusal : public std::exception {
 public:
  /// `argument` is a literal.
  Refusal(ndpool_code code, const char* argument, std::string sentence)
      : code_(code), argument_(argument), sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }
  ndpool_code code() const { return code_; }
  const char* argument() const { return argument_; }

 private:
  ndpool_code code_;
  const char* argument_;
  std::string sentence_;
};

/// The object behind a pointer that must not be null; `name` is a literal.
template <class T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr)
    throw Refusal(ndpool_code_null_argument, name, std::string(name) + " is null, but must not be");
  return *pointer;
}

/// The code of the exception that is being handled, with all that `error`, if it is there, has room for.
int32_t report_exception(ndpool_error* error) noexcept;
/// The code of a run that its callback has cancelled, likewise.
int32_t report_cancelled(ndpool_error* error) noexcept;

/// True if an error can be reported there.
inline bool can_report(const ndpool_error* error) { return error == nullptr || error->size == sizeof(ndpool_error); }

/// Calls `f`, which returns nothing, or false where it was cancelled.
template <class F>
int32_t guarded(ndpool_error* error, F f) {
  if (!can_report(error)) return ndpool_code_struct_size;
  try {
    if constexpr (std::is_same_v<decltype(f()), bool>) {
      if (!f()) return report_cancelled(error);
    } else {
      f();
    }
    return ndpool_code_none;
  } catch (...) {
    return report_exception(error);
  }
}

}  // namespace ndpool::c
