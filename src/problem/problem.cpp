#include "problem/problem.hpp"

#include <ndpool/words.hpp>

#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

namespace ndpool::problem {

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
  for (const Word<PaddingRule>& word : padding_words)
    if (word.text == text) return word.value;
  Padding pads;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> ends = split(part, ':');
    const Index lo = std::stoll(ends.front());
    pads.push_back(ends.size() == 2 ? Pad(lo, std::stoll(ends.back())) : Pad(lo));
  }
  return pads;
}

template <class Enum, std::size_t Count>
Enum choice(const std::string& value, const Word<Enum> (&words)[Count]) {
  for (const Word<Enum>& word : words)
    if (word.text == value) return word.value;
  reject(value);
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
    words.take("ties", [&](const std::string& v) { options.ties = choice(v, ties_words); });
  }
  words.take("empty", [&](const std::string& v) { options.empty = choice(v, empty_words); });
}

ExtremeOptions extreme_options(Words& words, Ties standard_ties) {
  ExtremeOptions options;
  take_shared_options(words, options, standard_ties);
  words.take("nan", [&](const std::string& v) { options.nan = choice(v, nan_words); });
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
    words.take("rounding", [&](const std::string& v) { options.rounding = choice(v, rounding_words); });
    return reduction::Average{options};
  }
  if (op == "smooth-max") {
    SmoothMaxOptions options;
    take_shared_options(words, options, standard_ties);
    words.take("beta", [&](const std::string& v) { options.beta = std::stod(v); });
    words.take("pad_mode", [&](const std::string& v) { options.pad_mode = choice(v, pad_mode_words); });
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
  std::uint64_t memory = 0;
  words.take("memory", [&](const std::string& v) { memory = std::stoull(v); });
  const Pool pool(description(words, kind), reduction_of(words, op, kind == "global"));
  words.finish();
  return {pool, shape, memory};
}

bool is_transcendental(const std::string& line) {
  const std::string op = line.substr(0, line.find(' '));
  return op.ends_with("smooth-max") || op.ends_with("lp");
}

bool has_winners(const std::string& line) {
  const std::string op = line.substr(0, line.find(' '));
  return !is_transcendental(line) && (op.ends_with("max") || op.ends_with("min"));
}

std::vector<NamedProblem> read_problems(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::invalid_argument("cannot read the problems of " + path);
  std::vector<NamedProblem> problems;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) throw std::invalid_argument("a problem needs a name: " + line);
    problems.push_back({line.substr(0, colon), line.substr(colon + 2)});
  }
  return problems;
}

}  // namespace ndpool::problem
