// The commands and options of the program as a list, for scripts that complete them and for the manual page: both are
// made of what the program itself accepts.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace ndpool::cli {

struct OptionEntry {
  std::vector<std::string> names;  ///< `-k`, `--kernel`; of an argument without a name just that of its value
  std::string description;
  std::vector<std::string> choices;  ///< words that it may be, if these are few
  bool takes_value = false, is_positional = false;
};

struct CommandEntry {
  std::string place;  ///< the words that lead to it, each behind a space: ` vjp max`; the program itself has none
  std::string description, footer;
  std::vector<OptionEntry> options;
  std::vector<std::string> children;
};

/// The program, then every command, parents first.
std::vector<CommandEntry> commands_of(const CLI::App& program);

/// A script that completes the program's arguments. `shell` is `bash`, `zsh` or `fish`.
std::string completion_script(const CLI::App& program, const std::string& shell);

/// The manual page, in the macros of man(7).
std::string manual_page(const CLI::App& program, const std::string& version);

}  // namespace ndpool::cli
