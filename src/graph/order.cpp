#include <ndpool/graph/node_list.hpp>

#include <atomic>

namespace ndpool::graph {

std::uint64_t new_identity() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::vector<int> order_of(const std::vector<std::vector<int>>& inputs, const std::vector<int>& outputs) {
  std::vector<bool> is_needed(inputs.size(), false);
  std::vector<int> order;
  // A stack of our own: graphs may be deeper than the machine's.
  std::vector<std::pair<int, std::size_t>> open;
  const auto visit = [&](int node) {
    if (is_needed[static_cast<std::size_t>(node)]) return;
    is_needed[static_cast<std::size_t>(node)] = true;
    open.emplace_back(node, 0);
  };
  for (const int output : outputs) {
    visit(output);
    while (!open.empty()) {
      const auto [node, next] = open.back();
      const std::vector<int>& of_node = inputs[static_cast<std::size_t>(node)];
      if (next == of_node.size()) {
        order.push_back(node);
        open.pop_back();
      } else {
        ++open.back().second;
        visit(of_node[next]);
      }
    }
  }
  return order;
}

}  // namespace ndpool::graph
