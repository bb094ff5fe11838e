// Faults at the edge: an exception with a code and one sentence.
#pragma once

#include <ndpool/api.h>
#include <ndpool/fault.hpp>

#include <stdexcept>
#include <string>

namespace ndpool {

/// One sentence that names the argument, the axis, the value and the rule it broke.
[[nodiscard]] NDPOOL_API std::string message(const Fault& fault);

/// Thrown by every public entry before it writes anything. `what()` is `message(fault())`.
class NDPOOL_API Error : public std::invalid_argument {
 public:
  /// The error for a fault, with its sentence.
  explicit Error(const Fault& fault) : std::invalid_argument(message(fault)), fault_(fault) {}
  /// What is wrong, with the numbers of the sentence.
  [[nodiscard]] const Fault& fault() const { return fault_; }
  /// The kind of fault.
  [[nodiscard]] Code code() const { return fault_.code; }

 private:
  Fault fault_;
};

/// Throws an Error.
[[noreturn]] NDPOOL_API void raise(const Fault& fault);

/// Throws if something is wrong.
constexpr void require(const Fault& fault) {
  if (fault) raise(fault);
}

}  // namespace ndpool
