#include "io/output_names.hpp"

#include "errors.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace ndpool::cli {

namespace {

/// Equal for two paths exactly if they lead to one file.
struct Identity {
  dev_t device = 0;
  ino_t number = 0;
  std::string name;  ///< of a file that does not exist yet, in the folder with this number

  bool operator==(const Identity&) const = default;
};

Identity identity_of(const std::string& path) {
  struct stat status {};
  if (path == "-")
    return fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode) ? Identity{status.st_dev, status.st_ino, ""}
                                                                         : Identity{0, 0, path};
  if (stat(path.c_str(), &status) == 0) return {status.st_dev, status.st_ino, ""};
  const std::string target = follow_links(path);
  // A folder that is not there is an error of its own, when the file is opened.
  if (stat(folder_of(target).c_str(), &status) != 0) return {0, 0, target};
  return {status.st_dev, status.st_ino, target.substr(target.rfind('/') + 1)};
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string follow_links(const std::string& path) {
  std::string target = path;
  constexpr int max_links = 40;  // as many as Linux follows
  for (int links = 0; links <= max_links; ++links) {
    std::error_code no_link;
    const std::string next = std::filesystem::read_symlink(target, no_link).string();
    if (no_link) return target;
    target = next.starts_with('/') ? next : folder_of(target) + "/" + next;
  }
  errno = ELOOP;
  raise_errno("write", path);
}

void check_folder(const std::string& path) {
  if (path == "-") throw WrongArguments("-o must be a folder here, not -");
}

void check_distinct(const std::vector<Output>& outputs) {
  std::vector<Identity> identities;
  for (const Output& output : outputs) {
    const Identity own = identity_of(output.path);
    for (std::size_t i = 0; i < identities.size(); ++i) {
      if (own != identities[i]) continue;
      const std::string file = output.path == "-" ? "standard output" : output.path;
      throw WrongArguments(fmt::format("{} and {} are the same file, {}: one of them would be lost", outputs[i].option,
                                       output.option, file));
    }
    identities.push_back(own);
  }
}

}  // namespace ndpool::cli
