#include "commands/arguments.hpp"

#include "commands/lists.hpp"
#include "errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ndpool::cli {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// `3`, `-1`, `0:1`, and what is left of a list.
bool starts_like_a_number(const std::string& word) {
  return !word.empty() && (is_digit(word[0]) || (word.size() > 1 && word[0] == '-' && is_digit(word[1])));
}

/// The word itself, or the value in `--kernel=3` and `-k3`.
std::string value_in(const std::string& word) {
  if (word.starts_with("--")) return word.find('=') == std::string::npos ? "" : word.substr(word.find('=') + 1);
  const bool has_letter = word.size() > 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
  return has_letter ? word.substr(2) : word;
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && !starts_like_a_number(word); }

/// The number of letters to add, drop, replace or swap with their neighbour (Damerau-Levenshtein); case is free.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  const auto equal = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(a[i])) == std::tolower(static_cast<unsigned char>(b[j]));
  };
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (equal(i - 1, j - 1) ? 0 : 1)});
      if (i > 1 && j > 1 && equal(i - 1, j - 2) && equal(i - 2, j - 1))
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

/// The length of a name without the dashes before it.
std::size_t letter_count(const std::string& name) {
  const std::size_t first = name.find_first_not_of('-');
  return first == std::string::npos ? 0 : name.size() - first;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// `a, b and c`
std::string enumeration(const std::vector<std::string>& names, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " " + last + " ") + names[i];
  return text;
}

void check_command(const CLI::App& parent, const std::string& what, const std::string& word) {
  const std::vector<std::string> names = names_of_commands(parent);
  if (is_option(word) || contains(names, word)) return;
  const std::string nearest = suggestion(word, names);
  throw WrongArguments(
      fmt::format("there is no {} '{}'{}", what, word, nearest.empty() ? "; ndpool --help lists them" : nearest));
}

/// The command that was chosen last: `max` of `ndpool vjp max`, and how it was called; the program, if none was.
std::pair<const CLI::App*, std::string> chosen(const CLI::App& program) {
  const CLI::App* app = &program;
  std::string name;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    name += (name.empty() ? "" : " ") + app->get_name();
  }
  return {app, name.empty() ? "ndpool" : name};
}

std::string about_option(const CLI::App& program, const std::string& word) {
  const auto [app, name] = chosen(program);
  const std::string option = word.substr(0, word.find('='));
  if (contains(names_of_options(*app), option)) return fmt::format("{} must stand behind {}", option, name);
  const std::string lacks = fmt::format("{} has no option {}", name, option);
  std::vector<std::string> owners;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (contains(names_of_options(*command), option)) owners.push_back(command->get_name());
    for (const CLI::App* operation : command->get_subcommands({}))  // of jvp and vjp
      if (operation->get_name() == app->get_name() && contains(names_of_options(*operation), option))
        owners.push_back(command->get_name() + " " + operation->get_name());
  }
  if (!owners.empty())
    return fmt::format("{}; {} {} it", lacks, enumeration(owners, "and"), owners.size() == 1 ? "has" : "have");
  // A single letter is near to every other.
  const std::string nearest = letter_count(option) > 1 ? suggestion(option, names_of_options(*app)) : "";
  return lacks +
         (nearest.empty() ? fmt::format("; {}{} --help lists them", app == &program ? "" : "ndpool ", name) : nearest);
}

/// The first option whose value is the name of another, which was written where its own value is missing; or nothing.
std::string about_missing_value(const CLI::App& app) {
  const std::vector<std::string> names = names_of_options(app);
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (is_option(value) && contains(names, value))
        return fmt::format("{} needs a value, and {} is none", option->get_name(), value);
  return "";
}

}  // namespace

std::vector<std::string> read_arguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool continues = !arguments.empty() && arguments.back().ends_with(',') &&
                           starts_like_a_number(value_in(arguments.back())) && starts_like_a_number(word);
    if (continues)
      arguments.back() += word;
    else
      arguments.push_back(word);
  }
  return arguments;
}

void check_names(const CLI::App& program, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.empty() && i > 0 && is_option(arguments[i - 1]))
      throw WrongArguments(fmt::format("{} is empty", arguments[i - 1]));
    if (word.empty()) throw WrongArguments("an argument is empty");
    if (word.starts_with("--") && word.ends_with('='))
      throw WrongArguments(fmt::format("{} is empty", word.substr(0, word.size() - 1)));
  }
  if (arguments.empty()) throw WrongArguments("a command is missing; ndpool --help lists them");
  check_command(program, "command", arguments[0]);
  for (const char* derivative : {"jvp", "vjp"}) {
    if (arguments[0] != derivative) continue;
    if (arguments.size() == 1)
      throw WrongArguments(fmt::format("{} of which operator? ndpool {} --help lists them", derivative, derivative));
    check_command(*program.get_subcommand(derivative), "operator", arguments[1]);
  }
}

std::string about_extras(const CLI::App& program) {
  const std::vector<std::string> extras = program.remaining(true);
  for (const std::string& word : extras)
    if (is_option(word)) return about_option(program, word);
  if (const std::string missing = about_missing_value(*chosen(program).first); !missing.empty()) return missing;
  const std::string word = extras.empty() ? "" : extras.front();
  return fmt::format("{} has one argument too many: '{}'{}", chosen(program).second, word,
                     starts_like_a_number(word) ? "; lists have commas between, as in 3,3" : "");
}

CLI::Validator whole_number(const std::string& option, int least, int most) {
  const auto check = [=](const std::string& text) {
    const Index number = parse_integer(text, option);
    if (number < least || number > most)
      throw WrongArguments(fmt::format("{} must be from {} to {}, not {}", option, least, most, number));
    return std::string();
  };
  return {check, fmt::format("from {} to {}", least, most)};
}

CLI::Validator any_case() {
  const auto lower = [](std::string& word) {
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::string();
  };
  return {lower, ""};
}

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  std::size_t least = word.size();
  std::vector<std::string> nearest;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, name);
    // One letter in three may be wrong, so that --ties is not taken for --axes.
    const std::size_t limit = std::max<std::size_t>(1, std::max(letter_count(word), letter_count(name)) / 3);
    if (distance > std::min(least, limit)) continue;
    if (distance < least) nearest.clear();
    least = distance;
    nearest.push_back(name);
  }
  return nearest.empty() ? "" : "; did you mean " + enumeration(nearest, "or") + "?";
}

}  // namespace ndpool::cli
