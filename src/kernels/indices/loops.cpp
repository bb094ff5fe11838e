// The loops over a block of indices, compiled once for every instruction set. They are plain loops that the compiler
// makes vectors of; additions to cells are in order and stay scalar.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/indices/loops.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/general/elements-inl.h"
#include "kernels/indices/loops.hpp"
#include "kernels/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace indices {

using namespace ndpool::indices;
namespace hn = hwy::HWY_NAMESPACE;

/// All ones, in every kind of index: no cell.
template <class I>
inline constexpr I no_index = static_cast<I>(-1);

/// Exact quotients of numbers below 2^21 by floats, of 31 bits by doubles: (n + 1/2) / d is at least 1 / (2 d) away
/// from a whole number, which is more than all roundings. Longer numbers are divided.
template <class I, class Offset>
class Divisor {
  using Real = std::conditional_t<sizeof(I) <= 2, float, double>;

 public:
  explicit Divisor(Index divisor) : divisor_(divisor), inverse_(Real(1) / static_cast<Real>(divisor)) {}
  HWY_INLINE Offset operator()(Offset number) const {
    if constexpr (sizeof(Offset) == 8)
      return number / divisor_;
    else
      return static_cast<Offset>((static_cast<Real>(number) + Real(0.5)) * inverse_);
  }

 private:
  Index divisor_;
  Real inverse_;
};

/// `terms` divisions per index. Offsets wrap around on their way, so they are computed without signs.
template <class I, class Offset, int terms, bool watches>
bool decode_with(const Decoding<Offset>& job) {
  using U = std::make_unsigned_t<Offset>;
  const I* HWY_RESTRICT indices = static_cast<const I*>(job.indices);
  const Offset* HWY_RESTRICT base = job.base;
  const Offset* HWY_RESTRICT window = job.window;
  Offset* HWY_RESTRICT offsets = job.offsets;
  const U constant = static_cast<U>(job.constant), factor = static_cast<U>(job.factor);
  const U limit = static_cast<U>(job.limit), window_length = static_cast<U>(job.window_length);
  const U first_window = static_cast<U>(job.first_window);
  const Divisor<I, Offset> first(terms > 0 ? job.terms[0].divisor : 1), second(terms > 1 ? job.terms[1].divisor : 1);
  const U at_first = terms > 0 ? static_cast<U>(job.terms[0].coefficient) : 0;
  const U at_second = terms > 1 ? static_cast<U>(job.terms[1].coefficient) : 0;
  U strays = 0;
  for (Index i = 0; i < job.count; ++i) {
    const Offset index = static_cast<Offset>(indices[i]);
    const U names = index == static_cast<Offset>(no_index<I>) ? U(0) : static_cast<U>(-1);
    U offset = constant + static_cast<U>(base[i]) + factor * static_cast<U>(index);
    if constexpr (terms > 0) offset += at_first * static_cast<U>(first(index));
    if constexpr (terms > 1) offset += at_second * static_cast<U>(second(index));
    const U inside = offset < limit ? static_cast<U>(-1) : U(0);
    offsets[i] = static_cast<Offset>(offset | ~(names & inside));
    if constexpr (watches) {
      const U beyond =
          static_cast<U>(index) - first_window - static_cast<U>(window[i]) < window_length ? U(0) : static_cast<U>(-1);
      strays |= names & beyond;
    }
  }
  return strays != 0;
}

template <class I, class Offset, int terms>
bool decode_terms(const Decoding<Offset>& job) {
  return job.window == nullptr ? decode_with<I, Offset, terms, false>(job) : decode_with<I, Offset, terms, true>(job);
}

template <class I, class Offset>
bool decode(const Decoding<Offset>& job) {
  if (job.term_count == 0) return decode_terms<I, Offset, 0>(job);
  if (job.term_count == 1) return decode_terms<I, Offset, 1>(job);
  if (job.term_count == 2) return decode_terms<I, Offset, 2>(job);
  // Further terms first, into the base.
  using U = std::make_unsigned_t<Offset>;
  const I* indices = static_cast<const I*>(job.indices);
  Offset base[max_block];
  const Offset* from = job.base;
  for (int t = 2; t < job.term_count; ++t, from = base) {
    const Divisor<I, Offset> divide(job.terms[t].divisor);
    const U coefficient = static_cast<U>(job.terms[t].coefficient);
    for (Index i = 0; i < job.count; ++i)
      base[i] = static_cast<Offset>(static_cast<U>(from[i]) +
                                    coefficient * static_cast<U>(divide(static_cast<Offset>(indices[i]))));
  }
  Decoding<Offset> rest = job;
  rest.base = base;
  return decode_terms<I, Offset, 2>(rest);
}

template <class I, class Offset>
bool taps_are_real(const AxisCheck<Offset>& job) {
  using U = std::make_unsigned_t<Offset>;
  const I* HWY_RESTRICT indices = static_cast<const I*>(job.indices);
  const Offset* HWY_RESTRICT start = job.start;
  const Offset* HWY_RESTRICT end = job.end;
  const Divisor<I, Offset> on_axis(job.divisor), before(job.divisor * job.kernel);
  const U kernel = static_cast<U>(job.kernel), dilation = static_cast<U>(job.dilation);
  const U start_of_all = static_cast<U>(job.start_of_all), end_of_all = static_cast<U>(job.end_of_all);
  U wrong = 0;
  for (Index i = 0; i < job.count; ++i) {
    const Offset tap = static_cast<Offset>(indices[i]);
    const U names = tap == static_cast<Offset>(no_index<I>) ? U(0) : static_cast<U>(-1);
    const U at = (static_cast<U>(on_axis(tap)) - static_cast<U>(before(tap)) * kernel) * dilation + start_of_all;
    const U beyond = at + static_cast<U>(start[i]) < end_of_all + static_cast<U>(end[i]) ? U(0) : static_cast<U>(-1);
    wrong |= names & beyond;
  }
  return wrong == 0;
}

template <class I>
bool are_within(const void* all, Index count, Index last) {
  using U = std::make_unsigned_t<I>;
  const I* HWY_RESTRICT indices = static_cast<const I*>(all);
  const U end = static_cast<U>(last + 1);
  U wrong = 0;  // one more than none is 0
  for (Index i = 0; i < count; ++i)
    wrong |= static_cast<U>(static_cast<U>(indices[i]) + U(1)) > end ? static_cast<U>(-1) : U(0);
  return wrong == 0;
}

template <class Offset, class T>
void add(const Offset* offsets, Index count, const T* HWY_RESTRICT values, T* cells) {
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    const Offset a = offsets[i], b = offsets[i + 1], c = offsets[i + 2], d = offsets[i + 3];
    if (a >= 0) cells[a] += values[i];
    if (b >= 0) cells[b] += values[i + 1];
    if (c >= 0) cells[c] += values[i + 2];
    if (d >= 0) cells[d] += values[i + 3];
  }
  for (; i < count; ++i)
    if (offsets[i] >= 0) cells[offsets[i]] += values[i];
}

/// The same where branches would not be predicted: what is in no cell is added to scratch, in turn to four numbers.
template <class Offset, class T>
void add_without_branches(const Offset* offsets, Index count, const T* HWY_RESTRICT values, T* cells) {
  T beyond[4] = {};
  const auto cell = [&](Index i, int other) {
    const auto inside = reinterpret_cast<std::uintptr_t>(cells + offsets[i]);
    const auto is_none = static_cast<std::uintptr_t>(static_cast<std::int64_t>(offsets[i]) >> 63);
    return reinterpret_cast<T*>(inside ^ ((inside ^ reinterpret_cast<std::uintptr_t>(beyond + other)) & is_none));
  };
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    *cell(i, 0) += values[i];
    *cell(i + 1, 1) += values[i + 1];
    *cell(i + 2, 2) += values[i + 2];
    *cell(i + 3, 3) += values[i + 3];
  }
  for (; i < count; ++i) *cell(i, 0) += values[i];
}
template <class Offset, class Bits>
void put(const Offset* offsets, Index count, const void* values, void* cells) {
  const Bits* from = static_cast<const Bits*>(values);
  Bits* to = static_cast<Bits*>(cells);
  for (Index i = 0; i < count; ++i)
    if (offsets[i] >= 0) to[offsets[i]] = from[i];
}
template <class Offset, class Bits>
void take(const Offset* offsets, Index count, const void* cells, void* values) {
  const Bits* from = static_cast<const Bits*>(cells);
  Bits* to = static_cast<Bits*>(values);
  for (Index i = 0; i < count; ++i) to[i] = offsets[i] < 0 ? Bits(0) : from[offsets[i]];
}

template <class S>
void widen(const void* from, Index count, float* to) {
  using Half = general::HalfSum<S>;
  const S* narrow = static_cast<const S*>(from);
  const auto lanes = static_cast<Index>(hn::Lanes(typename Half::D()));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Half::lift(narrow + i, {}), typename Half::D(), to + i);
  for (; i < count; ++i) to[i] = static_cast<float>(narrow[i]);
}
template <class S>
void round(const float* from, Index count, void* to) {
  using Half = general::HalfSum<S>;
  S* narrow = static_cast<S*>(to);
  const auto lanes = static_cast<Index>(hn::Lanes(typename Half::D()));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) Half::store(hn::LoadU(typename Half::D(), from + i), narrow + i, i, {});
  for (; i < count; ++i) narrow[i] = static_cast<S>(from[i]);
}

template <class Offset>
constexpr OffsetLoops<Offset> loops_of() {
  return {
      {decode<std::uint8_t, Offset>, decode<std::uint16_t, Offset>, decode<std::uint32_t, Offset>,
       decode<Index, Offset>},
      {taps_are_real<std::uint8_t, Offset>, taps_are_real<std::uint16_t, Offset>, taps_are_real<std::uint32_t, Offset>,
       nullptr},
      {add<Offset, float>, add_without_branches<Offset, float>},
      {add<Offset, double>, add_without_branches<Offset, double>},
      {put<Offset, std::uint8_t>, put<Offset, std::uint16_t>, put<Offset, std::uint32_t>, put<Offset, std::uint64_t>},
      {take<Offset, std::uint8_t>, take<Offset, std::uint16_t>, take<Offset, std::uint32_t>,
       take<Offset, std::uint64_t>}};
}

}  // namespace indices

const ndpool::indices::IndexLoops* compiled_index_loops() {
  using namespace indices;
  static constexpr IndexLoops loops = {
      HWY_TARGET,
      loops_of<std::int32_t>(),
      loops_of<std::int64_t>(),
      {are_within<std::uint8_t>, are_within<std::uint16_t>, are_within<std::uint32_t>, are_within<Index>},
      {widen<f16>, widen<bf16>},
      {round<f16>, round<bf16>}};
  return &loops;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(compiled_index_loops, add_index_kernels, indices)

const indices::IndexLoops& indices::index_loops() { return *kernels().indices; }

}  // namespace ndpool
#endif
