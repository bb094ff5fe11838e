#include "cases.hpp"

#include <array>
#include <stdexcept>

namespace ndpool::bench {

namespace {

/// In the order of the enumerators.
constexpr std::array map_names = {"forward", "indices-u8", "indices-i64", "jvp", "vjp", "vjp-from-u8", "vjp-from-i64"};

[[noreturn]] void reject(const testing::NamedProblem& named, const std::string& why) {
  throw std::invalid_argument("benchmark case '" + named.name + "': " + why);
}

std::vector<std::string> fields_of(const std::string& line) {
  const std::string bar = " | ";
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (std::size_t end; (end = line.find(bar, begin)) != std::string::npos; begin = end + bar.size())
    fields.push_back(line.substr(begin, end - begin));
  fields.push_back(line.substr(begin));
  return fields;
}

/// The text behind `word` if the field starts with it, else nothing.
std::string value_of(const std::string& field, const std::string& word) {
  return field.starts_with(word) ? field.substr(word.size()) : "";
}

std::string operator_of(const std::string& line) {
  std::string word = line.substr(0, line.find(' '));
  for (const char* geometry : {"adaptive-", "global-"})
    if (word.starts_with(geometry)) word = word.substr(std::string(geometry).size());
  return word;
}

}  // namespace

const char* name_of(Map map) { return map_names[static_cast<std::size_t>(map)]; }

Case parse_case(const std::string& file, const testing::NamedProblem& named) {
  if (named.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
    reject(named, "a name has lower-case letters, digits and dashes only");
  const std::vector<std::string> fields = fields_of(named.line);
  if (fields.size() < 2) reject(named, "it needs a scalar");
  Case result{.file = file,
              .name = named.name,
              .line = fields[0],
              .operator_name = operator_of(fields[0]),
              .problem = testing::parse_problem(fields[0]),
              .scalar = fields[1]};
  for (std::size_t i = 2; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    if (const std::string goal = value_of(field, "goal="); !goal.empty()) {
      result.goal = std::stod(goal);
    } else if (const std::string threads = value_of(field, "threads="); !threads.empty()) {
      result.threads = std::stoi(threads);
    } else {
      std::size_t map = 0;
      while (map < map_names.size() && field != map_names[map]) ++map;
      if (map == map_names.size()) reject(named, "there is no map '" + field + "'");
      result.map = static_cast<Map>(map);
    }
  }
  return result;
}

const std::vector<std::string>& case_files() {
  static const std::vector<std::string> files = {"goals",       "dtypes",   "ranks",  "windows",
                                                 "derivatives", "reducers", "threads"};
  return files;
}

std::vector<Case> read_all_cases() {
  std::vector<Case> cases;
  for (const std::string& file : case_files())
    for (const testing::NamedProblem& named : testing::read_cases("../../bench/cases/" + file + ".txt"))
      cases.push_back(parse_case(file, named));
  return cases;
}

}  // namespace ndpool::bench
