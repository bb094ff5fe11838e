// The files of cases in the source tree. Apart from what reads one case: the installed command names no folder of a
// build.
#include "cases.hpp"

namespace ndpool::bench {

const std::vector<std::string>& case_files() {
  static const std::vector<std::string> files = {"goals",       "dtypes",   "ranks",  "windows",
                                                 "derivatives", "reducers", "cliffs", "threads"};
  return files;
}

std::vector<Case> read_all_cases() {
  std::vector<Case> cases;
  for (const std::string& file : case_files())
    for (const problem::NamedProblem& named : problem::read_problems(NDPOOL_SOURCE_DIR "/bench/cases/" + file + ".txt"))
      cases.push_back(parse_case(file, named));
  return cases;
}

}  // namespace ndpool::bench
