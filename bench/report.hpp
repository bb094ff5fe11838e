// What was measured, as a table, as JSON and as a chart.
#pragma once

#include "cases.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ndpool::bench {

struct Result {
  Case measured;
  double seconds = 0;
  double stream_seconds = 0;
  double pass_seconds = 0;          ///< one pass of exp or pow over the input where the map needs it, else 0
  double one_thread_seconds = 0;    ///< of cases with more threads, else 0
  double stream_bytes = 0;          ///< what is read and written
  std::string implementation = {};  ///< that ran the map
  bool stopped = false;             ///< after `seconds`; the whole would have taken longer

  double limit_seconds() const { return std::max(stream_seconds, pass_seconds); }
  double ratio() const { return seconds / limit_seconds(); }
  bool meets_goal() const { return !stopped && ratio() <= measured.goal; }
  /// Keeps the better times of this and of another measurement of the same case.
  void keep_best(const Result& other);
};

/// The numbers of a result as one JSON object.
std::string json_of(const Result& result);

/// Target and cores of this machine as one JSON object.
std::string json_of_machine();

/// printf into a string of at most 1,000 characters.
__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...);

/// Throws std::runtime_error if the file cannot be written.
void write_file(const std::string& path, const std::string& content);

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
  const std::vector<Result>& results() const { return results_; }
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
  void print_threads() const;
  void print_calls() const;

  std::vector<Result> results_;
  std::vector<Call> calls_;
};

}  // namespace ndpool::bench
