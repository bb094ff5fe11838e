// Scripts that complete the program's arguments. All three first find the command that the words so far lead to, its
// place, and then offer what belongs there; arguments without a name are files.
#include "errors.hpp"
#include "report/command_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ndpool::cli {

namespace {

std::string quoted_places(const std::vector<CommandEntry>& commands, const char* separator) {
  std::vector<std::string> places;
  for (const CommandEntry& command : commands)
    if (!command.place.empty()) places.push_back('"' + command.place + '"');
  return fmt::format("{}", fmt::join(places, separator));
}

std::vector<std::string> option_names(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const OptionEntry& option : command.options)
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// The tables of a POSIX-like shell: `place` and `previous` are set, `choices`, `options` and `commands` are found.
std::string tables(const std::vector<CommandEntry>& commands) {
  std::string text = "  case \"$place $previous\" in\n";
  for (const CommandEntry& command : commands)
    for (const OptionEntry& option : command.options)
      if (!option.choices.empty()) {
        std::vector<std::string> patterns;
        for (const std::string& name : option.names) patterns.push_back(fmt::format("\"{} {}\"", command.place, name));
        text += fmt::format("    {}) choices=\"{}\" ;;\n", fmt::join(patterns, "|"), fmt::join(option.choices, " "));
      }
  text += "  esac\n  case \"$place\" in\n";
  for (const CommandEntry& command : commands)
    text += fmt::format("    \"{}\") options=\"{}\" commands=\"{}\" ;;\n", command.place,
                        fmt::join(option_names(command), " "), fmt::join(command.children, " "));
  return text + "  esac\n";
}

std::string bash(const std::vector<CommandEntry>& commands) {
  return "# Completes the arguments of ndpool in bash. Made by `ndpool completion bash`.\n"
         "_ndpool() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local place=\"\" word choices=\"\" options=\"\" commands=\"\"\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$place $word\" in\n      " +
         quoted_places(commands, "|") + ") place+=\" $word\" ;;\n    esac\n  done\n" + tables(commands) +
         "  [[ $current == -* ]] && commands=$options\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"${choices:-$commands}\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _ndpool ndpool\n";
}

std::string zsh(const std::vector<CommandEntry>& commands) {
  return "#compdef ndpool\n"
         "# Completes the arguments of ndpool in zsh. Made by `ndpool completion zsh`.\n"
         "_ndpool() {\n"
         "  local current=${words[CURRENT]} previous=${words[CURRENT-1]}\n"
         "  local place=\"\" word choices=\"\" options=\"\" commands=\"\"\n"
         "  for word in ${words[2,CURRENT-1]}; do\n"
         "    case \"$place $word\" in\n      (" +
         quoted_places(commands, "|") + ") place+=\" $word\" ;;\n    esac\n  done\n" + tables(commands) +
         "  [[ $current == -* ]] && commands=$options\n"
         "  commands=${choices:-$commands}\n"
         "  if [[ -n $commands ]]; then compadd -- ${=commands}; else _files; fi\n"
         "}\n"
         "if [[ $funcstack[1] == _ndpool ]]; then _ndpool \"$@\"; else compdef _ndpool ndpool; fi\n";
}

/// In single quotes fish only knows two escapes.
std::string fish_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "'";
}

std::string fish_option(const CommandEntry& command, const OptionEntry& option) {
  std::string line = fmt::format("complete -c ndpool -n 'test (__ndpool_place) = \"{}\"'", command.place);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) line += " -r";
  if (!option.choices.empty()) line += fmt::format(" -f -a '{}'", fmt::join(option.choices, " "));
  return line + " -d " + fish_text(option.description) + "\n";
}

std::string fish(const std::vector<CommandEntry>& commands) {
  std::string text =
      "# Completes the arguments of ndpool in fish. Made by `ndpool completion fish`.\n"
      "function __ndpool_place\n"
      "  set -l place ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$place $word\"\n      case " +
      quoted_places(commands, " ") +
      "\n        set place \"$place $word\"\n    end\n  end\n  echo -- \"$place\"\nend\n";
  for (const CommandEntry& command : commands) {
    for (const OptionEntry& option : command.options)
      if (!option.is_positional) text += fish_option(command, option);
    for (const CommandEntry& child : commands)
      if (const std::size_t last = child.place.rfind(' ');
          last != std::string::npos && child.place.substr(0, last) == command.place)
        text += fmt::format("complete -c ndpool -n 'test (__ndpool_place) = \"{}\"' -f -a {} -d {}\n", command.place,
                            child.place.substr(last + 1), fish_text(child.description));
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& program, const std::string& shell) {
  const std::vector<CommandEntry> commands = commands_of(program);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  throw WrongArguments("SHELL must be bash, zsh or fish, not '" + shell + "'");
}

}  // namespace ndpool::cli
