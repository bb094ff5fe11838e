// The default number of threads: quotas of cgroups, read from files that the test writes.
#include "plan/available_cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ndpool::testing {

/// A folder that stands for the root of the file system.
class Quota : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ndpool-quota-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int cpus() const { return quota_cpus(root_); }

  std::string root_;
};

TEST_F(Quota, IsNoneWithoutFiles) { EXPECT_EQ(cpus(), 0); }

TEST_F(Quota, OfVersion2IsRoundedDownButAtLeastOne) {
  write("/proc/self/cgroup", "0::/work/job\n");
  const std::string file = "/sys/fs/cgroup/work/job/cpu.max";
  write(file, "max 100000\n");
  EXPECT_EQ(cpus(), 0);
  write(file, "400000 100000\n");
  EXPECT_EQ(cpus(), 4);
  write(file, "150000 100000\n");
  EXPECT_EQ(cpus(), 1);
  write(file, "5000 100000\n");
  EXPECT_EQ(cpus(), 1);
  write(file, "1000000 250000\n");
  EXPECT_EQ(cpus(), 4);
}

TEST_F(Quota, IsTheLowestOfAllGroupsAround) {
  write("/proc/self/cgroup", "0::/a/b/c\n");
  write("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(cpus(), 3);
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");  // what a container sees as its root
  EXPECT_EQ(cpus(), 2);
}

TEST_F(Quota, OfVersion1IsFoundUnderEitherNameOfItsMount) {
  write("/proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/job\n3:cpuset:/job\n0::/\n");
  for (const char* mount : {"cpu", "cpu,cpuacct"}) {
    const std::string folder = std::string("/sys/fs/cgroup/") + mount + "/job";
    write(folder + "/cpu.cfs_period_us", "100000\n");
    write(folder + "/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(cpus(), 0);
    write(folder + "/cpu.cfs_quota_us", "250000\n");
    EXPECT_EQ(cpus(), 2);
    std::filesystem::remove_all(root_ + folder);
  }
}

TEST_F(Quota, OfOtherControllersIsNotRead) {
  write("/proc/self/cgroup", "4:cpuacct:/job\n3:cpuset:/job\n");
  write("/sys/fs/cgroup/cpuacct/job/cpu.cfs_quota_us", "100000\n");
  write("/sys/fs/cgroup/cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus(), 0);
}

TEST_F(Quota, DamagedFilesAreNoLimit) {
  write("/proc/self/cgroup", "0::/job\nno line\n:\n7:cpu\n5:cpu:job\n");
  for (const char* text : {"", "max", "200000", "200000 0\n", "x y\n", "-5 100000\n", "200000 -1"}) {
    write("/sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(cpus(), 0) << text;
  }
}

TEST_F(Quota, OfAGroupOutsideTheVisibleOnesIsThatOfTheRoot) {
  write("/proc/self/cgroup", "0::/../other\n");
  write("/sys/fs/cgroup/cpu.max", "500000 100000\n");
  write("/sys/fs/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus(), 5);
}

TEST(AvailableCpus, AreAtMostThoseOfTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(available_cpus(), 1);
  EXPECT_LE(available_cpus(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(available_cpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace ndpool::testing
