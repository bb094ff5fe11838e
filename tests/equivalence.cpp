#include "equivalence.hpp"

#include "kernels/kernels.hpp"

#include "support/kernels.hpp"
#include "support/placed.hpp"

#include <sstream>

namespace ndpool::testing {

namespace {

/// The number after ` name=` in a line.
double number_after(const std::string& line, const std::string& name, double otherwise) {
  const std::size_t at = line.find(" " + name + "=");
  return at == std::string::npos ? otherwise : std::stod(line.substr(at + name.size() + 2));
}

template <class T>
class Checker {
 public:
  Checker(const std::string& line, std::mt19937_64& random)
      : line_(line), random_(random), problem_(parse_problem(line)), layouts_(problem_.memory) {}

  Checked run() {
    result_.rejected = is_rejected();
    if (result_.rejected) return result_;
    try {
      draw_numbers();
      check_values();
      if (has_winners(line_)) check_winners();
      if constexpr (!std::integral<T>) {
        check_jvp();
        check_vjp();
      }
    } catch (const Disagreement& disagreement) {
      result_.failure = disagreement.text;
    } catch (const std::exception& error) {
      result_.failure = std::string("threw: ") + error.what();
    }
    return result_;
  }

 private:
  struct Disagreement {
    std::string text;
  };
  using Limits = std::numeric_limits<T>;
  using Work = std::numeric_limits<spec::Accumulator<T>>;  // what is added and multiplied in
  static constexpr bool is_short = !std::integral<T> && Limits::digits <= 11;

  bool is_rejected() {
    try {
      static_cast<void>(kernels_.plan<T>(problem_.shape));
      geometry_ = kernels_.geometry(problem_.shape);
      out_ = kernels_.output_shape(problem_.shape);
      return false;
    } catch (const Error&) {
      return true;
    }
  }

  void draw_numbers() {
    // Functions of a transcendental reducer are compared by rounding errors, for which tangents must be finite.
    const Specials specials = is_transcendental(line_) ? Specials::none : Specials::all;
    x_ = place(awkward_numbers<T>(problem_.shape, random_));
    dx_ = place(awkward_numbers<T>(problem_.shape, random_, specials));
    gy_ = place(awkward_numbers<T>(out_, random_, specials));
    x = x_->packed(), dx = dx_->packed(), gy = gy_->packed();
    for (const T& value : x)
      if (std::isfinite(number(value))) largest_x_ = std::max(largest_x_, std::abs(number(value)));
  }

  void check_values() {
    const Array<T> expected = forward(spec_, x);
    const auto compare_values = [&](const char* name, const Array<T>& y) {
      if (has_winners(line_) || std::integral<T>) return compare(name, y, expected);
      compare(name, y, expected, [&](Index i) { return value_slack(std::abs(number(expected[i]))); });
    };
    compare_values("y", result<T>("y", out_, [&](const View<T>& y) { kernels_.forward(x_->read(), y); }));
    const Plan<T> plan = kernels_.plan<T>(problem_.shape, x_->view.strides());
    Array<T> planned(out_);
    plan.forward(x_->view.data(), planned.begin());
    compare_values("y of a plan", planned);
  }

  void check_winners() {
    Array<T> expected_y(out_);
    Array<Index> flat(out_);
    spec_.forward(x.view(), expected_y.view(), flat.view());
    check_winners("flat", expected_y, flat);
    switch (spec::compact_bytes(geometry_)) {
      case 1: return check_winners("u8", expected_y, compact<std::uint8_t>(flat));
      case 2: return check_winners("u16", expected_y, compact<std::uint16_t>(flat));
      default: return check_winners("u32", expected_y, compact<std::uint32_t>(flat));
    }
  }

  template <class Small>
  Array<Small> compact(const Array<Index>& flat) const {
    Array<Small> taps(flat.shape());
    const Shape all_axes = geometry_.output_shape();
    spec::compact_from_flat(geometry_, View<const Index>(flat.begin(), all_axes), View<Small>(taps.begin(), all_axes));
    return taps;
  }

  template <class I>
  void check_winners(const std::string& kind, const Array<T>& expected_y, const Array<I>& expected) {
    const Array<I> found = result<I>(kind + " indices", out_, [&](const View<I>& indices) {
      compare("y with " + kind + " indices",
              result<T>("y", out_, [&](const View<T>& y) { kernels_.forward(x_->read(), y, indices); }), expected_y);
    });
    compare(kind + " indices", found, expected);

    const auto placed = place(expected);
    const View<const I> indices = placed->read();
    const Array<I> seen = placed->packed();  // a broadcast has fewer winners, which may not be of their windows
    if (!(seen == expected)) return;
    Array<T> dy(out_), gx(problem_.shape), sums(problem_.shape);
    spec_.jvp_from_indices(expected.view(), dx.view(), dy.view());
    compare("dy from " + kind + " indices",
            result<T>("dy", out_, [&](const View<T>& view) { kernels_.jvp_from_indices(indices, dx_->read(), view); }),
            dy);
    spec_.vjp_from_indices(expected.view(), gy.view(), gx.view());
    const std::string name = "gx from " + kind + " indices";
    const Array<T> found_gx = result<T>(
        name, problem_.shape, [&](const View<T>& view) { kernels_.vjp_from_indices(indices, gy_->read(), view); });
    if constexpr (std::integral<T>) {
      compare(name, found_gx, gx);
    } else {
      spec_.vjp_from_indices(expected.view(), magnitudes(gy).view(), sums.view());
      compare_gradients(name, found_gx, gx, sums, 0);
    }
  }

  void check_jvp() {
    const Array<T> expected = jvp(spec_, x, dx);
    const Array<T> dy =
        result<T>("dy", out_, [&](const View<T>& view) { kernels_.jvp(x_->read(), dx_->read(), view); });
    if (!is_transcendental(line_)) {
      compare("dy", dy, expected, [&](Index i) { return value_slack(std::abs(number(expected[i]))); });
      return;
    }
    // With tangents of the signs of x all terms of an Lp have one sign, as those of smooth max have anyway.
    Array<T> aligned = magnitudes(dx);
    for (Index i = 0; i < aligned.size(); ++i)
      if (is_lp() && x[i] < T(0)) aligned[i] = static_cast<T>(-aligned[i]);
    const Array<T> sums = jvp(spec_, x, aligned);
    compare("dy", dy, expected, [&](Index i) {
      return weight_slack() * std::abs(number(sums[i])) + number(Limits::min()) * largest(dx) +
             rounding(std::abs(number(expected[i])));
    });
  }

  void check_vjp() {
    const Array<T> expected = vjp(spec_, x, gy), sums = vjp(spec_, x, magnitudes(gy));
    const Array<T> gx =
        result<T>("gx", problem_.shape, [&](const View<T>& view) { kernels_.vjp(x_->read(), gy_->read(), view); });
    compare_gradients("gx", gx, expected, sums, is_transcendental(line_) ? weight_slack() : 0);
  }

  /// Each cell is a sum over the windows that see it; `sums` has the magnitudes of its terms.
  void compare_gradients(const std::string& name, const Array<T>& found, const Array<T>& expected, const Array<T>& sums,
                         double weight) {
    std::vector<double> windows;
    spec::for_each_position(problem_.shape, [&](const Shape& cell) {
      double count = 1;
      for (int a = 0; a < geometry_.rank; ++a)
        count *= static_cast<double>(geometry_.axes[a].outputs_seeing(cell[a]).count);
      windows.push_back(count);
    });
    const double tiny = weight > 0 ? number(Limits::min()) * largest(gy) : 0;
    compare(name, found, expected, [&](Index i) {
      const double n = windows[static_cast<std::size_t>(i)];
      return (n * epsilon() + weight) * std::abs(number(sums[i])) + n * tiny + rounding(std::abs(number(expected[i])));
    });
  }

  /// How far a value y, or the JVP of a linear pool, may be from the reference's.
  double value_slack(double y) const {
    if (!is_transcendental(line_)) return rounding(y);
    const double log_n = std::log(static_cast<double>(geometry_.tap_count()));
    if (is_lp()) return 4 * epsilon() * std::max(1.0, log_n / power()) * y + rounding(y);
    return 4 * epsilon() * std::max({y, log_n / std::abs(beta()), largest_x_}) + rounding(y);
  }
  /// How far a weight of smooth max or Lp may be off, relative to it: exp and pow magnify the rounding of their
  /// arguments.
  double weight_slack() const {
    const double magnified = !is_lp() ? largest_x_ * std::abs(beta()) : std::isfinite(power()) ? power() : 1;
    return 64 * epsilon() * (magnified + 1);
  }
  /// One rounding to a short float; nothing for the others, which are not rounded twice.
  static double rounding(double y) {
    return is_short ? number(Limits::epsilon()) * y + number(Limits::denorm_min()) : 0;
  }
  static double epsilon() { return static_cast<double>(Work::epsilon()); }
  bool is_lp() const { return line_.substr(0, line_.find(' ')).ends_with("lp"); }
  double beta() const { return number_after(line_, "beta", 1); }
  double power() const { return number_after(line_, "p", 2); }

  static double number(const T& value) { return static_cast<double>(value); }
  static Array<T> magnitudes(const Array<T>& values) {
    Array<T> absolute(values.shape());
    for (Index i = 0; i < values.size(); ++i) absolute[i] = values[i] < T(0) ? static_cast<T>(-values[i]) : values[i];
    return absolute;
  }
  static double largest(const Array<T>& values) {
    double most = 1;
    for (const T& value : values) most = std::max(most, std::abs(number(value)));
    return most;
  }

  Layout layout(const Shape& shape, bool may_broadcast) {
    return problem_.memory == 0 ? packed_layout(shape) : draw_layout(shape, layouts_, may_broadcast);
  }
  template <class E>
  std::unique_ptr<Placed<E>> place(const Array<E>& values) {
    return std::make_unique<Placed<E>>(values, layout(values.shape(), true));
  }
  /// What `call` writes into a view of `shape`, and nowhere else.
  template <class E, class Call>
  Array<E> result(const std::string& name, const Shape& shape, Call call) {
    const Placed<E> placed(shape, layout(shape, false));
    call(placed.view);
    if (!placed.is_untouched_around()) throw Disagreement{name + ": memory around the result was written"};
    return placed.packed();
  }

  template <class E>
  void compare(const std::string& name, const Array<E>& found, const Array<E>& expected) {
    compare(name, found, expected, [](Index) { return 0.0; });
  }
  template <class E, class Slack>
  void compare(const std::string& name, const Array<E>& found, const Array<E>& expected, Slack slack) {
    for (Index i = 0; i < found.size(); ++i) {
      if (same(found[i], expected[i])) continue;
      const double from = static_cast<double>(expected[i]), off = std::abs(static_cast<double>(found[i]) - from);
      if (std::isfinite(from) && off <= slack(i)) continue;
      std::ostringstream text;
      text.precision(17);
      text << name << "[" << i << "]: " << +found[i] << " instead of " << +expected[i] << ", allowed " << slack(i);
      throw Disagreement{text.str()};
    }
    if (!is_transcendental(line_)) keep_bits(found);
  }

  /// Zeros of both signs and all NaN count as one: the promise of equal bits leaves them out.
  template <class E>
  void keep_bits(const Array<E>& values) {
    for (E value : values) {
      if (value == E(0)) value = E(0);
      if (value != value) value = std::numeric_limits<E>::quiet_NaN();
      const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
      result_.bits.insert(result_.bits.end(), bytes, bytes + sizeof(E));
    }
  }

  const std::string line_;
  std::mt19937_64& random_;
  const Problem problem_;
  std::mt19937_64 layouts_;
  const Pool kernels_ = problem_.pool, spec_ = problem_.pool.without_kernels();
  Geometry geometry_;
  Shape out_;
  std::unique_ptr<Placed<T>> x_, dx_, gy_;
  Array<T> x, dx, gy;  // the same, packed
  double largest_x_ = 0;
  Checked result_;
};

}  // namespace

template <class T>
Checked check_problem(const std::string& line, std::mt19937_64& random) {
  return Checker<T>(line, random).run();
}
#define NDPOOL_ROW(name, type) template Checked check_problem<type>(const std::string&, std::mt19937_64&);
NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW

std::mt19937_64 numbers_for(const std::string& line) { return std::mt19937_64(std::hash<std::string>()(line)); }

}  // namespace ndpool::testing
