#include "c/run.hpp"

#include "plan/executor.hpp"

#include <algorithm>

namespace ndpool::c {

namespace {

/// Work on its way to the threads of an executor.
struct Tasks {
  void (*work)(void*, Index);
  void* context;
  Index count = 0;
  std::atomic<Index> next = 0;  ///< of those that are taken one by one
  std::atomic<Index> done = 0;
};

void run_on(Executor* executor, Index count, void (*work)(void*, Index), void* context) {
  if (executor != nullptr) return executor->run(count, work, context);
  own_executor()->run(count, work, context);
}

ndpool_executor read_executor(const ndpool_executor& caller) {
  const ndpool_executor given =
      read_struct<ndpool_executor>(caller, NDPOOL_EXECUTOR_INIT, sizeof(ndpool_executor), "executor");
  require_reserved(given.reserved);
  if (given.run == nullptr)
    throw Refusal(ndpool_code_null_argument, "executor", "run of executor is null, but must not be");
  if (given.threads < 1) refuse_value("threads", given.threads, 1, INT32_MAX);
  return given;
}

}  // namespace

void CallersExecutor::run(Index count, void (*work)(void*, Index), void* context) {
  Tasks tasks{.work = work, .context = context};
  executor_.run(
      executor_.context, count,
      [](void* of_run, Index i) {
        Tasks& all = *static_cast<Tasks*>(of_run);
        all.work(all.context, i);
        all.done.fetch_add(1);
      },
      &tasks);
  if (tasks.done.load() != count) has_failed_ = true;
}

void LimitedExecutor::run(Index count, void (*work)(void*, Index), void* context) {
  Tasks tasks{.work = work, .context = context, .count = count};
  run_on(
      all_, std::min<Index>(count, limit_),
      [](void* of_run, Index) {
        Tasks& all = *static_cast<Tasks*>(of_run);
        for (Index i = all.next.fetch_add(1); i < all.count; i = all.next.fetch_add(1)) all.work(all.context, i);
      },
      &tasks);
}

void StandardFloatExecutor::run(Index count, void (*work)(void*, Index), void* context) {
  Tasks tasks{.work = work, .context = context};
  run_on(
      all_, count,
      [](void* of_run, Index i) {
        const Tasks& all = *static_cast<const Tasks*>(of_run);
        const StandardFloatModes modes;
        all.work(all.context, i);
      },
      &tasks);
}

RunScope::RunScope(const ndpool_run* caller) {
  if (caller == nullptr) return;
  const ndpool_run given = read_struct<ndpool_run>(*caller, NDPOOL_RUN_INIT, sizeof(ndpool_run), "run");
  if (given.threads < 0) refuse_value("threads", given.threads, 0, INT32_MAX);
  const bool wants_modes = read_flag(given.standard_floats, "standard_floats");
  progress_ = {given.progress, given.progress_context};

  Executor* chosen = chosen_executor();
  if (given.executor != nullptr) chosen = &callers_.emplace(read_executor(*given.executor));
  if (given.threads == 1) {
    chosen = calling_thread();
  } else {
    if (given.threads > 1) chosen = &limited_.emplace(chosen, given.threads);
    if (wants_modes) chosen = &with_modes_.emplace(chosen);
  }
  if (wants_modes) modes_.emplace();
  if (chosen != nullptr) scope_.emplace(chosen);
}

void RunScope::check() const {
  if (callers_ && callers_->has_failed())
    throw Refusal(ndpool_code_executor_failed, "executor", "the executor has returned before every task was run once");
}

}  // namespace ndpool::c
