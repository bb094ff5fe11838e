#include "support/problem.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ndpool::testing {

namespace {

[[noreturn]] void reject(const std::string& word) {
  throw std::invalid_argument("a problem does not have the word '" + word + "'");
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

Shape numbers(const std::string& text) {
  Shape list;
  for (const std::string& part : split(text, ',')) list.push_back(std::stoll(part));
  return list;
}

Padding padding(const std::string& text) {
  if (text == "same_upper") return PaddingRule::same_upper;
  if (text == "same_lower") return PaddingRule::same_lower;
  if (text == "valid") return PaddingRule::valid;
  Padding pads;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> ends = split(part, ':');
    const Index lo = std::stoll(ends.front());
    pads.push_back(ends.size() == 2 ? Pad(lo, std::stoll(ends.back())) : Pad(lo));
  }
  return pads;
}

template <class Enum>
Enum choice(const std::string& value, const std::map<std::string, Enum>& choices) {
  const auto found = choices.find(value);
  if (found == choices.end()) reject(value);
  return found->second;
}

/// The words of a line, each used once: what is left over was not understood.
class Words {
 public:
  explicit Words(const std::string& line) {
    std::istringstream in(line);
    in >> op_;
    for (std::string word; in >> word;) {
      const std::size_t equals = word.find('=');
      words_[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
    }
  }
  const std::string& op() const { return op_; }
  bool take(const std::string& name) { return words_.erase(name) > 0; }
  template <class F>
  void take(const std::string& name, F use) {
    const auto found = words_.find(name);
    if (found == words_.end()) return;
    use(found->second);
    words_.erase(found);
  }
  void finish() const {
    if (!words_.empty()) reject(words_.begin()->first);
  }

 private:
  std::string op_;
  std::map<std::string, std::string> words_;
};

Pool::Description description(Words& words, const std::string& kind) {
  Shape axes;
  words.take("axes", [&](const std::string& v) { axes = numbers(v); });
  if (kind == "adaptive") {
    Adaptive adaptive{.axes = axes};
    words.take("output_size", [&](const std::string& v) { adaptive.output_size = numbers(v); });
    return adaptive;
  }
  if (kind == "global") return Global{.axes = axes, .keepdims = words.take("keepdims")};
  Window window{.axes = axes, .ceil_mode = words.take("ceil")};
  words.take("kernel", [&](const std::string& v) { window.kernel = numbers(v); });
  words.take("stride", [&](const std::string& v) { window.stride = numbers(v); });
  words.take("dilation", [&](const std::string& v) { window.dilation = numbers(v); });
  words.take("padding", [&](const std::string& v) { window.padding = padding(v); });
  return window;
}

template <class Options>
void take_shared_options(Words& words, Options& options, Ties standard_ties) {
  if constexpr (requires { options.ties; }) {
    options.ties = standard_ties;
    words.take("ties", [&](const std::string& v) {
      options.ties = choice<Ties>(v, {{"first", Ties::first}, {"all", Ties::all}, {"split", Ties::split}});
    });
  }
  words.take("empty", [&](const std::string& v) {
    options.empty = choice<Empty>(v, {{"error", Empty::error}, {"identity", Empty::identity}});
  });
}

ExtremeOptions extreme_options(Words& words, Ties standard_ties) {
  ExtremeOptions options;
  take_shared_options(words, options, standard_ties);
  words.take("nan", [&](const std::string& v) {
    options.nan = choice<Nan>(v, {{"propagate", Nan::propagate}, {"ignore", Nan::ignore}});
  });
  return options;
}

Pool::Reduction reduction_of(Words& words, const std::string& op, bool global) {
  const Ties standard_ties = global ? Ties::all : Ties::standard;
  if (op == "max") return reduction::Max{extreme_options(words, standard_ties)};
  if (op == "min") return reduction::Min{extreme_options(words, standard_ties)};
  if (op == "sum") return reduction::Sum{};
  if (op == "avg") {
    AverageOptions options;
    take_shared_options(words, options, standard_ties);
    options.count_include_pad = !words.take("exclude_pad");
    words.take("divisor", [&](const std::string& v) { options.divisor = std::stoll(v); });
    words.take("rounding", [&](const std::string& v) {
      options.rounding = choice<Rounding>(v, {{"half_even", Rounding::half_even},
                                              {"toward_zero", Rounding::toward_zero},
                                              {"floor", Rounding::floor},
                                              {"half_away", Rounding::half_away}});
    });
    return reduction::Average{options};
  }
  if (op == "smooth-max") {
    SmoothMaxOptions options;
    take_shared_options(words, options, standard_ties);
    words.take("beta", [&](const std::string& v) { options.beta = std::stod(v); });
    words.take("pad_mode", [&](const std::string& v) {
      options.pad_mode = choice<PadMode>(v, {{"zero", PadMode::zero}, {"ignore", PadMode::ignore}});
    });
    return reduction::SmoothMax{options};
  }
  if (op == "lp") {
    reduction::Lp lp;
    words.take("p", [&](const std::string& v) { lp.p = std::stod(v); });
    const bool has_extremes = lp.p == std::numeric_limits<double>::infinity();
    take_shared_options(words, lp.options, has_extremes ? standard_ties : Ties::standard);
    return lp;
  }
  reject(op);
}

}  // namespace

Problem parse_problem(const std::string& line) {
  Words words(line);
  const std::size_t dash = words.op().find('-');
  std::string kind = words.op().substr(0, dash), op = words.op();
  if (kind == "adaptive" || kind == "global") op = words.op().substr(dash + 1);
  Shape shape;
  words.take("shape", [&](const std::string& v) { shape = numbers(v); });
  const Pool pool(description(words, kind), reduction_of(words, op, kind == "global"));
  words.finish();
  return {pool, shape};
}

std::vector<NamedProblem> read_cases(const std::string& file) {
  std::ifstream in(std::string(NDPOOL_SOURCE_DIR) + "/tests/cases/" + file);
  if (!in) throw std::invalid_argument("no case file " + file);
  std::vector<NamedProblem> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) throw std::invalid_argument("a case needs a name: " + line);
    cases.push_back({line.substr(0, colon), line.substr(colon + 2)});
  }
  return cases;
}

namespace {

class Generator {
 public:
  explicit Generator(std::mt19937_64& random) : random_(random) {}

  Index between(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random_); }
  bool sometimes(int one_in) { return between(1, one_in) == 1; }
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<Index>(choices.size()) - 1))];
  }
  /// A random subset of the axes, at least one, in random order.
  std::vector<int> axes(int rank) {
    std::vector<int> all(static_cast<std::size_t>(rank));
    for (int a = 0; a < rank; ++a) all[static_cast<std::size_t>(a)] = a;
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(static_cast<std::size_t>(between(1, rank)));
    return all;
  }

 private:
  std::mt19937_64& random_;
};

template <class F>
std::string list(std::size_t count, F entry) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += entry(i);
  }
  return text;
}

std::string window_words(Generator& make, const std::vector<Index>& lengths) {
  const auto number = [&](Index low, Index high) {
    return list(lengths.size(), [&](std::size_t) { return std::to_string(make.between(low, high)); });
  };
  std::string words = " kernel=" + number(1, 4);
  if (!make.sometimes(4)) words += " stride=" + number(1, 4);
  if (make.sometimes(3)) words += " dilation=" + number(1, 3);
  if (make.sometimes(6))
    words += " padding=" + make.one_of({"same_upper", "same_lower", "valid"});
  else if (make.sometimes(2))
    words += " padding=" + list(lengths.size(), [&](std::size_t) {
               return std::to_string(make.between(0, 3)) + ":" + std::to_string(make.between(0, 3));
             });
  if (make.sometimes(2)) words += " ceil";
  return words;
}

std::string option_words(Generator& make, const std::string& op, GeometryKind kind) {
  std::string words;
  const auto ties = [&] { return make.sometimes(3) ? " ties=" + make.one_of({"first", "all", "split"}) : ""; };
  if (op == "max" || op == "min") {
    words += ties();
    if (make.sometimes(4)) words += " nan=ignore";
  } else if (op == "avg") {
    if (kind == GeometryKind::windowed && make.sometimes(3)) words += " exclude_pad";
    if (make.sometimes(5)) words += " divisor=" + make.one_of({"1", "7", "-3"});
    if (make.sometimes(3)) words += " rounding=" + make.one_of({"half_even", "toward_zero", "floor", "half_away"});
  } else if (op == "smooth-max") {
    words += " beta=" + make.one_of({"1", "0.5", "4", "-2"});
    if (make.sometimes(2)) words += " pad_mode=ignore";
  } else if (op == "lp") {
    const std::string p = make.one_of({"1", "2", "2.3", "3", "inf"});
    words += " p=" + p;
    if (p == "inf") words += ties();
  }
  // Half the windows without an input element are asked for as such, the others are drawn again.
  if (kind == GeometryKind::windowed && op != "sum" && make.sometimes(2)) words += " empty=identity";
  return words;
}

bool is_valid(const std::string& line) {
  try {
    const Problem problem = parse_problem(line);
    const Shape out = problem.pool.output_shape(problem.shape);
    std::vector<double> x(static_cast<std::size_t>(element_count(problem.shape)), 1.0);
    std::vector<double> y(static_cast<std::size_t>(element_count(out)));
    problem.pool.forward(view(x, problem.shape), view(y, out));
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string random_problem(std::mt19937_64& random, const std::string& op, GeometryKind kind, int rank) {
  Generator make(random);
  for (;;) {
    const Index longest = rank == 1 ? 20 : rank == 2 ? 9 : rank == 3 ? 6 : 5;
    std::vector<Index> shape;
    for (int a = 0; a < rank; ++a) shape.push_back(make.between(1, longest));
    const std::vector<int> axes = make.axes(rank);
    std::vector<Index> lengths;
    for (int axis : axes) lengths.push_back(shape[static_cast<std::size_t>(axis)]);

    std::string line =
        kind == GeometryKind::windowed ? op : (kind == GeometryKind::adaptive ? "adaptive-" : "global-") + op;
    line += " shape=" + list(shape.size(), [&](std::size_t i) { return std::to_string(shape[i]); });
    line += " axes=" + list(axes.size(), [&](std::size_t i) { return std::to_string(axes[i]); });
    if (kind == GeometryKind::windowed) line += window_words(make, lengths);
    if (kind == GeometryKind::adaptive)
      line += " output_size=" + list(axes.size(), [&](std::size_t) { return std::to_string(make.between(1, 7)); });
    if (kind == GeometryKind::global && make.sometimes(2)) line += " keepdims";
    line += option_words(make, op, kind);
    if (is_valid(line)) return line;
  }
}

std::uint64_t seed() {
  const char* given = std::getenv("NDPOOL_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20261115;
}

std::vector<std::string> sweep_problems() {
  std::mt19937_64 random(seed());
  std::vector<std::string> problems;
  for (const char* file : {"traps.txt", "networks.txt"})
    for (const NamedProblem& named : read_cases(file)) problems.push_back(named.line);
  std::set<std::string> seen(problems.begin(), problems.end());
  constexpr GeometryKind kinds[] = {GeometryKind::windowed, GeometryKind::adaptive, GeometryKind::global};
  // There are only so many global problems of rank 1, so duplicates are drawn again a limited number of times.
  for (const char* op : operators)
    for (GeometryKind kind : kinds)
      for (int rank = 1; rank <= 4; ++rank)
        for (int drawn = 0, kept = 0; drawn < 200 && kept < (kind == GeometryKind::windowed ? 50 : 30); ++drawn) {
          const std::string line = random_problem(random, op, kind, rank);
          if (!seen.insert(line).second) continue;
          problems.push_back(line);
          ++kept;
        }
  return problems;
}

}  // namespace ndpool::testing
