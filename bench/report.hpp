// What was measured, as a table, as JSON and as a chart.
#pragma once

#include "cases.hpp"

#include <string>
#include <vector>

namespace ndpool::bench {

struct Result {
  Case measured;
  double seconds = 0;
  double limit_seconds = 0;
  double one_thread_seconds = 0;  ///< of cases with more threads, else 0
  double exp_seconds = 0;         ///< one pass of exp over the input, of smooth max, else 0
  double limit_bytes = 0;         ///< what the limit reads and writes

  double ratio() const { return seconds / limit_seconds; }
  bool meets_goal() const { return ratio() <= measured.goal; }
};

/// Something so short that only the time of one call is of interest.
struct Call {
  std::string name;
  double seconds = 0;
};

/// Prints the main table while it grows, the small ones when everything is known.
class Report {
 public:
  void start() const;
  void add(const Result& result);
  void add(const Call& call) { calls_.push_back(call); }
  void skip(const Case& skipped) const;
  void finish() const;
  bool empty() const { return results_.empty() && calls_.empty(); }
  /// The most bytes a second that any limit has read and written.
  double streaming_rate() const;
  /// The ratios as a chart.
  std::string svg() const;

  /// Throw std::runtime_error if the file cannot be written.
  void write_json(const std::string& path) const;
  void write_svg(const std::string& path) const;

 private:
  void print_growth() const;
  void print_exp_passes() const;
  void print_threads() const;
  void print_calls() const;

  std::vector<Result> results_;
  std::vector<Call> calls_;
};

}  // namespace ndpool::bench
