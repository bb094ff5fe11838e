#include "plan/available_cpus.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace ndpool {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// quota / period, unless either is no positive number: "max" in v2 and -1 in v1 mean no limit.
double cpus_of(const std::string& quota, const std::string& period) {
  std::istringstream quota_text(quota), period_text(period);
  double quota_time = 0, period_time = 0;
  if (!(quota_text >> quota_time) || !(period_text >> period_time) || quota_time <= 0 || period_time <= 0)
    return unlimited;
  return quota_time / period_time;
}

/// The words of a file; empty ones where it has none.
struct Words {
  explicit Words(const std::string& path) { std::ifstream(path) >> first >> second; }
  std::string first, second;
};

double v2_limit(const std::string& folder) {
  const Words limit(folder + "/cpu.max");
  return cpus_of(limit.first, limit.second);
}

double v1_limit(const std::string& folder) {
  return cpus_of(Words(folder + "/cpu.cfs_quota_us").first, Words(folder + "/cpu.cfs_period_us").first);
}

/// The lowest limit of a cgroup and those around it. A path that leaves the visible hierarchy ("/../a", a process of
/// another cgroup namespace) names nothing there: only the root of the mount is read.
double lowest_limit(const std::string& mount, std::string path, double (*limit_of)(const std::string&)) {
  double lowest = limit_of(mount);
  if (!path.starts_with('/') || path.find("..") != std::string::npos) return lowest;
  while (path.size() > 1) {
    lowest = std::min(lowest, limit_of(mount + path));
    path.resize(path.find_last_of('/'));
  }
  return lowest;
}

bool has_cpu_controller(std::istringstream controllers) {
  for (std::string name; std::getline(controllers, name, ',');)
    if (name == "cpu") return true;
  return false;
}

/// The limit by one line of /proc/self/cgroup, "hierarchy:controllers:path"; that of v2 has no controllers.
double limit_by(const std::string& line, const std::string& mounts) {
  const std::size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return unlimited;
  const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
  if (controllers.empty())
    return std::min(lowest_limit(mounts, path, &v2_limit), lowest_limit(mounts + "/unified", path, &v2_limit));
  if (!has_cpu_controller(std::istringstream(controllers))) return unlimited;
  return std::min(lowest_limit(mounts + "/cpu", path, &v1_limit),
                  lowest_limit(mounts + "/" + controllers, path, &v1_limit));
}

int affinity_cpus() {
#ifdef __linux__
  // A mask of fixed size is too short for machines of more than 1024 CPUs: it grows until the kernel accepts it.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(cpus));
    if (mask == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    const bool fits = sched_getaffinity(0, size, mask) == 0;
    const int count = fits ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return count;
  }
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int quota_cpus(const std::string& root) {
  std::ifstream memberships(root + "/proc/self/cgroup");
  double lowest = unlimited;
  for (std::string line; std::getline(memberships, line);)
    lowest = std::min(lowest, limit_by(line, root + "/sys/fs/cgroup"));
  if (lowest >= std::numeric_limits<int>::max()) return 0;
  return std::max(1, static_cast<int>(lowest));
}

int available_cpus() {
  const int quota = quota_cpus(), affine = affinity_cpus();
  return quota == 0 ? affine : std::min(affine, quota);
}

}  // namespace ndpool
