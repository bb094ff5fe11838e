// What standard output is: a terminal of some width that shows colours, or a file or a pipe, which gets plain text.
#pragma once

#include <string>

namespace ndpool::cli {

/// Columns of the terminal at standard output; 0 if it is none.
int terminal_columns();

/// True if it is a terminal, and neither NO_COLOR (https://no-color.org) nor a TERM of `dumb` says otherwise.
bool shows_colours();

/// A line of drawn windows with the taps on cells (`#`) and on padding (`o`) in colours and the rest (`.`, `-`) dimmed,
/// if colours are shown; else the line as it is.
std::string coloured(const std::string& line);

/// A sentence, broken at spaces into lines that fit the terminal; those after the first begin with `indent` spaces. As
/// it is if standard output is no terminal.
std::string wrapped(const std::string& sentence, std::size_t indent);

}  // namespace ndpool::cli
