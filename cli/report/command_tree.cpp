#include "report/command_tree.hpp"

#include <sstream>

namespace ndpool::cli {

namespace {

/// `first`, `all` and `split` of the type name `TEXT:{first,all,split}`, the one place where CLI11 tells them.
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::istringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(list, word, ',');) choices.push_back(word);
  return choices;
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry{{},
                    option.get_description(),
                    choices_of(option.get_type_name()),
                    option.get_expected_min() > 0,
                    option.get_positional() && option.get_lnames().empty()};
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (entry.is_positional) entry.names.push_back(option.get_name());
  return entry;
}

void add(const CLI::App& app, const std::string& place, std::vector<CommandEntry>& list) {
  CommandEntry entry{place, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) entry.options.push_back(entry_of(*option));
  const std::vector<const CLI::App*> children = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* child : children) entry.children.push_back(child->get_name());
  list.push_back(entry);
  for (const CLI::App* child : children) add(*child, place + " " + child->get_name(), list);
}

}  // namespace

std::vector<CommandEntry> commands_of(const CLI::App& program) {
  std::vector<CommandEntry> list;
  add(program, "", list);
  return list;
}

}  // namespace ndpool::cli
