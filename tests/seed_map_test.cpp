// One test per row of docs/seed-map.md: what the documents that ndpool learned from define, answered by ndpool. They
// are one program, so that it can compare the rows of all tables with the tests that exist.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "seed_map/global_pooling.hpp"
#include "seed_map/graph_pooling.hpp"
#include "seed_map/nd_pooling.hpp"
#include "seed_map/tiny_pool.hpp"
#include "seed_map/two_d_pooling.hpp"

namespace ndpool {
namespace {

// Where ndpool differs on purpose

TEST(SeedMap, KernelLargerThanInputIsAnError) {
  EXPECT_EQ(code_of([] { max_pool({.kernel = {3}}).output_shape({1, 2}); }), Code::kernel_exceeds_input);
  expect(max_pool({.kernel = {3}}).output_shape({1, 3}), {1, 1});
}
TEST(SeedMap, OverlappingWindowsAddGradients) {
  expect(vjp(max_pool(sliding_pairs), Doubles({1, 1, 3}, {1, 5, 2}), Doubles({1, 1, 2}, {10, 1})),
         {{1, 1, 3}, {0, 11, 0}});
}

/// The rows of all tables without their heads; a head is the row above a line of dashes.
std::vector<std::string> table_rows(std::istream& document) {
  std::vector<std::string> rows;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("|---"))
      rows.pop_back();
    else if (line.starts_with("|"))
      rows.push_back(line);
  }
  return rows;
}

TEST(SeedMapDocument, EveryRowHasATestAndEveryTestARow) {
  std::ifstream document(NDPOOL_SOURCE_DIR "/docs/seed-map.md");
  const std::regex mention("SeedMap\\.(\\w+)");
  std::multiset<std::string> in_rows, registered;
  for (const std::string& row : table_rows(document)) {
    const std::sregex_iterator first(row.begin(), row.end(), mention), end;
    EXPECT_EQ(std::distance(first, end), 1) << row;
    std::for_each(first, end, [&](const std::smatch& match) { in_rows.insert(match[1]); });
  }
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    if (std::string(suite.name()) != "SeedMap") continue;
    for (int t = 0; t < suite.total_test_count(); ++t) registered.insert(suite.GetTestInfo(t)->name());
  }
  EXPECT_FALSE(registered.empty());
  EXPECT_EQ(in_rows, registered);
}

}  // namespace
}  // namespace ndpool
