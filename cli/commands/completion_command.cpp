// ndpool completion and ndpool manual: what an installation puts beside the command.
#include "commands/commands.hpp"
#include "report/command_tree.hpp"

#include <fmt/format.h>

#include <memory>

namespace ndpool::cli {

void add_completion_command(CLI::App& program) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      program.add_subcommand("completion", "A script that completes arguments in a shell: bash, zsh or fish");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  completion->footer("Examples:\n  source <(ndpool completion bash)\n  ndpool completion fish | source\n");
  completion->callback([&program, shell] { fmt::print("{}", completion_script(program, *shell)); });
  program.add_subcommand("manual", "The manual page, for man: ndpool manual | man -l -")->callback([&program] {
    fmt::print("{}", manual_page(program, NDPOOL_VERSION));
  });
}

}  // namespace ndpool::cli
