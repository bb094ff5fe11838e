// Which files the outputs of a run are, whatever their paths look like.
#pragma once

#include <string>
#include <vector>

namespace ndpool::cli {

/// The folder that holds the last component of a path.
std::string folder_of(const std::string& path);

/// The path behind symbolic links, also where the last one leads to nothing yet. Throws a CommandError if there are too
/// many.
std::string follow_links(const std::string& path);

/// Throws WrongArguments if the folder for results is `-`.
void check_folder(const std::string& path);

struct Output {
  std::string option;  ///< what errors call it
  std::string path;
};

/// Throws WrongArguments if two outputs are the same file: by the same path, by links of either kind, or because
/// standard output goes to a file that is also named.
void check_distinct(const std::vector<Output>& outputs);

}  // namespace ndpool::cli
