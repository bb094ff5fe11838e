#include "cases.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace ndpool::bench {

namespace {

const std::vector<std::string>& layout_names() {
  static const std::vector<std::string> names = {"packed", "fortran", "crop", "every_second"};
  return names;
}

/// The enumerator with this name, or nothing. Names are in the order of the enumerators.
template <class Enum>
std::optional<Enum> find_name(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

[[noreturn]] void reject(const problem::NamedProblem& named, const std::string& why) {
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

const std::vector<std::string>& scalar_names() {
  static const std::vector<std::string> names = {
#define NDPOOL_ROW(name, type) #name,
      NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
#define NDPOOL_ROW(name, input, result) name,
          NDPOOL_MIXED_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
  };
  return names;
}

const std::vector<std::string>& map_names() {
  static const std::vector<std::string> names = {"forward", "indices-u8",  "indices-i64", "jvp",
                                                 "vjp",     "vjp-from-u8", "vjp-from-i64"};
  return names;
}

const std::string& name_of(Map map) { return map_names()[static_cast<std::size_t>(map)]; }
const std::string& name_of(Layout layout) { return layout_names()[static_cast<std::size_t>(layout)]; }

Shape Case::strides() const {
  const Shape& shape = problem.shape;
  Shape strides = packed_strides(shape);
  const int last = shape.size() - 1;
  if (layout == Layout::crop || layout == Layout::every_second) {
    Shape longer = shape;
    longer[last] = layout == Layout::crop ? shape[last] + (shape[last] + 7) / 8 : 2 * shape[last];
    strides = packed_strides(longer);
    if (layout == Layout::every_second) strides[last] = 2;
  }
  if (layout == Layout::fortran)
    for (int a = 0; a <= last; ++a) strides[a] = a == 0 ? 1 : strides[a - 1] * shape[a - 1];
  return strides;
}

std::string Case::text() const {
  std::string text = line + " | " + scalar;
  if (map != Map::forward) text += " | " + name_of(map);
  if (layout != Layout::packed) text += " | layout=" + name_of(layout);
  if (threads > 1) text += " | threads=" + std::to_string(threads);
  return text;
}

Case with_longer_last_axis(const Case& from) {
  Case longer = from;
  Index& extent = longer.problem.shape[longer.problem.shape.size() - 1];
  const std::size_t word = from.line.find("shape="), end = std::min(from.line.find(' ', word), from.line.size());
  const std::size_t digits = from.line.find_last_of("=,", end - 1) + 1;
  longer.line.replace(digits, end - digits, std::to_string(++extent));
  return longer;
}

Case parse_case(const std::string& file, const problem::NamedProblem& named) {
  if (named.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
    reject(named, "a name has lower-case letters, digits and dashes only");
  const std::vector<std::string> fields = fields_of(named.line);
  if (fields.size() < 2) reject(named, "it needs a scalar");
  Case result{.file = file,
              .name = named.name,
              .line = fields[0],
              .operator_name = operator_of(fields[0]),
              .problem = problem::parse_problem(fields[0]),
              .scalar = fields[1]};
  if (std::ranges::find(scalar_names(), result.scalar) == scalar_names().end())
    reject(named, "there is no scalar '" + result.scalar + "'");
  for (std::size_t i = 2; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    if (const std::string goal = value_of(field, "goal="); !goal.empty()) {
      result.goal = std::stod(goal);
    } else if (const std::string threads = value_of(field, "threads="); !threads.empty()) {
      result.threads = std::stoi(threads);
    } else if (const std::string word = value_of(field, "layout="); !word.empty()) {
      const std::optional<Layout> layout = find_name<Layout>(layout_names(), word);
      if (!layout) reject(named, "there is no layout '" + word + "'");
      result.layout = *layout;
    } else {
      const std::optional<Map> map = find_name<Map>(map_names(), field);
      if (!map) reject(named, "there is no map '" + field + "'");
      result.map = *map;
    }
  }
  return result;
}

Case parse_unnamed_case(const std::string& line) { return parse_case("", {"problem", line}); }

}  // namespace ndpool::bench
