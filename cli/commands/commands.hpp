// The commands. Each adds itself to the program and runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace ndpool::cli {

/// What every command that works for long has.
struct CommonOptions {
  std::string memory = "1G";
  int threads = 0;
  bool quiet = false;

  std::size_t memory_bytes() const;
};
void add_common_options(CLI::App& command, CommonOptions& options);
void use_threads(const CommonOptions& options);

void add_pool_commands(CLI::App& program);
void add_pyramid_command(CLI::App& program);
void add_explain_command(CLI::App& program);
void add_info_command(CLI::App& program);
void add_bench_command(CLI::App& program);
void add_demo_command(CLI::App& program);
void add_completion_command(CLI::App& program);

}  // namespace ndpool::cli
