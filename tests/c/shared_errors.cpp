// Errors that the shared library throws are caught by their type in a program, which takes one type information for
// both.
#include <ndpool/ndpool.hpp>

#include <cstdio>

namespace {

class OwnExecutor final : public ndpool::Executor {
 public:
  void run(ndpool::Index count, void (*work)(void*, ndpool::Index), void* context) override {
    for (ndpool::Index i = 0; i < count; ++i) work(context, i);
  }
  int threads() const override { return 1; }
};

}  // namespace

int main() {
  try {
    static_cast<void>(ndpool::max_pool({.kernel = {5}}).output_shape({3}));
  } catch (const ndpool::Error& error) {
    OwnExecutor own;
    ndpool::Executor* const other = ndpool::openmp_executor();
    const bool is_other =
        dynamic_cast<OwnExecutor*>(other) == nullptr && dynamic_cast<ndpool::Executor*>(&own) != nullptr;
    return error.code() == ndpool::Code::kernel_exceeds_input && is_other ? 0 : 1;
  } catch (...) {
    std::puts("an error of another type was caught");
  }
  return 1;
}
