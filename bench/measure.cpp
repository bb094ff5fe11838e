#include "measure.hpp"

#include "exp_pass.hpp"
#include "stream.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <limits>
#include <stdexcept>

namespace ndpool::bench {
namespace {

/// Something to be timed. Activities with one purpose are ways to the same thing: the best of them counts.
enum Purpose : unsigned char { limit, map, one_thread, exps, purposes };
struct Activity {
  Purpose purpose;
  std::function<void()> run;
};

/// The best time for each purpose; the activities are run in turn.
std::array<double, purposes> best_times(const Effort& effort, const std::vector<Activity>& activities) {
  using Clock = std::chrono::steady_clock;
  std::array<double, purposes> best;
  best.fill(std::numeric_limits<double>::infinity());
  double total = 0;
  for (int round = 0; round < effort.rounds || total < effort.seconds; ++round) {
    if (round >= 3 && total > 4 * effort.seconds) break;
    for (const Activity& activity : activities) {
      const auto start = Clock::now();
      activity.run();
      const double once = std::chrono::duration<double>(Clock::now() - start).count();
      best[activity.purpose] = std::min(best[activity.purpose], once);
      total += once;
    }
  }
  return best;
}

/// Small numbers without a pattern that a branch predictor could learn; differences are so small that no exp
/// underflows.
template <class T>
void fill(T* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
    const int value = static_cast<int>(hash >> 57);
    if constexpr (std::integral<T>)
      data[i] = static_cast<T>(value);
    else
      data[i] = static_cast<T>(static_cast<float>(value) / 16);
  }
}

/// Work on the calling thread. Lending it is a way to one thread and back that leaves ndpool's own threads alive.
class Alone final : public Executor {
 public:
  void run(Index count, void (*work)(void* context, Index i), void* context) override {
    for (Index i = 0; i < count; ++i) work(context, i);
  }
  int threads() const override { return 1; }
};

/// A case with its arrays: `tangent` is dx or gx, `out` is y, dy or gy.
template <class T>
class Setting {
 public:
  explicit Setting(const Case& measured)
      : case_(measured),
        plan_(measured.problem.pool.plan<T>(measured.problem.shape)),
        in_count_(static_cast<std::size_t>(element_count(measured.problem.shape))),
        out_count_(static_cast<std::size_t>(element_count(plan_.output_shape()))),
        x_(in_count_ * sizeof(T)),
        out_(out_count_ * sizeof(T)) {
    fill(x_.as<T>(), in_count_);
    fill(out_.as<T>(), out_count_);
    switch (case_.map) {
      case Map::forward:
        run_ = [this] { plan_.forward(x_.as<T>(), out_.as<T>()); };
        reads_ = {&x_}, writes_ = {&out_};
        break;
      case Map::indices_u8: set_indices<std::uint8_t>(); break;
      case Map::indices_i64: set_indices<Index>(); break;
      default: set_derivative(); break;
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  Result measure(const Effort& effort) {
    Alone alone;
    std::vector<float> block(2048);
    const bool threaded = case_.threads > 1;
    std::vector<Activity> runs = {{map, run_}};
    if (threaded) runs = {{one_thread, [&] { run_with(&alone); }}, {map, [&] { run_with(nullptr); }}};
    if (case_.operator_name == "smooth-max" && std::same_as<T, float>)
      runs.push_back({exps, [&] { exp_pass(x_.as<float>(), in_count_, block.data(), block.size()); }});

    // Non-temporal stores leave what they write outside the cache, where the map should not find it: the map is run
    // after plain ones. It is run twice a round, as each kind of store is, so that neither side has the better luck.
    Stream stream(reads_, writes_);
    std::vector<Activity> activities;
    for (const Stores stores : {Stores::non_temporal, Stores::plain})
      for (const std::size_t bytes : {4096U, 65536U}) {
        activities.push_back({limit, [&stream, stores, bytes] { stream.run(stores, bytes); }});
        if (stores == Stores::plain) activities.insert(activities.end(), runs.begin(), runs.end());
      }

    if (threaded) set_threads(case_.threads);
    const std::array<double, purposes> best = best_times(effort, activities);
    if (threaded) set_threads(1);
    const auto time = [&](Purpose purpose) { return std::isinf(best[purpose]) ? 0 : best[purpose]; };
    return {case_, time(map), time(limit), time(one_thread), time(exps), static_cast<double>(stream.bytes())};
  }

 private:
  void run_with(Executor* executor) const {
    set_executor(executor);
    run_();
    set_executor(nullptr);
  }

  template <class I>
  void set_indices() {
    indices_ = Buffer(out_count_ * sizeof(I));
    run_ = [this] { plan_.forward(x_.as<const T>(), out_.as<T>(), indices_.as<I>()); };
    reads_ = {&x_}, writes_ = {&out_, &indices_};
  }

  /// Derivatives that need no x do not count it as read.
  void set_derivative() {
    if constexpr (!spec::Differentiable<T>) {
      throw std::invalid_argument(case_.scalar + " has no derivatives");
    } else {
      tangent_ = Buffer(in_count_ * sizeof(T));
      fill(tangent_.as<T>(), in_count_);
      if (case_.map == Map::jvp) {
        run_ = [this] { plan_.jvp(x_.as<T>(), tangent_.as<T>(), out_.as<T>()); };
        reads_ = {&tangent_}, writes_ = {&out_};
      } else {
        run_ = [this] { plan_.vjp(x_.as<T>(), out_.as<T>(), tangent_.as<T>()); };
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
    run_();
    fill(out_.as<T>(), out_count_);
    run_ = [this] { plan_.vjp_from_indices(indices_.as<const I>(), out_.as<T>(), tangent_.as<T>()); };
    reads_ = {&indices_, &out_}, writes_ = {&tangent_};
  }

  const Case& case_;
  Plan<T> plan_;
  std::size_t in_count_, out_count_;
  Buffer x_, out_, tangent_, indices_;
  std::function<void()> run_;
  std::vector<const Buffer*> reads_, writes_;
};

}  // namespace

std::optional<Result> measure(const Case& measured, const Effort& effort) {
#define NDPOOL_ROW(kind, type) \
  if (measured.scalar == #kind) return Setting<type>(measured).measure(effort);
  NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
  return std::nullopt;
}

std::vector<std::pair<std::string, std::function<double(const Effort&)>>> calls() {
  const auto one_of = [](int count, const Effort& effort, const std::function<void()>& call) {
    const auto many = [&] {
      for (int i = 0; i < count; ++i) call();
    };
    return best_times(effort, {{map, many}})[map] / count;
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
