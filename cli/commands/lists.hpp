// Numbers, and lists of them, as words of a command line.
#pragma once

#include <ndpool/geometry.hpp>

#include <string>

namespace ndpool::cli {

/// `3,3` or `3, 3` as numbers; `option` is what errors call it.
Shape parse_list(const std::string& text, const std::string& option);

/// One whole number, and one number of any kind, `inf` included.
Index parse_integer(const std::string& text, const std::string& option);
double parse_real(const std::string& text, const std::string& option);

/// `1,1`, `0:1,2:2` with different sides, or the name of a rule in any case: `same`, `same_lower`, `valid`.
Padding parse_padding(const std::string& text);

}  // namespace ndpool::cli
