// One test per row of docs/origins.md: what TorchLean and tiny_pool define, answered by ndpool. They are one program,
// so that it can compare the rows of all tables with the tests that exist.
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "origins/global_pooling.hpp"
#include "origins/graph_pooling.hpp"
#include "origins/nd_pooling.hpp"
#include "origins/tiny_pool.hpp"
#include "origins/tiny_recipe.hpp"
#include "origins/two_d_pooling.hpp"

namespace ndpool {
namespace {

// Where ndpool differs on purpose

TEST(Origins, KernelLargerThanInputIsAnError) {
  const Fault fault = fault_of([] { return max_pool({.kernel = {3}}).output_shape({1, 2}); });
  EXPECT_EQ(fault.code, Code::kernel_exceeds_input);
  EXPECT_EQ(fault.axis, 1);
  expect(max_pool({.kernel = {3}}).output_shape({1, 3}), {1, 1});
}
TEST(Origins, OverlappingWindowsAddGradients) {
  expect(vjp(max_pool(sliding_pairs), Doubles({1, 1, 3}, {1, 5, 2}), Doubles({1, 1, 2}, {10, 1})),
         {{1, 1, 3}, {0, 11, 0}});
}

/// The rows of all tables without their heads; a head is the row above a line of dashes.
std::vector<std::string> table_rows(std::istream& document) {
  std::vector<std::string> rows;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("|---") && !rows.empty())
      rows.pop_back();
    else if (line.starts_with("|"))
      rows.push_back(line);
  }
  return rows;
}

/// The names after "Origins." in a row. Looked for by hand: GCC warns of its own <regex> under the sanitizers.
std::vector<std::string> tests_named_in(const std::string& row) {
  const std::string suite = "Origins.";
  std::vector<std::string> names;
  for (std::size_t at = row.find(suite); at != std::string::npos; at = row.find(suite, at + 1)) {
    const std::size_t begin = at + suite.size();
    names.push_back(row.substr(begin, row.find('`', begin) - begin));
  }
  return names;
}

TEST(OriginsDocument, EveryRowHasATestAndEveryTestARow) {
  std::ifstream document(NDPOOL_SOURCE_DIR "/docs/origins.md");
  std::multiset<std::string> in_rows, registered;
  for (const std::string& row : table_rows(document)) {
    const std::vector<std::string> names = tests_named_in(row);
    EXPECT_EQ(names.size(), 1U) << row;
    in_rows.insert(names.begin(), names.end());
  }
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    if (std::string(suite.name()) != "Origins") continue;
    for (int t = 0; t < suite.total_test_count(); ++t) registered.insert(suite.GetTestInfo(t)->name());
  }
  EXPECT_FALSE(registered.empty());
  EXPECT_EQ(in_rows, registered);
}

}  // namespace
}  // namespace ndpool
