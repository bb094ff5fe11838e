#include "report.hpp"

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

namespace ndpool::bench {

std::string text(const char* format, ...) {
  char line[1000];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return line;
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream out(path);
  out << content << std::flush;
  if (!out) throw std::runtime_error("cannot write " + path);
}

void Result::keep_best(const Result& other) {
  if (stopped == other.stopped ? other.seconds < seconds : stopped) {
    seconds = other.seconds;
    stopped = other.stopped;
  }
  for (double Result::*time : {&Result::stream_seconds, &Result::pass_seconds, &Result::one_thread_seconds})
    this->*time = std::min(this->*time, other.*time);
}

std::string json_of(const Result& result) {
  const Case& measured = result.measured;
  std::string json = "{\"file\": \"" + measured.file + "\", \"name\": \"" + measured.name + "\", \"problem\": \"" +
                     measured.line + "\", \"scalar\": \"" + measured.scalar + "\", \"map\": \"" +
                     name_of(measured.map) + "\", \"layout\": \"" + name_of(measured.layout) + "\"";
  json +=
      text(", \"threads\": %d, \"seconds\": %.4g, \"stopped\": %s, \"limit_seconds\": %.4g, \"ratio\": %.4g",
           measured.threads, result.seconds, result.stopped ? "true" : "false", result.limit_seconds(), result.ratio());
  json += ", \"implementation\": \"" + result.implementation + "\"";
  json += ", \"goal\": " + (measured.goal > 0 ? text("%g", measured.goal) : "null");
  if (result.one_thread_seconds > 0) json += text(", \"one_thread_seconds\": %.4g", result.one_thread_seconds);
  if (result.pass_seconds > 0) json += text(", \"pass_seconds\": %.4g", result.pass_seconds);
  return json + "}";
}

std::string json_of_machine() {
  return text("{\"target\": \"%s\", \"cores\": %u}", target().c_str(), std::thread::hardware_concurrency());
}

namespace {

/// Cases on several threads have a table of their own.
bool in_main_table(const Result& result) { return result.measured.threads == 1; }

/// `max-k13s1-vjp` is window 13 of the series `max-s1-vjp`; other names have window 0.
struct Growing {
  std::string series;
  int window = 0;
};
Growing growing(const std::string& name) {
  const std::size_t k = name.find("-k");
  if (k == std::string::npos || k + 2 >= name.size() || std::isdigit(static_cast<unsigned char>(name[k + 2])) == 0)
    return {};
  std::size_t digits = 0;
  const int window = std::stoi(name.substr(k + 2), &digits);
  return {name.substr(0, k + 1) + name.substr(k + 2 + digits), window};
}

}  // namespace

void Report::start() const {
  std::printf("one thread, target %s\n%-34s %13s %13s %7s %6s\n", target().c_str(), "case", "time", "limit", "ratio",
              "goal");
}

void Report::add(const Result& result) {
  results_.push_back(result);
  if (!in_main_table(result)) return;
  const Case& measured = result.measured;
  std::printf("%-34s%s%10.1f us %10.1f us %7.2f", measured.name.c_str(), result.stopped ? ">" : " ",
              result.seconds * 1e6, result.limit_seconds() * 1e6, result.ratio());
  if (measured.goal > 0) std::printf(" %6.2f%s", measured.goal, result.meets_goal() ? "" : " over");
  std::printf("\n");
  std::fflush(stdout);
}

void Report::skip(const Case& skipped) const {
  std::printf("%-34s skipped: no winners within 2 s, or a crash\n", skipped.name.c_str());
}

void Report::finish() const {
  std::size_t goals = 0, met = 0;
  for (const Result& result : results_)
    if (in_main_table(result) && result.measured.goal > 0) {
      ++goals;
      if (result.meets_goal()) ++met;
    }
  if (goals > 0) std::printf("\n%zu of %zu goals met\n", met, goals);
  print_growth();
  print_threads();
  print_calls();
}

double Report::streaming_rate() const {
  double rate = 0;
  for (const Result& result : results_) rate = std::max(rate, result.stream_bytes / result.stream_seconds);
  return rate;
}

void Report::print_growth() const {
  std::map<std::string, std::map<int, double>> series;
  std::set<int> windows;
  for (const Result& result : results_)
    if (const Growing point = growing(result.measured.name); result.measured.file == "windows" && point.window > 0) {
      series[point.series][point.window] = result.seconds;
      windows.insert(point.window);
    }
  std::erase_if(series, [](const auto& entry) { return !entry.second.contains(3); });
  if (series.empty()) return;
  std::printf("\nwindow growth: time relative to the window of 3\n%-34s", "window");
  for (const int window : windows) std::printf(" %6d", window);
  std::printf("\n");
  for (const auto& [name, times] : series) {
    std::printf("%-34s", name.c_str());
    for (const int window : windows) {
      const auto time = times.find(window);
      std::printf(" %6s", time == times.end() ? "" : text("%.2f", time->second / times.at(3)).c_str());
    }
    std::printf("\n");
  }
}

void Report::print_threads() const {
  bool first = true;
  for (const Result& result : results_) {
    if (in_main_table(result)) continue;
    if (first) std::printf("\n%-34s %13s %13s %7s\n", "speed-up with two threads", "one", "two", "ratio");
    first = false;
    std::printf("%-34s %10.1f us %10.1f us %7.2f\n", result.measured.name.c_str(), result.one_thread_seconds * 1e6,
                result.seconds * 1e6, result.one_thread_seconds / result.seconds);
  }
}

void Report::print_calls() const {
  if (!calls_.empty()) std::printf("\n%-34s %13s\n", "one call", "time");
  for (const Call& call : calls_) std::printf("%-34s %10.0f ns\n", call.name.c_str(), call.seconds * 1e9);
}

void Report::write_json(const std::string& path) const {
  std::string json = "{\n  \"machine\": " + json_of_machine() + ",\n  \"cases\": [";
  const char* separator = "\n";
  for (const Result& result : results_) {
    json += separator + ("    " + json_of(result));
    separator = ",\n";
  }
  json += "\n  ],\n  \"calls\": [";
  separator = "\n";
  for (const Call& call : calls_) {
    json += separator + text("    {\"name\": \"%s\", \"seconds\": %.4g}", call.name.c_str(), call.seconds);
    separator = ",\n";
  }
  write_file(path, json + "\n  ]\n}\n");
}

namespace {

/// A chart of horizontal bars. Bars are cut at `most`, so that a few slow cases do not hide the others.
class Chart {
 public:
  void heading(const std::string& title) {
    body_ += text("<text class=\"heading\" x=\"%d\" y=\"%d\">%s</text>\n", margin, y_ + row + 4, title.c_str());
    y_ += row + 10;
  }
  void bar(const Result& result) {
    has_goals_ = has_goals_ || result.measured.goal > 0;
    const char* kind = result.measured.goal == 0 ? "free" : result.meets_goal() ? "met" : "over";
    const bool cut = result.ratio() > most;
    const double end = x(std::min(result.ratio(), most));
    body_ += text("<text class=\"name\" x=\"%d\" y=\"%d\">%s</text>", left - 6, y_ + 11, result.measured.name.c_str());
    body_ += text("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", kind, left, y_ + 2, end - left,
                  row - 4);
    if (result.measured.goal > 0)
      body_ += text("<path class=\"goal\" d=\"M%.1f %dv%d\"/>", x(result.measured.goal), y_ + 1, row - 2);
    // Numbers stand behind everything that is drawn in their row; grid lines are covered by their halo.
    body_ += text("<text class=\"number\" x=\"%.1f\" y=\"%d\">%s%.2f</text>\n",
                  std::max({end, x(1), x(result.measured.goal)}) + 5, y_ + 11, cut ? "… " : "", result.ratio());
    y_ += row;
  }
  std::string svg() const {
    std::string grid;
    for (int ratio = 0; ratio <= static_cast<int>(most); ++ratio) {
      grid += line("grid", ratio);
      for (const int y : {top - 5, y_ + 18})
        grid += text("<text class=\"tick\" x=\"%.1f\" y=\"%d\">%d</text>\n", x(ratio), y, ratio);
    }
    const int height = y_ + 30;
    return text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", width,
                height, width, height) +
           style + text("<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height) + legend() + grid + body_ +
           line("limit", 1) + "</svg>\n";
  }

 private:
  static constexpr int width = 920, margin = 16, left = 270, right = 840, top = 84, row = 16;
  static constexpr double most = 4;
  static constexpr const char* style =
      "<style>\n"
      "text { font: 11px sans-serif; fill: #222 }\n"
      ".title { font-size: 16px; font-weight: bold }\n"
      ".heading { font-size: 12px; font-weight: bold }\n"
      ".name { text-anchor: end }\n"
      ".tick { text-anchor: middle; fill: #666 }\n"
      ".number { paint-order: stroke; stroke: #fff; stroke-width: 3px }\n"
      ".met { fill: #5aa578 } .over { fill: #e39a4b } .free { fill: #93a8c4 }\n"
      ".grid { stroke: #e4e4e4 } .limit { stroke: #444; stroke-width: 1.5 } .goal { stroke: #111; stroke-width: 2 }\n"
      "</style>\n";

  static double x(double ratio) { return left + (right - left) * ratio / most; }

  std::string line(const char* kind, int ratio) const {
    return text("<path class=\"%s\" d=\"M%.1f %dV%d\"/>\n", kind, x(ratio), top, y_ + 4);
  }

  std::string legend() const {
    std::string keys = text(
        "<text class=\"title\" x=\"%d\" y=\"28\">Time relative to the streaming limit (target %s, one "
        "thread; less is better)</text>\n",
        margin, target().c_str());
    const auto limit_at = [](int x) {
      return text("<path class=\"limit\" d=\"M%d 41v14\"/><text x=\"%d\" y=\"52\">the limit</text>\n", x, x + 11);
    };
    if (!has_goals_) return keys + limit_at(margin);
    int at = margin;
    for (const auto& [kind, meaning] : {std::pair{"met", "goal met"}, {"over", "over the goal"}, {"free", "no goal"}}) {
      keys += text("<rect class=\"%s\" x=\"%d\" y=\"42\" width=\"12\" height=\"12\"/>", kind, at);
      keys += text("<text x=\"%d\" y=\"52\">%s</text>\n", at + 17, meaning);
      at += 115;
    }
    keys += text("<path class=\"goal\" d=\"M%d 41v14\"/><text x=\"%d\" y=\"52\">the goal</text>\n", at + 6, at + 17);
    return keys + limit_at(at + 106);
  }

  std::string body_;
  bool has_goals_ = false;
  int y_ = top;
};

}  // namespace

std::string Report::svg() const {
  Chart chart;
  std::string file;
  for (const Result& result : results_) {
    if (!in_main_table(result)) continue;
    if (result.measured.file != file) chart.heading(file = result.measured.file);
    chart.bar(result);
  }
  return chart.svg();
}

void Report::write_svg(const std::string& path) const { write_file(path, svg()); }

}  // namespace ndpool::bench
