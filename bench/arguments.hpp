// The words behind a program's name, `--name value` and `--name`, and which cases they select.
#pragma once

#include "cases.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ndpool::bench {

/// Every option is taken once by its name; what is left over was not understood. All throw std::invalid_argument.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words);

  bool flag(const std::string& name);
  /// The word behind the name, or nothing if it is not there.
  std::optional<std::string> value(const std::string& name);
  /// The number behind the name, at least 1; it may end in K or M for factors of 1,024.
  std::optional<Index> number(const std::string& name);
  /// The first word that is no option, or nothing: taken after all options.
  std::string word();
  void finish() const;

 private:
  std::vector<std::string> words_;
};

/// The options --map, --scalar and --filter.
class Selection {
 public:
  explicit Selection(Arguments& arguments);
  bool accepts(const Case& measured) const;

 private:
  std::string map_, scalar_, filter_;
};

/// What `main` does: runs `program` with the words, or prints its usage if they are `--help`. Returns the exit code.
int run_program(const std::string& name, const std::string& usage, const std::vector<std::string>& words,
                const std::function<void(Arguments&)>& program);

}  // namespace ndpool::bench
