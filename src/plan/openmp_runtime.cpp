#include "plan/openmp_runtime.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace ndpool {

namespace {

template <class Function>
void find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// What is loaded, in the order of the loader.
std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* list) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(library->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

/// How many libraries were ever loaded and unloaded.
std::pair<unsigned long long, unsigned long long> load_count() {
  std::pair<unsigned long long, unsigned long long> count;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* result) {
        *static_cast<decltype(count)*>(result) = {library->dlpi_adds, library->dlpi_subs};
        return 1;  // every entry says the same
      },
      &count);
  return count;
}

/// The runtime that code in `library` calls: `library` may be any that is linked with one. A null `library` is the
/// program with all that it is linked with.
std::shared_ptr<const OpenMpRuntime> runtime_behind(void* library) {
  void* const symbol = dlsym(library, "omp_get_max_threads");
  Dl_info where{};
  if (symbol == nullptr || dladdr(symbol, &where) == 0) return nullptr;
  void* own = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (own == nullptr) own = dlopen(nullptr, RTLD_LAZY);  // linked into the program
  if (own == nullptr) return nullptr;
  auto runtime = std::make_shared<const OpenMpRuntime>(own, where.dli_fname);
  return runtime->is_complete() ? runtime : nullptr;
}

std::shared_ptr<const OpenMpRuntime> runtime_behind_file(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  auto runtime = runtime_behind(library);
  dlclose(library);
  return runtime;
}

/// What libraries bind to comes first: global symbols (a preloaded runtime, say), then those that torch is linked with.
/// Wheels bring runtimes under names such as libgomp-a34b3233.so.1.
std::shared_ptr<const OpenMpRuntime> search() {
  if (auto global = runtime_behind(RTLD_DEFAULT)) return global;
  const std::vector<std::string> files = loaded_files();
  for (const char* prefix : {"libtorch_cpu.", "libgomp", "libiomp5", "libomp"})
    for (const std::string& file : files)
      if (base_name(file).starts_with(prefix))
        if (auto runtime = runtime_behind_file(file)) return runtime;
  return nullptr;
}

/// True if this process was made by a fork and has started no other program since: PF_FORKNOEXEC, in the flags that are
/// the ninth field of /proc/self/stat. The second one is a name in parentheses, with any characters.
bool is_forked() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  std::size_t field = name_end + 1;
  for (int i = 3; i <= 9 && field != std::string::npos; ++i) field = line.find(' ', field + (i > 3 ? 1 : 0));
  constexpr unsigned long forked_without_exec = 0x40;
  return field != std::string::npos && (std::strtoul(line.c_str() + field, nullptr, 10) & forked_without_exec) != 0;
}

/// What was found, until libraries are loaded or unloaded. Behind a pointer: a forked child starts anew.
struct Search {
  std::mutex mutex;
  bool is_done = false;
  std::pair<unsigned long long, unsigned long long> load_count;
  std::shared_ptr<const OpenMpRuntime> found;
};

std::atomic<Search*> last_search{nullptr};
/// libgomp may have threads that did not survive a fork.
std::atomic<bool> is_gomp_broken{false};
std::atomic<bool> has_gomp{false};

bool is_gomp(const std::shared_ptr<const OpenMpRuntime>& runtime) {
  return runtime != nullptr && !runtime->survives_fork();
}

void before_fork() { has_gomp = is_gomp(OpenMpRuntime::find()); }
void in_child() {
  if (has_gomp) is_gomp_broken = true;
  last_search = new Search;
}

Search& current_search() {
  static const bool handles_fork = [] {
    last_search = new Search;
    // The fork of a process that did not have ndpool then: what libgomp did there is not known.
    is_gomp_broken = is_gomp(search()) && is_forked();
    return pthread_atfork(before_fork, nullptr, in_child) == 0;
  }();
  static_cast<void>(handles_fork);
  return *last_search.load();
}

}  // namespace

std::shared_ptr<const OpenMpRuntime> OpenMpRuntime::find() {
  Search& last = current_search();
  const std::lock_guard lock(last.mutex);
  const auto count = load_count();
  if (!last.is_done || last.load_count != count) {
    last.found = search();
    last.load_count = count;
    last.is_done = true;
  }
  return last.found;
}

OpenMpRuntime::OpenMpRuntime(void* library, std::string file) : library_(library), file_(std::move(file)) {
  find_symbol(library, "omp_get_max_threads", max_threads_);
  find_symbol(library, "omp_in_parallel", in_parallel_);
  find_symbol(library, "__kmpc_fork_call", fork_call_);
  if (fork_call_ == nullptr) find_symbol(library, "GOMP_parallel", gomp_parallel_);
}

OpenMpRuntime::~OpenMpRuntime() { dlclose(library_); }

bool OpenMpRuntime::can_run() const { return survives_fork() || !is_gomp_broken; }

int OpenMpRuntime::threads() const {
  if (in_parallel_ != nullptr && in_parallel_() != 0) return 1;
  return max_threads_();
}

void OpenMpRuntime::parallel(void (*body)(void*), void* context) const {
  if (fork_call_ == nullptr) return gomp_parallel_(body, context, 0, 0);
  // ident_t: flags 2 mean a call by a compiler, the text is that of code without a name.
  struct Location {
    int reserved = 0, flags = 2, reserved2 = 0, reserved3 = 0;
    const char* source = ";unknown;unknown;0;0;;";
  };
  static Location location;
  const Microtask call = [](int*, int*, void* function, void* argument) {
    reinterpret_cast<void (*)(void*)>(function)(argument);
  };
  fork_call_(&location, 2, call, reinterpret_cast<void*>(body), context);
}

}  // namespace ndpool
