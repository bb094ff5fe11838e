// Any bytes as a pooling problem: shape, window, options, memory and scalar. Kernels must agree with the reference on
// every target, bit for bit with each other, and touch no byte that is not theirs.
#include "equivalence.hpp"
#include "kernels/kernels.hpp"
#include "support/kernels.hpp"

#include <cstdlib>
#include <iostream>

namespace ndpool::testing {

namespace {

/// Bytes one by one; zeros when they have run out, so that every prefix of an input is an input.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}
  int next() { return data_ == end_ ? 0 : *data_++; }
  int below(int limit) { return next() % limit; }
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }
  /// Each choice is taken for about one byte in `one_in`; zero bytes take none.
  bool sometimes(int one_in) { return below(one_in) == 1; }

 private:
  const std::uint8_t* data_;
  const std::uint8_t* end_;
};

/// `count` numbers that `draw` gives, separated by commas.
template <class Draw>
std::string list(int count, Draw draw) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + draw();
  return text;
}

/// A line that parses; whether the problem has an answer is for the library to say.
std::string line_from(Bytes& bytes) {
  const std::string op = bytes.one_of({"max", "avg", "min", "sum", "smooth-max", "lp"});
  const std::string kind = bytes.one_of({"", "", "adaptive-", "global-"});
  const int rank = 1 + bytes.below(5), pooled = 1 + bytes.below(rank);
  const auto up_to = [&](int most) { return [&bytes, most] { return std::to_string(bytes.below(most + 1)); }; };
  Index room = 1000;  // so that an input takes milliseconds
  std::string line = kind + op + " shape=" + list(rank, [&] {
                       const Index extent = std::min<Index>(bytes.below(72), room);
                       room /= std::max<Index>(extent, 1);
                       return std::to_string(extent);
                     });
  if (bytes.sometimes(2)) {
    const int first = bytes.below(rank), step = 1 + bytes.below(2);
    int axis = first - step;
    line += " axes=" + list(pooled, [&] { return std::to_string((axis += step) % rank); });
  }
  const bool has_axes = line.find("axes=") != std::string::npos;
  if (kind.empty()) {
    line += " kernel=" + list(pooled, up_to(bytes.sometimes(8) ? 40 : 6));
    if (bytes.sometimes(2)) line += " stride=" + list(pooled, up_to(5));
    if (bytes.sometimes(3)) line += " dilation=" + list(pooled, up_to(4));
    if (bytes.sometimes(2))
      line += " padding=" + list(pooled, [&] { return up_to(7)() + ":" + up_to(7)(); });
    else if (bytes.sometimes(3))
      line += " padding=" + bytes.one_of({"same", "same_lower", "valid"});
    if (bytes.sometimes(3)) line += " ceil";
  } else if (kind == "adaptive-") {
    line += " output_size=" + list(pooled, up_to(40));
  } else {
    if (!has_axes && bytes.sometimes(2)) line += " axes=" + up_to(rank)();
    if (bytes.sometimes(2)) line += " keepdims";
  }
  if ((op == "max" || op == "min") && bytes.sometimes(3)) line += " ties=" + bytes.one_of({"first", "all", "split"});
  if ((op == "max" || op == "min") && bytes.sometimes(3)) line += " nan=ignore";
  if (op == "avg") {
    if (bytes.sometimes(3)) line += " exclude_pad";
    if (bytes.sometimes(5)) line += " divisor=" + std::to_string(bytes.next() - 128);
    if (bytes.sometimes(3)) line += " rounding=" + bytes.one_of({"half_even", "toward_zero", "floor", "half_away"});
  }
  if (op == "smooth-max") {
    line += " beta=" + bytes.one_of({"1", "0.5", "-2", "4", "30", "0"});
    if (bytes.sometimes(2)) line += " pad_mode=ignore";
  }
  if (op == "lp") line += " p=" + bytes.one_of({"2", "1", "2.3", "3", "0.5", "inf", "-1"});
  if (op != "sum" && bytes.sometimes(2)) line += " empty=identity";
  return line + " memory=" + std::to_string(bytes.next() * 256 + bytes.next());
}

/// Taps of all windows together, or -1 if the window does not fit the array.
double cost(const std::string& line) {
  try {
    const Problem problem = parse_problem(line);
    const Geometry geometry = problem.pool.geometry(problem.shape);
    return static_cast<double>(element_count(geometry.output_shape())) * static_cast<double>(geometry.tap_count());
  } catch (const Error&) {
    return -1;
  }
}

[[noreturn]] void stop(const std::string& line, const std::string& scalar, const std::string& what) {
  std::cerr << what << "\nscalar " << scalar << ", NDPOOL_PROBLEM='" << line << "'\n";
  std::abort();
}

template <class T>
void compare_targets(const std::string& line, const std::string& scalar) {
  std::vector<unsigned char> bits;
  const std::vector<std::string> names = targets();
  for (const std::string& name : names) {
    const ForcedTarget forced(name);
    std::mt19937_64 numbers = numbers_for(line);
    const Checked checked = check_problem<T>(line, numbers);
    if (checked.rejected) return;
    if (!checked.failure.empty()) stop(line, scalar, "target " + name + ": " + checked.failure);
    if (name == names.front()) bits = checked.bits;
    if (bits != checked.bits) stop(line, scalar, "the bits of " + name + " and " + names.front() + " differ");
  }
}

void run(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const int kind = bytes.below(scalar_kinds);
  const std::string line = line_from(bytes);
  const double taps = cost(line);
  if (taps < 0 || taps > 8000) return;
#define NDPOOL_ROW(name, type) \
  if (kind == static_cast<int>(ScalarKind::kind_##name)) compare_targets<type>(line, #name);
  NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
}

}  // namespace

}  // namespace ndpool::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ndpool::testing::run(data, size);
  return 0;
}
