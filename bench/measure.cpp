#include "measure.hpp"

#include "exp_pass.hpp"
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace ndpool::bench {
namespace {

/// Small numbers without a pattern that a branch predictor could learn; differences are so small that no exp
/// underflows. They are repeated with a prime period, so that rows of no usual length are equal.
template <class T>
void fill(T* data, std::size_t count) {
  constexpr std::size_t period = 65521;
  for (std::size_t i = 0; i < std::min(count, period); ++i) {
    std::uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
    const int value = static_cast<int>(hash >> 57);
    if constexpr (std::same_as<T, bool>)
      data[i] = value % 2 == 1;
    else if constexpr (std::integral<T>)
      data[i] = static_cast<T>(value);
    else
      data[i] = static_cast<T>(static_cast<float>(value) / 16);
  }
  for (std::size_t i = period; i < count; i += period) std::copy_n(data, std::min(period, count - i), data + i);
}

/// Work on the calling thread. Lending it is a way to one thread and back that leaves ndpool's own threads alive.
class Alone final : public Executor {
 public:
  void run(Index count, void (*work)(void* context, Index i), void* context) override {
    for (Index i = 0; i < count; ++i) work(context, i);
  }
  int threads() const override { return 1; }
};

/// The memory that an array with these strides, none of them negative, spans.
std::size_t span_of(const Shape& shape, const Shape& strides) {
  Index last = 0;
  for (int a = 0; a < shape.size(); ++a) last += (shape[a] - 1) * strides[a];
  return static_cast<std::size_t>(last + 1);
}

/// A case with its arrays: `tangent` is dx or gx, `out` is y, dy or gy. T is the scalar of the input, Y of the result.
template <class T, class Y = T>
class Setting {
 public:
  Setting(const Case& measured, const Effort& effort)
      : case_(measured),
        effort_(effort),
        strides_(measured.strides()),
        plan_(measured.problem.pool.plan<T>(measured.problem.shape, strides_)),
        in_count_(static_cast<std::size_t>(element_count(measured.problem.shape))),
        out_count_(static_cast<std::size_t>(element_count(plan_.output_shape()))),
        span_(span_of(measured.problem.shape, strides_)),
        x_(span_ * sizeof(T)),
        out_(out_count_ * sizeof(Y)) {
    fill(x_.as<T>(), span_);
    fill(out_.as<Y>(), out_count_);
    reads_ = {&x_}, writes_ = {&out_};
    if (case_.map == Map::forward)
      run_ = [this](const ProgressCallback& callback) { return forward(callback); };
    else if (case_.map == Map::indices_u8)
      set_indices<std::uint8_t>();
    else if (case_.map == Map::indices_i64)
      set_indices<Index>();
    else
      set_derivative();
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  void measure(Progress& progress) {
    if (!run_) return;
    name_implementation().copy(progress.implementation, sizeof(progress.implementation) - 1);
    Alone alone;
    const bool threaded = case_.threads > 1;
    std::vector<Activity> runs = {{map, run_}};
    if (threaded)
      runs = {{one_thread, [&](const ProgressCallback& callback) { return run_with(&alone, callback); }},
              {map, [&](const ProgressCallback& callback) { return run_with(nullptr, callback); }}};
    if (case_.is_analytic()) add_pass(runs);

    // Non-temporal stores leave what they write outside the cache, where the map should not find it: the map is run
    // after plain ones. It is run twice a round, as each kind of store is, so that neither side has the better luck.
    Stream stream(reads_, writes_);
    std::vector<Activity> activities;
    for (const Stores stores : {Stores::non_temporal, Stores::plain})
      for (const std::size_t bytes : {4096U, 65536U}) {
        activities.push_back({limit, [&stream, stores, bytes](const ProgressCallback&) {
                                stream.run(stores, bytes);
                                return true;
                              }});
        if (stores == Stores::plain) activities.insert(activities.end(), runs.begin(), runs.end());
      }

    progress.stream_bytes = static_cast<double>(stream.bytes());
    if (threaded) set_threads(case_.threads);
    measure_times(effort_, activities, progress.times);
    if (threaded) set_threads(1);
  }

 private:
  std::string_view name_implementation() const {
    if (!std::same_as<T, Y>) return "mixed";
    switch (case_.map) {
      case Map::forward: return plan_.implementation(MapKind::forward);
      case Map::indices_u8:
      case Map::indices_i64: return plan_.implementation(MapKind::forward_with_indices);
      case Map::jvp: return plan_.implementation(MapKind::jvp);
      case Map::vjp: return plan_.implementation(MapKind::vjp);
      default: return plan_.implementation(MapKind::vjp_from_indices);
    }
  }
  bool forward(const ProgressCallback& callback) const {
    if constexpr (std::same_as<T, Y>) {
      return plan_.forward(x_.as<T>(), out_.as<Y>(), callback);
    } else {
      const View<const T> x(x_.as<T>(), case_.problem.shape, strides_);
      return case_.problem.pool.forward(x, View<Y>(out_.as<Y>(), plan_.output_shape()), callback);
    }
  }

  bool run_with(Executor* executor, const ProgressCallback& callback) const {
    set_executor(executor);
    const bool finished = run_(callback);
    set_executor(nullptr);
    return finished;
  }

  /// The exp of every input, or a power where p is not one that needs no logarithm. Short floats are measured in the
  /// scalar that they are computed in, in the cache: reading them is the stream's part.
  void add_pass(std::vector<Activity>& runs) {
    using Wide = std::conditional_t<std::same_as<T, double>, double, float>;
    static constexpr std::size_t block = 2048;
    pass_block_ = Buffer(2 * block * sizeof(Wide));
    Wide *const in = pass_block_.as<Wide>(), *const out = in + block;
    fill(in, block);
    const auto add = [&](auto of_block) {
      runs.push_back({pass, [count = in_count_, of_block](const ProgressCallback&) {
                        for (std::size_t begin = 0; begin < count; begin += block)
                          of_block(std::min(block, count - begin));
                        return true;
                      }});
    };
    if (const auto* lp = std::get_if<reduction::Lp>(&case_.problem.pool.reduction())) {
      const Wide p = static_cast<Wide>(lp->p);
      if (p == 1 || p == 2 || std::isinf(p)) return;
      add([in, out, p](std::size_t size) { pow_pass(in, size, p, out, block); });
    } else {
      add([in, out](std::size_t size) { exp_pass(in, size, out, block); });
    }
  }

  template <class I>
  void set_indices() {
    if constexpr (std::same_as<T, Y>) {
      indices_ = Buffer(out_count_ * sizeof(I));
      run_ = [this](const ProgressCallback& callback) {
        return plan_.forward(x_.as<const T>(), out_.as<T>(), indices_.as<I>(), callback);
      };
      reads_ = {&x_}, writes_ = {&out_, &indices_};
    } else {
      throw std::invalid_argument(case_.scalar + " is measured forward only");
    }
  }

  /// Derivatives that need no x do not count it as read.
  void set_derivative() {
    if constexpr (!spec::Differentiable<T> || !std::same_as<T, Y>) {
      throw std::invalid_argument(case_.scalar + " has no derivatives");
    } else {
      tangent_ = Buffer(span_ * sizeof(T));
      fill(tangent_.as<T>(), span_);
      if (case_.map == Map::jvp) {
        run_ = [this](const ProgressCallback& callback) {
          return plan_.jvp(x_.as<T>(), tangent_.as<T>(), out_.as<T>(), callback);
        };
        reads_ = {&tangent_}, writes_ = {&out_};
      } else {
        run_ = [this](const ProgressCallback& callback) {
          return plan_.vjp(x_.as<T>(), out_.as<T>(), tangent_.as<T>(), callback);
        };
        reads_ = {&out_}, writes_ = {&tangent_};
      }
      if (case_.map == Map::vjp_from_u8)
        set_vjp_from<std::uint8_t>();
      else if (case_.map == Map::vjp_from_i64)
        set_vjp_from<Index>();
      else if (!case_.linear())
        reads_.push_back(&x_);
    }
  }

  template <class I>
  void set_vjp_from() {
    set_indices<I>();
    const bool has_winners = run_within(2, effort_, run_);
    run_ = nullptr;
    if (!has_winners) return;
    fill(out_.as<T>(), out_count_);
    run_ = [this](const ProgressCallback& callback) {
      return plan_.vjp_from_indices(indices_.as<const I>(), out_.as<T>(), tangent_.as<T>(), callback);
    };
    reads_ = {&indices_, &out_}, writes_ = {&tangent_};
  }

  const Case& case_;
  const Effort& effort_;
  Shape strides_;
  Plan<T> plan_;
  std::size_t in_count_, out_count_, span_;
  Buffer x_, out_, tangent_, indices_, pass_block_;
  std::function<bool(const ProgressCallback&)> run_;  ///< none if there are no winners to run with
  std::vector<const Buffer*> reads_, writes_;
};

}  // namespace

void measure_into(Progress& progress, const Case& measured, const Effort& effort) {
#define NDPOOL_ROW(kind, type) \
  if (measured.scalar == #kind) return Setting<type>(measured, effort).measure(progress);
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
#define NDPOOL_ROW(name, input, result) \
  if (measured.scalar == name) return Setting<input, result>(measured, effort).measure(progress);
  NDPOOL_MIXED_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
}

std::optional<Result> result_of(const Case& measured, const Progress& progress) {
  const Times& times = progress.times;
  if (std::isinf(times.best[map])) return std::nullopt;
  const auto time = [&](Purpose purpose) { return std::isinf(times.best[purpose]) ? 0 : times.best[purpose]; };
  return Result{.measured = measured,
                .seconds = time(map),
                .stream_seconds = time(limit),
                .pass_seconds = time(pass),
                .one_thread_seconds = time(one_thread),
                .stream_bytes = progress.stream_bytes,
                .implementation = progress.implementation,
                .stopped = times.stopped[map] || times.stopped[one_thread]};
}

std::optional<Result> measure(const Case& measured, const Effort& effort) {
  Progress progress;
  measure_into(progress, measured, effort);
  return result_of(measured, progress);
}

std::vector<std::pair<std::string, std::function<double(const Effort&)>>> calls() {
  const auto one_of = [](int count, const Effort& effort, const std::function<void()>& call) {
    const auto many = [&](const ProgressCallback&) {
      for (int i = 0; i < count; ++i) call();
      return true;
    };
    Times times;
    measure_times(effort, {{map, many}}, times);
    return times.best[map] / count;
  };
  return {{"smallest-problem",
           [one_of](const Effort& effort) {
             std::vector<float> x(64), y(16);
             fill(x.data(), x.size());
             const auto plan = max_pool({.kernel = {2, 2}}).plan<float>({1, 8, 8});
             return one_of(1000, effort, [&] { plan.forward(x.data(), y.data()); });
           }},
          {"plan-creation", [one_of](const Effort& effort) {
             const Pool pool = max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
             return one_of(100, effort, [&] { static_cast<void>(pool.plan<float>({64, 112, 112})); });
           }}};
}

}  // namespace ndpool::bench
