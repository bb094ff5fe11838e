// The words of a command line before CLI11 reads them, and what is wrong with those that it does not expect.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace ndpool::cli {

/// The arguments without the name of the program. Lists that a shell has cut behind a comma (`3, 3`) are one again.
std::vector<std::string> read_arguments(int argc, char** argv);

/// Throws WrongArguments for an empty argument, and for a command or an operator that does not exist, with the name
/// that is nearest to it.
void check_names(const CLI::App& program, const std::vector<std::string>& arguments);

/// A sentence about the arguments that no option of the chosen command took.
std::string about_extras(const CLI::App& program);

/// Takes whole numbers of a range. What an option has instead is a WrongArguments that says which of the two it is not.
CLI::Validator whole_number(const std::string& option, int least, int most);

/// Takes words in any case.
CLI::Validator any_case();

/// ` did you mean max?` behind a semicolon, or nothing if no name is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

}  // namespace ndpool::cli
