// What the thread pool learns from its runs, with times that are given.
#include "plan/sharing.hpp"

#include <gtest/gtest.h>

namespace ndpool::testing {

using namespace std::chrono_literals;

TEST(SharingLoss, RunsThatGainAreShared) {
  SharingLoss loss;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(loss.shares());
    loss.ran_shared(60us, 58us, 5, 10);  // alone it would have taken 116
  }
}

TEST(SharingLoss, IsPaidForByTwentyTimesAsMuchTimeAlone) {
  SharingLoss loss;
  loss.ran_shared(150us, 45us, 9, 10);  // alone: 50
  int alone = 0;
  for (; !loss.shares(); ++alone) loss.ran_alone(50us);
  EXPECT_EQ(alone, 20 * 100 / 50);
}

TEST(SharingLoss, OfTheWorstCaseIsFivePercent) {
  SharingLoss loss;
  Duration total{}, lost{};
  while (total < 1s) {
    const bool is_shared = loss.shares();
    const Duration time = is_shared ? 3ms : 50us;  // each shared run meets a descheduled thread
    total += time;
    if (is_shared) {
      lost += 3ms - 50us;
      loss.ran_shared(time, 45us, 9, 10);
    } else {
      loss.ran_alone(time);
    }
  }
  EXPECT_LE(lost, total / 20 + 3ms);
}

TEST(SharingLoss, IsForgottenAfterALongTime) {
  SharingLoss loss;
  loss.ran_shared(10s, 1ms, 1, 2);
  Duration alone{};
  for (; !loss.shares(); alone += 1ms) loss.ran_alone(1ms);
  EXPECT_EQ(alone, SharingLoss::max_debt);
}

TEST(SpinTime, IsHalvedUntilThreadsSleepAtOnce) {
  SpinTime spin;
  EXPECT_GT(spin.limit(), 0ns);
  EXPECT_LE(spin.limit(), SpinTime::max);
  Duration spent{};
  for (int i = 0; i < 100; ++i) {
    spent += spin.limit();
    spin.met_none();
  }
  EXPECT_EQ(spin.limit(), 0ns);
  EXPECT_LT(spent, SpinTime::max) << "all attempts in vain, together";
}

TEST(SpinTime, GrowsWithEverySuccessUpToItsBound) {
  SpinTime spin;
  for (int i = 0; i < 100; ++i) spin.met_work();
  EXPECT_EQ(spin.limit(), SpinTime::max);
}

TEST(SpinTime, GrowsAgainWhenWorkComesSoonAfterFallingAsleep) {
  SpinTime spin;
  for (int i = 0; i < 100; ++i) spin.met_none();
  spin.slept(SpinTime::max + 1us);
  EXPECT_EQ(spin.limit(), 0ns);
  spin.slept(SpinTime::max);
  EXPECT_EQ(spin.limit(), SpinTime::min);
}

/// Periods of 5 ms on 4 cores, two of them for the pool's threads.
struct Periods {
  CoreUse use{4, 2};
  Duration now = 10s, process{}, own{};
  Periods() { next(0, 0); }
  bool next(double others, double of_own) {
    const auto cpu = [](double cores) { return Duration(static_cast<Duration::rep>(cores * 5e6)); };
    now += 5ms;
    own += cpu(of_own);
    process += cpu(others + of_own);
    EXPECT_TRUE(use.is_due(now));
    use.update(now, process, own);
    return use.is_contended();
  }
};

TEST(CoreUse, OtherThreadsMayHaveTheCoresThatThePoolDoesNotUse) {
  Periods periods;
  EXPECT_FALSE(periods.next(0, 0));
  EXPECT_FALSE(periods.next(1, 2));
  EXPECT_FALSE(periods.next(2, 2));
  EXPECT_FALSE(periods.next(2.2, 1));
  EXPECT_TRUE(periods.next(2.5, 0));
  EXPECT_TRUE(periods.next(4, 0));
  EXPECT_TRUE(periods.next(3, 1));
  EXPECT_FALSE(periods.next(1, 2)) << "at once when they are done";
}

TEST(CoreUse, IsMeasuredOverPeriods) {
  Periods periods;
  EXPECT_FALSE(periods.use.is_due(periods.now + CoreUse::period - 1ns));
  EXPECT_TRUE(periods.next(4, 0));
  periods.now += 60s;  // idle; says nothing of now
  EXPECT_TRUE(periods.next(0, 0));
  EXPECT_FALSE(periods.next(0, 0));
}

}  // namespace ndpool::testing
