#include "commands/lists.hpp"

#include "errors.hpp"

#include <fmt/format.h>
#include <ndpool/words.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

namespace ndpool::cli {

namespace {

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// The parts between separators, without the spaces around them.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size(); begin += parts.back().size() + 1)
    parts.push_back(text.substr(begin, text.find(separator, begin) - begin));
  std::ranges::transform(parts, parts.begin(), trim);
  return parts;
}

/// All of `text` as a number; `rule` is what `option` must be, and `whole` what it is instead.
template <class Number>
Number parse_number(std::string_view text, const std::string& option, const char* rule, const std::string& whole) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = end == text.data() + text.size();
  if (is_number && error == std::errc::result_out_of_range)
    throw WrongArguments(fmt::format("{} has the number {}, which does not fit 64 bits", option, text));
  if (!is_number || error != std::errc())
    throw WrongArguments(fmt::format("{} must be {}, not '{}'", option, rule, whole));
  return number;
}

constexpr const char* list_rule = "whole numbers with commas between";

}  // namespace

Index parse_integer(const std::string& text, const std::string& option) {
  return parse_number<Index>(trim(text), option, "a whole number", text);
}

double parse_real(const std::string& text, const std::string& option) {
  return parse_number<double>(trim(text), option, "a number", text);
}

Shape parse_list(const std::string& text, const std::string& option) {
  Shape list;
  for (const std::string_view entry : split(text, ',')) {
    if (list.size() == max_rank) throw WrongArguments(fmt::format("{} has more than {} entries", option, max_rank));
    list.push_back(parse_number<Index>(entry, option, list_rule, text));
  }
  return list;
}

Padding parse_padding(const std::string& text) {
  std::string rule(trim(text));
  std::ranges::transform(rule, rule.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Word<PaddingRule>& word : padding_words)
    if (word.text == rule) return word.value;
  if (!rule.empty() && std::isalpha(static_cast<unsigned char>(rule[0])) != 0)
    throw WrongArguments(fmt::format("--padding must be numbers, same, same_lower or valid, not '{}'", text));
  const auto side = [&](std::string_view number) { return parse_number<Index>(number, "--padding", list_rule, text); };
  Padding padding;
  for (const std::string_view entry : split(text, ',')) {
    if (padding.size() == max_rank) throw WrongArguments(fmt::format("--padding has more than {} entries", max_rank));
    const std::vector<std::string_view> sides = split(entry, ':');
    if (sides.size() > 2)
      throw WrongArguments(fmt::format("--padding has at most two sides an axis, as in 0:1, not '{}'", entry));
    padding.push_back({side(sides.front()), side(sides.back())});
  }
  return padding;
}

}  // namespace ndpool::cli
