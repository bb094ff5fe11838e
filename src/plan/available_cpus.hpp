// How many CPUs this process may use: the default number of threads.
#pragma once

#include <string>

namespace ndpool {

/// CPUs that the CPU quota of this process's cgroup pays for, at least 1; 0 if there is no quota. Reads cgroup v2
/// (cpu.max) and v1 (cpu.cfs_quota_us), the cgroup itself and all around it; `root` stands before /proc and /sys.
/// Rounds down: a thread more than the quota pays for makes the kernel stop all of them for the rest of a period.
int quota_cpus(const std::string& root = "");

/// CPUs of the affinity mask, at most `quota_cpus()`. At least 1.
int available_cpus();

}  // namespace ndpool
