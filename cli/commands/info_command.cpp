// ndpool info FILE
#include "commands/commands.hpp"
#include "errors.hpp"
#include "io/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ndpool::cli {

void add_info_command(CLI::App& program) {
  struct Options {
    std::vector<std::string> files;
    CommonOptions common;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("info", "Shape, scalar and size of arrays in files");
  app->add_option("FILES", options->files, ".npy or .png files, or -")->required();
  app->footer("Example:\n  ndpool info volume.npy photo.png\n");
  app->callback([options] {
    if (std::ranges::count(options->files, "-") > 1)
      throw WrongArguments("- is given twice: standard input holds one array");
    for (const std::string& path : options->files) {
      const InputFile file(path, {options->common.memory_bytes(), Untyped::accept});
      const Array& array = file.array();
      const Index elements = element_count(array.shape);
      fmt::print("{}: {} {}, {} elements, {} bytes ({})\n", file.path(), text_of(array.shape), name_of(array.dtype),
                 elements, elements * item_size(array.dtype), file.format());
    }
  });
}

}  // namespace ndpool::cli
