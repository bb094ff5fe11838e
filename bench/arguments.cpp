#include "arguments.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace ndpool::bench {

Arguments::Arguments(std::vector<std::string> words) : words_(std::move(words)) {}

bool Arguments::flag(const std::string& name) {
  const auto found = std::ranges::find(words_, name);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

std::optional<std::string> Arguments::value(const std::string& name) {
  const auto found = std::ranges::find(words_, name);
  if (found == words_.end()) return std::nullopt;
  if (found + 1 == words_.end()) throw std::invalid_argument(name + " needs a value");
  const std::string value = found[1];
  words_.erase(found, found + 2);
  return value;
}

std::optional<Index> Arguments::number(const std::string& name) {
  const std::optional<std::string> word = value(name);
  if (!word) return std::nullopt;
  std::size_t digits = 0;
  Index number = 0;
  if (word->find_first_not_of("0123456789") != 0 && word->size() < 19) number = std::stoll(*word, &digits);
  const std::string unit = word->substr(digits);
  if (number < 1 || (unit != "" && unit != "K" && unit != "M"))
    throw std::invalid_argument(name + " needs a number of at least 1, not '" + *word + "'");
  return number << (unit == "K" ? 10 : unit == "M" ? 20 : 0);
}

std::string Arguments::word() {
  if (words_.empty() || words_.front().starts_with("-")) return "";
  const std::string word = words_.front();
  words_.erase(words_.begin());
  return word;
}

void Arguments::finish() const {
  if (!words_.empty()) throw std::invalid_argument("not understood: " + words_.front());
}

namespace {

/// The value of an option that must be one of `names`; empty if it is not there.
std::string choice(Arguments& arguments, const std::string& option, const std::vector<std::string>& names) {
  const std::optional<std::string> word = arguments.value(option);
  if (!word || std::ranges::find(names, *word) != names.end()) return word.value_or("");
  std::string all;
  for (const std::string& name : names) all += " " + name;
  throw std::invalid_argument(option + " '" + *word + "' is not one of" + all);
}

}  // namespace

Selection::Selection(Arguments& arguments)
    : map_(choice(arguments, "--map", map_names())),
      scalar_(choice(arguments, "--scalar", scalar_names())),
      filter_(arguments.value("--filter").value_or("")) {}

bool Selection::accepts(const Case& measured) const {
  return (map_.empty() || name_of(measured.map) == map_) && (scalar_.empty() || measured.scalar == scalar_) &&
         measured.text().find(filter_) != std::string::npos;
}

int run_program(const std::string& name, const std::string& usage, const std::vector<std::string>& words,
                const std::function<void(Arguments&)>& program) {
  try {
    Arguments arguments(words);
    if (arguments.flag("--help"))
      std::fputs(usage.c_str(), stdout);
    else
      program(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 2;
  }
}

}  // namespace ndpool::bench
