#include "report/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ndpool::cli {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The colours of a terminal's own palette, which its user has chosen to be readable on its ground.
const char* colour_of(char kind) {
  switch (kind) {
    case '#': return "\033[1;32m";
    case 'o': return "\033[1;33m";
    case '.':
    case '-': return "\033[2m";
    default: return "\033[0m";
  }
}

/// Characters that are seen: escape sequences of colours take no column.
std::size_t visible_length(std::string_view word) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\033')
      while (i < word.size() && word[i] != 'm') ++i;
    else
      ++length;
  }
  return length;
}

}  // namespace

int terminal_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0) return 0;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool shows_colours() {
  return isatty(STDOUT_FILENO) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string coloured(const std::string& line) {
  if (!shows_colours()) return line;
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i == 0 || line[i] != line[i - 1]) text += std::string("\033[0m") + colour_of(line[i]);
    text += line[i];
  }
  return text + "\033[0m";
}

std::string wrapped(const std::string& sentence, std::size_t indent) {
  const auto columns = static_cast<std::size_t>(terminal_columns());
  if (columns == 0) return sentence;
  std::string text;
  std::size_t length = 0;
  for (std::size_t begin = 0; begin < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
    const std::string_view word = std::string_view(sentence).substr(begin, end - begin);
    const std::size_t needed = visible_length(word) + (begin == 0 ? 0 : 1);
    if (begin != 0 && length + needed > columns) {
      text += '\n' + std::string(indent, ' ');
      length = indent + needed - 1;
    } else {
      if (begin != 0) text += ' ';
      length += needed;
    }
    text += word;
    begin = end + 1;
  }
  return text;
}

}  // namespace ndpool::cli
