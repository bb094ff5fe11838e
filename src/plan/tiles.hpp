// How rows are cut into tiles, and how tiles are run: on as many threads as the executor has, watched, and each with
// the scratch of its thread. Knows no kernel.
#pragma once

#include "kernels/scratch.hpp"
#include "plan/executor.hpp"
#include "plan/rows.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>

namespace ndpool {

/// What a thread keeps scratch for; uses that are nested have scratch of their own.
enum class ScratchUse : unsigned char { tiles, positions };

/// Scratch that a thread keeps: it grows to the largest plan the thread ever ran. Null if there is no memory for it.
template <ScratchUse use = ScratchUse::tiles>
void* thread_scratch(std::size_t bytes) {
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  thread_local Buffer buffer;
  constexpr std::size_t line = 64;
  if (buffer.size < bytes + line) {
    buffer.size = 0;
    buffer.bytes.reset(new (std::nothrow) char[bytes + line]);
    if (buffer.bytes == nullptr) return nullptr;
    buffer.size = bytes + line;
  }
  void* start = buffer.bytes.get();
  std::size_t space = buffer.size;
  return std::align(line, bytes, start, space);
}

/// Bytes that one tile reads, roughly: enough to make handing it to a thread cheap, little enough to answer a watcher
/// soon and to leave some for every thread. A problem of one tile stays on the calling thread.
inline double tile_bytes(double of_all) { return std::clamp(of_all / 8, 64.0 * 1024, 256.0 * 1024); }

inline Index rows_per_tile(const Rows& rows) {
  // As a double: broadcast arrays can have more elements than bytes can be counted.
  double row_bytes = 4.0 * static_cast<double>(rows.horizontal.window.input) * static_cast<double>(rows.inner.extent);
  for (int v = 0; v < rows.vertical_count; ++v)  // the input rows that one output row adds
    row_bytes *=
        static_cast<double>(std::max<Index>(1, rows.vertical[v].window.input / rows.vertical[v].window.output));
  const double bytes = tile_bytes(row_bytes * static_cast<double>(rows.row_count));
  const Index fit = std::max<Index>(1, static_cast<Index>(bytes / row_bytes));
  if (rows.rows_per_plane > fit) return fit;
  return std::max<Index>(1, fit / rows.rows_per_plane) * rows.rows_per_plane;  // whole planes
}

/// Rows, and how many of them make a tile.
struct Tiling {
  Index rows;
  Index tile;
  Index tiles() const { return (rows + tile - 1) / tile; }
};
/// Tiles of output rows, each a multiple of `unit`.
inline Tiling tiling_of(const Rows& rows, Index unit, Index scale = 1) {
  return {rows.row_count, std::max<Index>(1, scale * rows_per_tile(rows) / unit) * unit};
}
/// Tiles of input rows.
inline Tiling input_tiling_of(const Rows& rows) {
  const double row_bytes =
      4.0 * static_cast<double>(rows.horizontal.window.input) * static_cast<double>(rows.inner.extent);
  const Index count = rows.row_count / rows.rows_per_plane * input_rows_per_plane(rows);
  return {count,
          std::max<Index>(1, static_cast<Index>(tile_bytes(row_bytes * static_cast<double>(count)) / row_bytes))};
}

/// Runs all rows in tiles, on as many threads as the executor has. What a tile throws stops the others and is thrown
/// again here, on the calling thread, because an executor's work does not throw.
template <class RunRows>
bool run_tiles(const Tiling& tiling, std::size_t scratch, const ProgressCallback& watch, RunRows run_rows) {
  struct Shared {
    RunRows& run_rows;
    const ProgressCallback& watch;
    std::size_t scratch;
    Index rows, tile;
    std::mutex watching = {};
    Index rows_done = 0;
    std::atomic<bool> stopped = false;
    std::exception_ptr thrown = nullptr;  ///< the first one; guarded by `watching`
    /// Called in a handler, with `watching` locked.
    void fail() {
      if (thrown == nullptr) thrown = std::current_exception();
      stopped = true;
    }
  } shared{run_rows, watch, scratch, tiling.rows, tiling.tile};
  const auto run_tile = [](void* context, Index number) {
    Shared& work = *static_cast<Shared*>(context);
    if (work.stopped.load(std::memory_order_relaxed)) return;
    const Index begin = number * work.tile, end = std::min(begin + work.tile, work.rows);
    try {
      void* memory = thread_scratch(work.scratch);
      if (memory == nullptr) throw std::bad_alloc();
      work.run_rows(begin, end, memory);
    } catch (...) {
      const std::lock_guard lock(work.watching);
      return work.fail();
    }
    if (work.watch.keep_going == nullptr) return;
    const std::lock_guard lock(work.watching);
    work.rows_done += end - begin;
    if (work.stopped) return;
    const double done = static_cast<double>(work.rows_done) / static_cast<double>(work.rows);
    try {
      if (!work.watch.keep_going(work.watch.context, done)) work.stopped = true;
    } catch (...) {  // before the lock is released, so that no other thread calls it again
      work.fail();
    }
  };
  Index tiles = tiling.tiles();
  // Where nobody shares the work or watches it, there is no need to cut it.
  if (tiles > 1 && watch.keep_going == nullptr && works_alone()) {
    shared.tile = shared.rows;
    tiles = 1;
  }
  if (tiles <= 1)
    for (Index i = 0; i < tiles; ++i) run_tile(&shared, i);
  else
    executor()->run(tiles, run_tile, &shared);
  if (shared.thrown != nullptr) std::rethrow_exception(shared.thrown);
  return !shared.stopped || shared.rows_done == shared.rows;
}

}  // namespace ndpool
