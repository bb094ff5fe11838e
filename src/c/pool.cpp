#include "c/pool.hpp"

#include "c/structs.hpp"

#include <ndpool/pools.hpp>

namespace ndpool::c {

namespace {

// The enumerators of C are those of C++, by number.
static_assert(ndpool_padding_valid == static_cast<int>(PaddingRule::valid));
static_assert(ndpool_padding_same_upper == static_cast<int>(PaddingRule::same_upper));
static_assert(ndpool_padding_same_lower == static_cast<int>(PaddingRule::same_lower));
static_assert(ndpool_ties_first == static_cast<int>(Ties::first) && ndpool_ties_all == static_cast<int>(Ties::all));
static_assert(ndpool_ties_split == static_cast<int>(Ties::split));
static_assert(ndpool_nan_ignore == static_cast<int>(Nan::ignore));
static_assert(ndpool_empty_identity == static_cast<int>(Empty::identity));
static_assert(ndpool_rounding_toward_zero == static_cast<int>(Rounding::toward_zero));
static_assert(ndpool_rounding_floor == static_cast<int>(Rounding::floor));
static_assert(ndpool_rounding_half_away == static_cast<int>(Rounding::half_away));
static_assert(ndpool_pad_mode_ignore == static_cast<int>(PadMode::ignore));
static_assert(NDPOOL_NO_DIVISOR == AverageOptions::no_divisor);
static_assert(NDPOOL_MAX_RANK == max_rank);

const char* name_of_geometry(std::int32_t geometry) {
  constexpr const char* names[] = {"a pool over windows", "an adaptive pool", "a global pool"};
  return names[geometry];
}

/// An option, whether its value is another than the default, and what has it.
struct Option {
  const char* name;
  bool is_set;
  bool is_of_pool;
};

void refuse_option(const char* name, const std::string& pool) {
  throw Refusal(ndpool_code_not_of_pool, name, std::string(name) + " is no option of " + pool);
}

void check_geometry_options(const ndpool_pool& given) {
  const bool slides = given.geometry == ndpool_geometry_window;
  for (const Option& option :
       {Option{"kernel", given.kernel.count != 0, slides}, Option{"stride", given.stride.count != 0, slides},
        Option{"padding_before", given.padding_before.count != 0, slides},
        Option{"padding_after", given.padding_after.count != 0, slides},
        Option{"dilation", given.dilation.count != 0, slides}, Option{"padding_rule", given.padding_rule != 0, slides},
        Option{"ceil_mode", given.ceil_mode != 0, slides},
        Option{"output_size", given.output_size.count != 0, given.geometry == ndpool_geometry_adaptive},
        Option{"keepdims", given.keepdims != 0, given.geometry == ndpool_geometry_global}})
    if (option.is_set && !option.is_of_pool) refuse_option(option.name, name_of_geometry(given.geometry));
  if (given.padding_rule == ndpool_padding_given) return;
  if (given.padding_before.count != 0 || given.padding_after.count != 0)
    refuse_option(given.padding_before.count != 0 ? "padding_before" : "padding_after",
                  "a pool whose padding_rule gives the padding");
}

void check_reducer_options(const ndpool_pool& given) {
  const std::int32_t reducer = given.reducer;
  const bool is_extreme = reducer == ndpool_reducer_max || reducer == ndpool_reducer_min;
  const bool is_average = reducer == ndpool_reducer_avg, is_smooth = reducer == ndpool_reducer_smooth_max;
  const bool is_lp = reducer == ndpool_reducer_lp;
  for (const Option& option :
       {Option{"ties", given.ties != 0, is_extreme || is_lp}, Option{"nan", given.nan != 0, is_extreme},
        Option{"empty", given.empty != 0, reducer != ndpool_reducer_sum},
        Option{"rounding", given.rounding != 0, is_average}, Option{"pad_mode", given.pad_mode != 0, is_smooth},
        Option{"exclude_padding", given.exclude_padding != 0, is_average},
        Option{"divisor", given.divisor != NDPOOL_NO_DIVISOR, is_average},
        Option{"beta", !(given.beta == 1), is_smooth}, Option{"p", !(given.p == 2), is_lp}})
    if (option.is_set && !option.is_of_pool)
      refuse_option(option.name, std::string("the reducer ") + ndpool_reducer_name(reducer));
}

Padding read_padding(const ndpool_pool& given) {
  if (given.padding_rule != ndpool_padding_given)
    return read_enum(given.padding_rule, PaddingRule::valid, "padding_rule");
  const Shape before = read_list(given.padding_before, "padding_before"),
              after = read_list(given.padding_after, "padding_after");
  if (!before.empty() && !after.empty()) require(detail::check_count(Argument::padding, after.size(), before.size()));
  Padding padding;
  const int count = before.empty() ? after.size() : before.size();
  for (int i = 0; i < count && i <= max_rank; ++i) {  // one more than can be right is enough to be wrong
    const bool is_kept = i < max_rank;
    const Index lo = before.empty() || !is_kept ? 0 : before[i];
    padding.push_back({lo, after.empty() ? lo : is_kept ? after[i] : 0});
  }
  return padding;
}

ExtremeOptions extreme_options(const ndpool_pool& given) {
  return {.ties = read_enum(given.ties, Ties::split, "ties"),
          .nan = read_enum(given.nan, Nan::ignore, "nan"),
          .empty = read_enum(given.empty, Empty::identity, "empty")};
}
AverageOptions average_options(const ndpool_pool& given) {
  return {.count_include_pad = !read_flag(given.exclude_padding, "exclude_padding"),
          .divisor = given.divisor,
          .rounding = read_enum(given.rounding, Rounding::half_away, "rounding"),
          .empty = read_enum(given.empty, Empty::identity, "empty")};
}
SmoothMaxOptions smooth_max_options(const ndpool_pool& given) {
  return {.beta = given.beta,
          .pad_mode = read_enum(given.pad_mode, PadMode::ignore, "pad_mode"),
          .empty = read_enum(given.empty, Empty::identity, "empty")};
}
LpOptions lp_options(const ndpool_pool& given) {
  return {.ties = read_enum(given.ties, Ties::split, "ties"),
          .empty = read_enum(given.empty, Empty::identity, "empty")};
}

/// A pool of one reducer, by the family of C++, which knows the defaults of each geometry.
template <class Reduction, class Description>
Pool make_pool(const ndpool_pool& given, const Description& description) {
  using Family = PoolFamily<Description, Reduction>;
  if constexpr (std::same_as<Reduction, reduction::Sum>)
    return Family()(description);
  else if constexpr (std::same_as<Reduction, reduction::Average>)
    return Family()(description, average_options(given));
  else if constexpr (std::same_as<Reduction, reduction::SmoothMax>)
    return Family()(description, smooth_max_options(given));
  else if constexpr (std::same_as<Reduction, reduction::Lp>)
    return LpFamily<Description>()(given.p, description, lp_options(given));
  else
    return Family()(description, extreme_options(given));
}

template <class Description>
Pool with_reducer(const ndpool_pool& given, const Description& description) {
  switch (given.reducer) {
#define NDPOOL_ROW(name, type) \
  case ndpool_reducer_##name: return make_pool<reduction::type>(given, description);
    NDPOOL_REDUCERS(NDPOOL_ROW)
#undef NDPOOL_ROW
    default: refuse_value("reducer", given.reducer, 0, reducer_count - 1);
  }
}

}  // namespace

Pool read_pool(const ndpool_pool& caller) {
  const ndpool_pool given = read_struct<ndpool_pool>(caller, NDPOOL_POOL_INIT, sizeof(ndpool_pool), "pool");
  require_reserved(given.reserved);
  read_enum(given.geometry, ndpool_geometry_global, "geometry");
  if (given.reducer < 0 || given.reducer >= reducer_count) refuse_value("reducer", given.reducer, 0, reducer_count - 1);
  check_geometry_options(given);
  check_reducer_options(given);
  const Shape axes = read_list(given.axes, "axes");
  switch (given.geometry) {
    case ndpool_geometry_window:
      return with_reducer(given, Window{.kernel = read_list(given.kernel, "kernel"),
                                        .stride = read_list(given.stride, "stride"),
                                        .padding = read_padding(given),
                                        .dilation = read_list(given.dilation, "dilation"),
                                        .axes = axes,
                                        .ceil_mode = read_flag(given.ceil_mode, "ceil_mode")});
    case ndpool_geometry_adaptive:
      return with_reducer(given, Adaptive{.output_size = read_list(given.output_size, "output_size"), .axes = axes});
    default: return with_reducer(given, Global{.axes = axes, .keepdims = read_flag(given.keepdims, "keepdims")});
  }
}

Adaptive read_unpool(const ndpool_unpool& caller) {
  const ndpool_unpool given = read_struct<ndpool_unpool>(caller, NDPOOL_UNPOOL_INIT, sizeof(ndpool_unpool), "unpool");
  return {.output_size = read_list(given.output_size, "output_size"), .axes = read_list(given.axes, "axes")};
}

}  // namespace ndpool::c
