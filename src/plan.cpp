// A plan chooses kernels, cuts the rows into tiles, and runs them.
#include "kernels/scratch.hpp"
#include "kernels/table.hpp"
#include "rows.hpp"

#include <ndpool/kernels.hpp>

#include <algorithm>
#include <limits>

namespace ndpool {

namespace {

/// Scratch that a thread keeps: it grows to the largest plan the thread ever ran.
void* thread_scratch(std::size_t bytes) {
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  thread_local Buffer buffer;
  constexpr std::size_t line = 64;
  if (buffer.size < bytes + line) {
    buffer.bytes.reset(new char[bytes + line]);
    buffer.size = bytes + line;
  }
  void* start = buffer.bytes.get();
  std::size_t space = buffer.size;
  return std::align(line, bytes, start, space);
}

/// Sums must be exact in the accumulator that the kernels use: 32 bits for 8- and 16-bit integers, 64 for 32-bit ones.
bool sum_is_exact(ScalarKind kind, Index taps) {
  switch (kind) {
    case ScalarKind::f32:
    case ScalarKind::f64: return true;
    case ScalarKind::i8:
    case ScalarKind::u8: return taps < (1 << 23);
    case ScalarKind::i16:
    case ScalarKind::u16: return taps < (1 << 15);
    case ScalarKind::i32: return taps < (Index{1} << 31);
    case ScalarKind::i64:
    case ScalarKind::none: return false;
  }
  return false;
}

/// Divisors are used as 32-bit numbers where sums are.
bool divisor_fits(const AverageOptions& average) {
  return average.divisor == AverageOptions::no_divisor ||
         std::abs(average.divisor) <= std::numeric_limits<std::int32_t>::max();
}

/// Bytes that one tile reads and writes, roughly: enough to make the call of a kernel cheap, little enough to answer a
/// watcher soon.
constexpr Index tile_bytes = 256 * 1024;

Index rows_per_tile(const Rows& rows) {
  const Index row_bytes = 8 * rows.horizontal.window.input * rows.inner.extent;
  return std::max<Index>(1, tile_bytes / std::max<Index>(1, row_bytes));
}

}  // namespace

KernelPlan::KernelPlan(ScalarKind kind, const KernelChoice& choice, std::unique_ptr<const Rows> rows)
    : kind_(kind), choice_(choice), rows_(std::move(rows)) {}
KernelPlan::~KernelPlan() = default;

std::shared_ptr<const KernelPlan> KernelPlan::make(ScalarKind kind, const KernelChoice& choice,
                                                   const Geometry& geometry, const Shape& in_strides,
                                                   const Shape& out_strides) {
  if (kind == ScalarKind::none || choice.combine == Combine::none) return nullptr;
  if (choice.combine == Combine::sum && !(sum_is_exact(kind, geometry.tap_count()) && divisor_fits(choice.average)))
    return nullptr;
  // Windows without an input element have values of their own, which only the spec gives.
  if (geometry.empty_window()) return nullptr;
  return std::shared_ptr<const KernelPlan>(
      new KernelPlan(kind, choice, std::make_unique<const Rows>(make_rows(geometry, in_strides, out_strides))));
}

std::size_t KernelPlan::scratch_bytes() const {
  return static_cast<std::size_t>(scratch_rows(*rows_)) * scratch_row_bytes(*rows_);
}

bool KernelPlan::forward(const void* in, void* out, const Watch& watch) const {
  const Kernel kernel = kernels().forward->of[static_cast<int>(kind_)][static_cast<int>(choice_.combine)];
  void* scratch = thread_scratch(scratch_bytes());
  const Index tile = rows_per_tile(*rows_);
  for (Index row = 0; row < rows_->row_count; row += tile) {
    const Index end = std::min(row + tile, rows_->row_count);
    kernel({*rows_, choice_, in, out, row, end, scratch});
    if (watch.keep_going != nullptr &&
        !watch.keep_going(watch.context, static_cast<double>(end) / static_cast<double>(rows_->row_count)))
      return end == rows_->row_count;
  }
  return true;
}

}  // namespace ndpool
