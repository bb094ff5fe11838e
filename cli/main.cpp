// The ndpool command. Exit codes: 0 done, 2 wrong arguments, 128 + a signal that ended it, 1 anything else.
#include "commands/arguments.hpp"
#include "commands/commands.hpp"
#include "errors.hpp"
#include "out_of_core/tiling.hpp"
#include "report/machine.hpp"
#include "report/progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ndpool/ndpool.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <sstream>
#include <system_error>

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
  if (found < 1 || found > 2 || !(bytes >= static_cast<double>(min_memory)) || bytes > 1e18)
    throw WrongArguments("--memory must be a size of at least 32M, such as 512M or 2G, not '" + memory + "'");
  return static_cast<std::size_t>(bytes);
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--memory", options.memory, "Most memory to use, files in memory included")->capture_default_str();
  command.add_option("--threads", options.threads, "Threads to use; all if not given")
      ->check(whole_number("--threads", 1, 1024));
  command.add_flag("-q,--quiet", options.quiet, "No progress bar");
}

void use_threads(const CommonOptions& options) {
  if (options.threads > 0) set_threads(options.threads);
}

namespace {

std::string version_text() {
  return fmt::format("ndpool {}\ncompiler: {}\ntargets: {} (in use: {})", NDPOOL_VERSION, compiler_name(),
                     fmt::join(targets(), ", "), target());
}

void add_targets_command(CLI::App& program) {
  program.add_subcommand("targets", "The instruction sets this machine can pool with; the one in use has a star")
      ->callback([] {
        for (const std::string& name : targets()) fmt::print("{} {}\n", name == target() ? '*' : ' ', name);
      });
}

/// Standard streams that are closed would be given to the next files that are opened. These fail as closed ones do.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

/// What was printed may still be in a buffer: a full disk is found out here.
void flush_standard_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (errno == 0) throw CommandError("cannot write standard output");
  raise_errno("write", "standard output");
}

int fail(const std::exception& error, int code) {
  std::fputs(fmt::format("ndpool: {}\n", error.what()).c_str(), stderr);
  return code;
}

/// CLI11's sentences, but for those that count values.
std::string about(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  if (text.find("flag override") != std::string::npos) return "--" + text.substr(0, text.find(' ')) + " takes no value";
  const std::string option = text.substr(0, text.find(':'));
  return option + (text.find("At Most") == std::string::npos ? " needs a value" : " is given more than once");
}

/// Help and the version are errors to CLI11, and printed like any output.
void parse(CLI::App& program, int argc, char** argv) {
  std::vector<std::string> arguments = read_arguments(argc, argv);
  check_names(program, arguments);
  try {
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    // A mistyped option also leaves the right one out: the mistake is named, not what follows from it.
    if (error.get_exit_code() != 0 && !program.remaining(true).empty()) throw WrongArguments(about_extras(program));
    if (error.get_exit_code() != 0) throw WrongArguments(about(error));
    std::ostringstream text;
    program.exit(error, text, text);
    fmt::print("{}", text.str());
  }
}

int run(int argc, char** argv) {
  CLI::App program("Pools arrays and pictures, any number of axes, larger than memory.", "ndpool");
  program.option_defaults()->disable_flag_override();
  program.set_version_flag("--version", version_text, "Print version, compiler and instruction sets, and exit");
  program.require_subcommand(1);
  program.get_formatter()->column_width(28);
  add_pool_commands(program);
  add_pyramid_command(program);
  add_explain_command(program);
  add_info_command(program);
  add_targets_command(program);
  add_bench_command(program);
  add_demo_command(program);
  add_completion_command(program);
  program.footer(
      "Examples:\n"
      "  ndpool max photo.png -o small.png --kernel 2        the largest of each 2 x 2 pixels\n"
      "  ndpool avg volume.npy -o half.npy --kernel 2,2,2    a volume of half the size, however large it is\n"
      "  ndpool vjp max x.npy --gradient gy.npy -o gx.npy --kernel 2,2\n"
      "  ndpool explain --shape 5,5 --kernel 3,3 --stride 2,2 --padding 1,1\n"
      "  ndpool OP --help    explains an operator and shows more examples");
  try {
    parse(program, argc, argv);
    flush_standard_output();
    return 0;
  } catch (const WrongArguments& error) {
    return fail(error, 2);
  } catch (const Error& error) {
    return fail(error, 2);
  } catch (const Interrupted& error) {
    return fail(error, exit_code_of(interrupting_signal()));
  } catch (const std::bad_alloc&) {
    return fail(CommandError("there is not enough memory"), 1);
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) return fail(error, 1);
    return fail(CommandError("cannot write standard output: " + error.code().message()), 1);
  } catch (const std::exception& error) {
    return fail(error, 1);
  }
}

}  // namespace
}  // namespace ndpool::cli

int main(int argc, char** argv) {
  ndpool::cli::occupy_closed_streams();
  ndpool::cli::install_signal_handlers();
  return ndpool::cli::run(argc, argv);
}
