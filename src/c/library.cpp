// What the C interface says of the library itself: its version, names, threads and targets.
#include "c/structs.hpp"

#include <ndpool/plan_options.hpp>
#include <ndpool/targets.hpp>
#include <ndpool/threads.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace c = ndpool::c;

namespace {

/// The names of all targets, kept for as long as the process. Throws without memory.
const std::vector<std::string>& target_names() {
  static const std::vector<std::string> names = ndpool::targets();
  return names;
}

}  // namespace

const char* ndpool_version(void) { return NDPOOL_VERSION; }

const char* ndpool_dtype_name(int32_t dtype) {
  constexpr const char* names[] = {
#define NDPOOL_ROW(name, type) #name,
      NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
  };
  return dtype < 0 || dtype >= c::dtype_count ? nullptr : names[dtype];
}

size_t ndpool_dtype_size(int32_t dtype) {
  if (dtype < 0 || dtype >= c::dtype_count) return 0;
  return static_cast<size_t>(ndpool::item_size(static_cast<ndpool::Dtype>(dtype)));
}

const char* ndpool_reducer_name(int32_t reducer) {
  constexpr const char* names[] = {
#define NDPOOL_ROW(name, type) #name,
      NDPOOL_REDUCERS(NDPOOL_ROW)
#undef NDPOOL_ROW
  };
  return reducer < 0 || reducer >= c::reducer_count ? nullptr : names[reducer];
}

const char* ndpool_map_name(int32_t map) {
  if (map < 0 || map >= ndpool::map_kinds) return nullptr;
  return ndpool::name_of(static_cast<ndpool::MapKind>(map)).data();  // of a literal
}

int32_t ndpool_get_threads(void) {
  int32_t count = 1;
  c::guarded(nullptr, [&] { count = ndpool::get_threads(); });
  return count;
}

int32_t ndpool_set_threads(int32_t count, ndpool_error* error) {
  return c::guarded(error, [&] { ndpool::set_threads(count); });
}

int32_t ndpool_target_count(void) {
  int32_t count = 0;
  c::guarded(nullptr, [&] { count = static_cast<int32_t>(target_names().size()); });
  return count;
}

const char* ndpool_target_name(int32_t number) {
  const char* name = nullptr;
  c::guarded(nullptr, [&] {
    if (number >= 0 && static_cast<std::size_t>(number) < target_names().size())
      name = target_names()[static_cast<std::size_t>(number)].c_str();
  });
  return name;
}

const char* ndpool_target(void) {
  const char* name = nullptr;
  c::guarded(nullptr, [&] {
    const auto& names = target_names();
    const auto found = std::find(names.begin(), names.end(), ndpool::target());
    if (found != names.end()) name = found->c_str();
  });
  return name;
}

int32_t ndpool_force_target(const char* name, ndpool_error* error) {
  return c::guarded(error, [&] {
    try {
      ndpool::force_target(name == nullptr ? "" : name);
    } catch (const std::invalid_argument& unknown) {
      throw c::Refusal(ndpool_code_no_target, "name", unknown.what());
    }
  });
}
