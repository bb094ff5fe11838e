// What ends a command early.
#pragma once

#include <stdexcept>
#include <string>

namespace ndpool::cli {

/// Anything that went wrong but the arguments: one line on standard error, exit code 1.
class CommandError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Arguments that cannot be meant: one line on standard error, exit code 2.
class WrongArguments : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// SIGINT, SIGTERM or SIGHUP, seen by a run: one line on standard error, exit code 128 + the signal.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// The exit code that shells give to a program that a signal ended.
constexpr int exit_code_of(int signal) { return 128 + signal; }

/// Throws a CommandError that names the file and what the operating system says of it.
[[noreturn]] void raise_errno(const std::string& doing, const std::string& path);

}  // namespace ndpool::cli
