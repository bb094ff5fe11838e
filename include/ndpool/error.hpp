// Faults at the edge: an exception with a code and one sentence.
#pragma once

#include <ndpool/fault.hpp>

#include <stdexcept>
#include <string>

namespace ndpool {

/// One sentence that names the argument, the axis, the value and the rule it broke.
std::string message(const Fault& fault);

/// Thrown by every public entry before it writes anything. `what()` is `message(fault())`.
class Error : public std::invalid_argument {
 public:
  explicit Error(const Fault& fault) : std::invalid_argument(message(fault)), fault_(fault) {}
  const Fault& fault() const { return fault_; }
  Code code() const { return fault_.code; }

 private:
  Fault fault_;
};

[[noreturn]] void raise(const Fault& fault);

/// Throws if something is wrong.
constexpr void require(const Fault& fault) {
  if (fault) raise(fault);
}

}  // namespace ndpool
