// ndpool's tasks on the threads of the XLA program that calls.
#pragma once

#include <ndpool/c.h>
#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace ndpool::python::jax {

/// Tasks that are taken one by one. The caller takes part, and waits for taken tasks alone: it may itself be a thread
/// of the pool, whose other threads may all wait like it.
class SharedTasks {
 public:
  using Task = void (*)(void*, std::int64_t);

  SharedTasks(std::int64_t count, Task task, void* context) : count_(count), task_(task), context_(context) {}

  /// Runs tasks until none is left to take. Does not touch the context when there is none: it may be gone.
  void take_all() {
    for (std::int64_t i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) {
      task_(context_, i);
      if (finished_.fetch_add(1) + 1 == count_) finished_.notify_all();
    }
  }

  void wait() const {
    for (std::int64_t done = finished_.load(); done != count_; done = finished_.load()) finished_.wait(done);
  }

 private:
  const std::int64_t count_;
  const Task task_;
  void* const context_;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> finished_ = 0;
};

/// The executor of one call. Must outlive it.
class XlaExecutor {
 public:
  explicit XlaExecutor(const xla::ffi::ThreadPool& threads) : threads_(threads) {
    constexpr std::int64_t max_threads = 1024;
    executor_.context = this;
    executor_.threads = static_cast<std::int32_t>(std::clamp<std::int64_t>(threads_.num_threads(), 1, max_threads));
    executor_.run = &run;
  }
  XlaExecutor(const XlaExecutor&) = delete;
  XlaExecutor& operator=(const XlaExecutor&) = delete;

  const ndpool_executor* get() const { return &executor_; }

 private:
  static void run(void* context, std::int64_t count, SharedTasks::Task task, void* task_context) {
    auto& self = *static_cast<XlaExecutor*>(context);
    const std::int64_t helpers = std::min<std::int64_t>(self.executor_.threads, count) - 1;
    if (helpers < 1) {
      for (std::int64_t i = 0; i < count; ++i) task(task_context, i);
      return;
    }
    const auto tasks = std::make_shared<SharedTasks>(count, task, task_context);
    try {
      for (std::int64_t i = 0; i < helpers; ++i) self.threads_.Schedule([tasks] { tasks->take_all(); });
    } catch (...) {  // no memory for helpers: the caller runs what they do not
    }
    tasks->take_all();
    tasks->wait();
  }

  xla::ffi::ThreadPool threads_;
  ndpool_executor executor_ = NDPOOL_EXECUTOR_INIT;
};

}  // namespace ndpool::python::jax
