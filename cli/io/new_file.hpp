// A file that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <string>

namespace ndpool::cli {

/// Written without a name, where the file system allows that, so that nothing is left if the program is killed; else
/// under a hidden name beside its own, which is removed when the program ends in any way but a kill. A file that it
/// replaces passes on its mode, and a symbolic link its target. `-` is standard output, which gets all bytes at the
/// end.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return file_; }
  const std::string& path() const { return path_; }

  /// Makes the file so long and reserves its place on the disk, so that writing into a mapping of it cannot fail.
  void reserve(std::size_t bytes);
  void write(const void* data, std::size_t bytes);
  /// Gives the file its name, replacing what had it.
  void commit();

 private:
  bool is_stdout() const { return path_ == "-"; }
  void open_in(const std::string& folder);
  void name_it(const std::string& name) const;

  std::string path_;
  std::string target_;  ///< what the path leads to
  std::string hidden_;  ///< the name it has until then; empty for none
  int file_ = -1;
};

/// Removes the hidden files of this process. May be called in a signal handler.
void remove_hidden_files();

}  // namespace ndpool::cli
