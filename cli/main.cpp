// The ndpool command. Exit codes: 0 done, 2 wrong arguments, 1 anything else.
#include "commands.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "tiling.hpp"

#include <fmt/format.h>
#include <ndpool/ndpool.hpp>

#include <new>

namespace ndpool::cli {

std::size_t CommonOptions::memory_bytes() const {
  double number = 0;
  char unit = 'B', rest = 0;
  const int found = std::sscanf(memory.c_str(), "%lf%c%c", &number, &unit, &rest);
  double factor = 0;
  switch (unit) {
    case 'B': factor = 1; break;
    case 'k':
    case 'K': factor = 1 << 10; break;
    case 'M': factor = 1 << 20; break;
    case 'G': factor = 1 << 30; break;
    case 'T': factor = 1LL << 40; break;
    default: break;
  }
  const double bytes = number * factor;
  if (found < 1 || found > 2 || !(bytes >= static_cast<double>(least_memory)) || bytes > 1e18)
    throw WrongArguments("--memory must be a size of at least 32M, such as 512M or 2G, not '" + memory + "'");
  return static_cast<std::size_t>(bytes);
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--memory", options.memory, "Most memory to use, files in memory included")->capture_default_str();
  command.add_option("--threads", options.threads, "Threads to use; all if not given")->check(CLI::Range(1, 1024));
  command.add_flag("-q,--quiet", options.quiet, "No progress bar");
}

void use_threads(const CommonOptions& options) {
  if (options.threads > 0) set_threads(options.threads);
}

namespace {

void add_targets_command(CLI::App& program) {
  program.add_subcommand("targets", "The instruction sets this machine can pool with; the one in use has a star")
      ->callback([] {
        for (const std::string& name : targets()) fmt::print("{} {}\n", name == target() ? '*' : ' ', name);
      });
}

int run(int argc, char** argv) {
  CLI::App program("Pools arrays and pictures, any number of axes, larger than memory.", "ndpool");
  program.set_version_flag("--version", "ndpool " NDPOOL_VERSION);
  program.require_subcommand(1);
  program.get_formatter()->column_width(28);
  add_pool_commands(program);
  add_pyramid_command(program);
  add_explain_command(program);
  add_info_command(program);
  add_targets_command(program);
  add_bench_command(program);
  add_demo_command(program);
  program.footer(
      "Examples:\n"
      "  ndpool max photo.png -o small.png --kernel 2        the largest of each 2 x 2 pixels\n"
      "  ndpool avg volume.npy -o half.npy --kernel 2,2,2    a volume of half the size, however large it is\n"
      "  ndpool vjp max x.npy --gradient gy.npy -o gx.npy --kernel 2,2\n"
      "  ndpool explain --shape 5,5 --kernel 3,3 --stride 2,2 --padding 1,1\n"
      "  ndpool OP --help    explains an operator and shows more examples");
  try {
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    fmt::print(stderr, "ndpool: {}\n", error.what());
    return 2;
  } catch (const WrongArguments& error) {
    fmt::print(stderr, "ndpool: {}\n", error.what());
    return 2;
  } catch (const Error& error) {
    fmt::print(stderr, "ndpool: {}\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ndpool: there is not enough memory\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ndpool: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace ndpool::cli

int main(int argc, char** argv) {
  ndpool::cli::install_signal_handlers();
  return ndpool::cli::run(argc, argv);
}
