// The grid of max and average against the streaming limit, in groups with their goals.
#include "arguments.hpp"
#include "grid.hpp"
#include "summary.hpp"

#include <cstdio>
#include <stdexcept>

namespace ndpool::bench {
namespace {

constexpr const char* usage =
    "grid_bench [--map NAME] [--scalar NAME] [--filter TEXT] [--json FILE]\n"
    "Measures max and average of ten scalars, 19 windows and three layouts at 8 MB against the streaming limit.\n"
    "  --map NAME     forward, indices-i64, vjp or vjp-from-i64 only\n"
    "  --scalar NAME  one scalar only: u8, i8, u16, i16, i32, i64, f16, bf16, f32 or f64\n"
    "  --filter TEXT  cells that contain the text only\n"
    "  --json FILE    also writes the numbers\n";

void run(Arguments& arguments) {
  const Selection selection(arguments);
  const std::optional<std::string> json = arguments.value("--json");
  arguments.finish();
  set_threads(1);
  std::vector<Case> cases = grid_cases();
  std::erase_if(cases, [&](const Case& cell) { return !selection.accepts(cell); });
  if (cases.empty()) throw std::invalid_argument("no cell is accepted by --map, --scalar and --filter");
  std::printf("time over the streaming limit, one thread, target %s\n", target().c_str());
  const Summary summary("grid at 8 MB", measure_pairs("grid", cases, false), grid_groups(), grid_group_of);
  summary.print({"goal"});
  if (json) write_json(*json, {summary});
}

}  // namespace
}  // namespace ndpool::bench

int main(int argc, char** argv) {
  return ndpool::bench::run_program("grid_bench", ndpool::bench::usage, {argv + 1, argv + argc}, ndpool::bench::run);
}
