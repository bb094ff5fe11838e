// The manual page, in the macros of man(7).
#include "report/command_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ndpool::cli {

namespace {

/// Text that the formatter shows as it is: hyphens are those of options, a point at the start of a line is no request.
std::string plain(const std::string& text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (text[i] == '.' || text[i] == '\'')) escaped += "\\&";
    if (text[i] == '-')
      escaped += "\\-";
    else if (text[i] == '\\')
      escaped += "\\e";
    else
      escaped += text[i];
  }
  return escaped;
}

std::string option_text(const OptionEntry& option) {
  std::string names = plain(fmt::format("{}", fmt::join(option.names, ", ")));
  if (!option.choices.empty())
    names += fmt::format(" {}", fmt::join(option.choices, "|"));
  else if (option.takes_value && !option.is_positional)
    names += " VALUE";
  return fmt::format(".TP\n.B {}\n{}\n", names, plain(option.description));
}

/// Derivatives have the options of their operator, and are not listed one by one.
bool is_listed(const CommandEntry& command) { return !command.place.empty() && command.place.rfind(' ') == 0; }

}  // namespace

std::string manual_page(const CLI::App& program, const std::string& version) {
  const std::vector<CommandEntry> commands = commands_of(program);
  std::string text = fmt::format(
      ".TH NDPOOL 1 \"\" \"ndpool {}\" \"User Commands\"\n"
      ".SH NAME\nndpool \\- pool arrays and pictures, any number of axes, larger than memory\n"
      ".SH SYNOPSIS\n.B ndpool\n.I COMMAND\n.RI [ OPTIONS ]\n"
      ".SH DESCRIPTION\n{}\nArrays are .npy files, pictures .png files, and a hyphen a .npy on standard input or "
      "output.\n"
      ".SH COMMANDS\n",
      plain(version), plain(commands.front().description));
  for (const CommandEntry& command : commands) {
    if (!is_listed(command)) continue;
    text += fmt::format(".SS ndpool{}\n{}\n", plain(command.place), plain(command.description));
    if (!command.children.empty()) text += ".PP\nThe options are those of the operator, and:\n";
    for (const CommandEntry& child : commands)  // of jvp and vjp: what an operator has there and not by itself
      if (child.place == command.place + " sum")
        for (const OptionEntry& option : child.options)
          if (option.names.back() == "--tangent" || option.names.back() == "--gradient") text += option_text(option);
    for (const OptionEntry& option : command.options) text += option_text(option);
  }
  text +=
      ".SH EXIT STATUS\n.TP\n.B 0\nDone.\n.TP\n.B 1\nA file cannot be read or written, memory or a disk is full.\n"
      ".TP\n.B 2\nWrong arguments.\n.TP\n.B 129, 130, 143\nEnded by SIGHUP, SIGINT or SIGTERM.\n"
      ".SH ENVIRONMENT\n.TP\n.B NDPOOL_NUM_THREADS\nThreads to use.\n.TP\n.B NDPOOL_FORCE_TARGET\n"
      "The instruction set to use, one of ndpool targets.\n.TP\n.B NDPOOL_FORCE_IMPLEMENTATION\n"
      "The implementation to use where it accepts the problem.\n.TP\n.B NO_COLOR\nIf set and not empty, explain prints "
      "no colours.\n"
      ".TP\n.B TMPDIR\nFolder for what does not fit memory.\n";
  return text + fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", plain(commands.front().footer));
}

}  // namespace ndpool::cli
