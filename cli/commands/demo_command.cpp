// ndpool demo: a page with every operator on one picture, and this machine's speed.
#include "commands/bench_command.hpp"
#include "commands/commands.hpp"
#include "errors.hpp"
#include "io/new_file.hpp"
#include "io/output_names.hpp"
#include "report/demo_page.hpp"
#include "report/machine.hpp"
#include "report/progress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>

namespace ndpool::cli {

namespace {

using nlohmann::json;

struct DemoCommand {
  std::string folder = "demo", input;
  std::vector<std::string> links;
  bool without_bench = false;

  void run() const;
};

json machine() {
  return {{"processor", processor_name()},
          {"target", target()},
          {"threads", get_threads()},
          {"version", NDPOOL_VERSION},
          {"compiler", compiler_name()}};
}

/// `NAME=ADDRESS` of --link.
json link_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    throw WrongArguments("--link must be NAME=ADDRESS, not '" + text + "'");
  return {{"name", text.substr(0, equals)}, {"address", text.substr(equals + 1)}};
}

json shape_table(const std::vector<PooledShape>& shapes) {
  json table = json::array();
  fmt::print("{:<22} {:<14} {:>14} {:>12}\n", "operator", "window", "in", "out");
  for (const PooledShape& shape : shapes) {
    table.push_back({shape.op, shape.window, text_of(shape.in), text_of(shape.out)});
    fmt::print("{:<22} {:<14} {:>14} {:>12}\n", shape.op, shape.window, text_of(shape.in), text_of(shape.out));
  }
  return table;
}

json speed() {
  fmt::print("\n");
  const bench::Report report = measure_families({5, 0.05});
  json cases = json::array();
  for (const bench::Result& result : report.results()) cases.push_back(json::parse(bench::json_of(result)));
  return {{"cases", cases}, {"limit", limit_of(report)}, {"summary", distance_from_limit(report)}};
}

void DemoCommand::run() const {
  json addresses = json::array();
  for (const std::string& link : links) addresses.push_back(link_of(link));
  check_folder(folder);
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) raise_errno("make the folder", folder);
  DemoPage page(input.empty() ? read_photograph() : read_picture(input), input.empty());
  page.draw();
  json& data = page.data();
  data["machine"] = machine();
  data["links"] = addresses;
  data["shapes"] = shape_table(page.shapes());
  data["speed"] = without_bench ? json() : speed();

  stop_if_interrupted();
  NewFile file(folder + "/index.html");
  const std::string html = page_of(data);
  file.write(html.data(), html.size());
  file.commit();
  fmt::print("\nThe page is {}/index.html\n", folder);
}

}  // namespace

void add_demo_command(CLI::App& program) {
  const auto command = std::make_shared<DemoCommand>();
  CLI::App* app = program.add_subcommand("demo", "A page with every operator on one picture, and this machine's speed");
  app->add_option("-o,--out", command->folder, "Folder for index.html")->capture_default_str();
  app->add_option("--input", command->input, "A .png to use instead of the photograph that the command brings");
  app->add_option("--link", command->links,
                  "A link for the head of the page, as NAME=ADDRESS; may be given more than once");
  app->add_flag("--no-bench", command->without_bench, "Leave out the measurements");
  app->footer("Examples:\n  ndpool demo --out demo\n  ndpool demo --input photo.png\n");
  app->callback([command] { command->run(); });
}

}  // namespace ndpool::cli
