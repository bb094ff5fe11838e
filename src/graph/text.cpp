// Sentences, tables and pictures of graphs.
#include <ndpool/graph/node.hpp>
#include <ndpool/graph/summary.hpp>

#include <algorithm>
#include <sstream>

namespace ndpool::graph {

std::string text(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string all;
  for (const Index extent : shape) {
    if (!all.empty()) all += 'x';
    all += std::to_string(extent);
  }
  return all;
}

std::string text(const std::string& name, const Shape& shape) { return '"' + name + "\" (" + text(shape) + ")"; }

namespace {

/// 1234567 as 1,234,567.
std::string grouped(Index value) {
  const std::string digits = std::to_string(value);
  std::string result;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) result += ',';
    result += digits[at];
  }
  return result;
}

std::string quoted(const std::string& words) {
  std::string result = "\"";
  for (const char letter : words) {
    if (letter == '"' || letter == '\\') result += '\\';
    if (letter == '\n')
      result += "\\n";
    else
      result += letter;
  }
  return result + '"';
}

}  // namespace

std::string summary_table(const std::vector<SummaryRow>& rows, Index parameters, std::size_t arena_bytes) {
  std::vector<std::vector<std::string>> table = {{"node (kind)", "output shape", "parameters", "bytes kept"}};
  Index kept = 0;
  for (const SummaryRow& row : rows) {
    table.push_back({row.name + " (" + row.kind + ")", row.shape, grouped(row.parameters), grouped(row.kept_bytes)});
    kept += row.kept_bytes;
  }
  std::vector<std::size_t> widths(4, 0);
  for (const auto& cells : table)
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], cells[c].size());
  std::ostringstream out;
  for (std::size_t line = 0; line < table.size(); ++line) {
    std::size_t width = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      const std::string room(widths[c] - table[line][c].size() + 2, ' ');
      // Words stand left, numbers right.
      out << (c < 2 ? table[line][c] + room : room + table[line][c]);
      width += widths[c] + 2;
    }
    out << '\n';
    if (line == 0) out << std::string(width, '=') << '\n';
  }
  out << "Parameters: " << grouped(parameters) << "\nKept for the way back: " << grouped(kept)
      << " bytes\nArena: " << grouped(static_cast<Index>(arena_bytes)) << " bytes\n";
  return out.str();
}

std::string dot_text(const std::vector<DotNode>& nodes) {
  std::ostringstream out;
  out << "digraph {\n  rankdir=TB;\n";
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const bool is_leaf = nodes[n].source != Source::operation;
    out << "  n" << n << " [label=" << quoted(nodes[n].name + "\n" + nodes[n].label)
        << ", shape=" << (is_leaf ? "ellipse" : "box") << "];\n";
    for (const int input : nodes[n].inputs) out << "  n" << input << " -> n" << n << ";\n";
  }
  out << "}\n";
  return out.str();
}

}  // namespace ndpool::graph
