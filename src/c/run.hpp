// How one call of the C interface runs: on whose threads, with which floating-point modes and callback.
#pragma once

#include "c/float_modes.hpp"
#include "c/structs.hpp"

#include <ndpool/progress_callback.hpp>
#include <ndpool/threads.hpp>

#include <atomic>
#include <optional>

namespace ndpool::c {

/// The caller's threads.
class CallersExecutor final : public Executor {
 public:
  explicit CallersExecutor(const ndpool_executor& executor) : executor_(executor) {}
  void run(Index count, void (*work)(void*, Index), void* context) override;
  int threads() const override { return executor_.threads; }
  /// True if it has left a task out.
  bool has_failed() const { return has_failed_; }

 private:
  const ndpool_executor executor_;
  std::atomic<bool> has_failed_ = false;
};

/// At most `limit` threads of another executor.
class LimitedExecutor final : public Executor {
 public:
  LimitedExecutor(Executor* all, int limit) : all_(all), limit_(limit) {}
  void run(Index count, void (*work)(void*, Index), void* context) override;
  int threads() const override { return limit_; }

 private:
  Executor* all_;  ///< null for ndpool's own
  int limit_;
};

/// Another executor, with standard floating-point modes while its threads work.
class StandardFloatExecutor final : public Executor {
 public:
  explicit StandardFloatExecutor(Executor* all) : all_(all) {}
  void run(Index count, void (*work)(void*, Index), void* context) override;
  int threads() const override { return 2; }  // it does not know, and only whether it is 1 matters

 private:
  Executor* all_;  ///< null for ndpool's own
};

/// Everything that `ndpool_run` asks for, while it lives.
class RunScope {
 public:
  explicit RunScope(const ndpool_run* given);
  ProgressCallback progress() const { return progress_; }
  /// Throws if the caller's executor has left a task out.
  void check() const;

 private:
  ProgressCallback progress_;
  std::optional<CallersExecutor> callers_;
  std::optional<LimitedExecutor> limited_;
  std::optional<StandardFloatExecutor> with_modes_;
  std::optional<StandardFloatModes> modes_;
  std::optional<ScopedExecutor> scope_;
};

}  // namespace ndpool::c
