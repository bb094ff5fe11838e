#!/bin/sh
# Checks the sources and changes none. Every check runs, whatever the others find; the last line says which failed.
#   scripts/lint.sh fast   layout, Python, shell scripts, spelling and words: seconds
#   scripts/lint.sh        also clang-tidy on the C++ files that differ from the branch main
#   scripts/lint.sh all    also clang-tidy on all C++ files
set -u
cd "$(dirname "$0")/.." || exit 1
mode=${1:-changed}
python_folders="python bench docs/conf.py docs/pictures.py examples embedded tests scripts web"
failed=""
passed=0

check() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed="$failed $name"
  fi
}

# What unformatted.txt lists is left out until make format writes it. Versions after 14 write another layout.
clang_format() {
  git ls-files '*.hpp' '*.cpp' '*.h' | grep -vFf scripts/unformatted.txt | xargs clang-format --dry-run -Werror
}

shell_check() {
  git ls-files '*.sh' '.ci/run' | xargs shellcheck
}

spelling() {
  git ls-files -- ':!tests/fuzz/corpus' ':!examples/digits/digits.txt' ':!*.png' ':!*.npy' |
    xargs codespell --quiet-level 3
}

# Every public name is documented: docs/Doxyfile makes warnings errors.
documented() {
  mkdir -p build && doxygen docs/Doxyfile
}

tidy_files() {
  if [ "$mode" = all ]; then
    git ls-files 'src/*.cpp' 'examples/*.cpp' 'python/*.cpp' 'cli/*.cpp'
  else
    base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
    git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'examples/*.cpp' 'python/*.cpp' 'cli/*.cpp'
  fi
}

# Reads a tree that is configured for it and never built: GCC's precompiled headers are nothing to Clang. Kernels are compiled once per
# instruction set, and read once, as plain code.
clang_tidy() {
  files=$(tidy_files)
  [ -n "$files" ] || return 0
  cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DNDPOOL_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PWD/build/venv/bin/python" \
    >build/tidy.log || { cat build/tidy.log; return 1; }
  echo "$files" | xargs -n 1 -P 2 clang-tidy -p build/tidy --quiet --extra-arg=-DHWY_COMPILE_ONLY_SCALAR \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-optimization-argument --extra-arg=-Wno-unknown-pragmas
}

check clang-format clang_format
# shellcheck disable=SC2086  # a list of folders
{
  check ruff-format build/venv/bin/ruff format --quiet --check $python_folders
  check ruff build/venv/bin/ruff check --quiet $python_folders
}
check mypy build/venv/bin/mypy --no-error-summary python/ndpool
check shellcheck shell_check
check codespell spelling
check words python3 scripts/words.py
check doxygen documented
[ "$mode" = fast ] || check clang-tidy clang_tidy

# shellcheck disable=SC2086  # a list of names
set -- $failed
echo "lint: $passed passed, $# failed${failed:+:}$failed"
[ $# = 0 ]
