// ndpool max|avg|... IN -o OUT, and the derivatives of the same operators.
#include "commands/commands.hpp"
#include "commands/operators.hpp"
#include "errors.hpp"
#include "io/files.hpp"
#include "io/output_names.hpp"
#include "out_of_core/tiles.hpp"

#include <fmt/format.h>

#include <memory>

namespace ndpool::cli {

namespace {

struct PoolCommand {
  Operator op;
  Map map = Map::forward;
  OperatorOptions options;
  CommonOptions common;
  std::string in, out, tangent, indices, dtype;

  void run() const;

 private:
  void check_names() const;
};

void PoolCommand::check_names() const {
  if (in == "-" && tangent == "-")
    throw WrongArguments(fmt::format("the input and {} cannot both be -: standard input holds one array",
                                     map == Map::jvp ? "--tangent" : "--gradient"));
  if (!indices.empty()) check_distinct({{"-o", out}, {"--indices", indices}});
}

void expect_same(const InputFile& file, const Array& expected, const char* option) {
  if (file.array().dtype != expected.dtype)
    throw WrongArguments(fmt::format("{} has elements of {}; expected {}, those of the input", option,
                                     name_of(file.array().dtype), name_of(expected.dtype)));
  if (!(file.array().shape == expected.shape))
    throw WrongArguments(
        fmt::format("{} has the shape {}; expected {}", option, text_of(file.array().shape), text_of(expected.shape)));
}

/// What the map itself would say of the arguments, before anything is written.
void check(const Pool& pool, const Array& x, bool derives) {
  with_dtype(x.dtype, [&]<class T>() {
    static_cast<void>(pool.plan<T>(x.shape));
    if (derives && !spec::Differentiable<T>) raise({Code::no_derivative, Argument::x, -1, {}});
  });
}

void PoolCommand::run() const {
  use_threads(common);
  check_names();
  const InputFile x(in, {common.memory_bytes(), dtype.empty() ? Untyped::refuse : Untyped::require});
  const Array& array = x.array();
  // Derivatives take the options of the values, and have no integers.
  if (map == Map::forward) check_rounding(options, array.dtype, in);
  const Pool pool = make_pool(op, options, array.shape.size(), x.is_picture());
  check(pool, array, map != Map::forward);
  const Shape output = pool.output_shape(array.shape);

  std::optional<InputFile> tangent_file;
  Operands operands{array, {}, {}, {}};
  if (map != Map::forward) {
    // That it has the type of the input is checked below, and says more than --dtype could.
    tangent_file.emplace(tangent,
                         ReadOptions{common.memory_bytes(), dtype.empty() ? Untyped::refuse : Untyped::accept});
    const Array like{array.dtype, map == Map::jvp ? array.shape : output, {}, nullptr};
    expect_same(*tangent_file, like, map == Map::jvp ? "--tangent" : "--gradient");
    operands.tangent = tangent_file->array();
  }
  const Shape& result_shape = map == Map::vjp ? array.shape : output;
  check_output(out, array.dtype, result_shape);
  if (!indices.empty()) check_output(indices, Dtype::i64, output);

  OutputFile result(out, array.dtype, result_shape, x.is_fortran());
  std::optional<OutputFile> winners;
  operands.result = result.array();
  if (!indices.empty()) operands.indices = winners.emplace(indices, Dtype::i64, output, x.is_fortran()).array();

  const MemoryGuard guard(common.memory_bytes());
  const double bytes = static_cast<double>(item_size(array.dtype)) *
                       static_cast<double>(element_count(array.shape) + element_count(output));
  {
    Progress progress(op.name, bytes, common.quiet);
    run_tiled(map, pool, operands, guard, progress);
  }
  stop_if_interrupted();
  if (winners) winners->commit();
  result.commit();
}

void add_operator(CLI::App& parent, const Operator& op, Map map) {
  const auto command = std::make_shared<PoolCommand>();
  command->op = op;
  command->map = map;
  const std::string what = map == Map::forward ? "Pool an array with"
                           : map == Map::jvp   ? "Push a tangent through"
                                               : "Pull a gradient back through";
  CLI::App* app = parent.add_subcommand(op.name, what + " " + op.name);
  app->add_option("IN", command->in, "Array to pool: .npy, .png, or - for a .npy on standard input")->required();
  app->add_option("-o,--out", command->out, "Where the result goes: .npy, .png, or - for standard output")->required();
  if (map == Map::jvp)
    app->add_option("--tangent", command->tangent, "Direction in which to derive: a .npy like the input")->required();
  if (map == Map::vjp)
    app->add_option("--gradient", command->tangent, "Gradient to pull back: a .npy like the output")->required();
  if (map == Map::forward && op.has_winners())
    app->add_option("--indices", command->indices, "Also write where each extreme was found: flat indices, int64");
  add_options(*app, op, command->options);
  app->add_option("--dtype", command->dtype, "What elements without a type are")
      ->transform(CLI::IsMember({"bfloat16"}, CLI::ignore_case));
  add_common_options(*app, command->common);

  const std::string prefix = map == Map::forward ? "ndpool " : map == Map::jvp ? "ndpool jvp " : "ndpool vjp ";
  const std::string derivative = map == Map::forward ? ""
                                 : map == Map::jvp   ? " --tangent dx.npy"
                                                     : " --gradient gy.npy";
  const std::string window = op.geometry == Kind::windowed   ? " --kernel 3,3 --stride 2,2 --padding 1,1"
                             : op.geometry == Kind::adaptive ? " --output-size 7,7"
                                                             : "";
  std::string examples = fmt::format("Examples:\n  {}{} in.npy{} -o out.npy{}\n", prefix, op.name, derivative, window);
  if (map == Map::forward && op.geometry == Kind::windowed)
    examples += fmt::format(
        "  {0}{1} photo.png -o small.png --kernel 2\n"
        "  {0}{1} volume.npy -o half.npy --kernel 2,2,2 --memory 256M\n"
        "  cat in.npy | {0}{1} - -o - --kernel 5 --axes -1 > out.npy\n",
        prefix, op.name);
  if (op.has_winners() && map == Map::forward)
    examples += fmt::format("  {}{} in.npy -o out.npy{} --indices where.npy\n", prefix, op.name, window);
  app->footer(examples);
  app->callback([command] { command->run(); });
}

}  // namespace

void add_pool_commands(CLI::App& program) {
  for (const Operator& op : operators()) add_operator(program, op, Map::forward);
  CLI::App* jvp =
      program.add_subcommand("jvp", "Derivative of an operator in a direction: ndpool jvp OP IN --tangent DX -o DY");
  CLI::App* vjp = program.add_subcommand("vjp", "Gradient of an operator: ndpool vjp OP IN --gradient GY -o GX");
  for (CLI::App* app : {jvp, vjp}) app->require_subcommand(1);
  for (const Operator& op : operators()) {
    add_operator(*jvp, op, Map::jvp);
    add_operator(*vjp, op, Map::vjp);
  }
}

}  // namespace ndpool::cli
