#!/bin/sh
# Formats every C++ file in place, then runs clang-tidy over the sources that the release build compiled.
set -eu
cd "$(dirname "$0")/.."
git ls-files '*.hpp' '*.cpp' | xargs clang-format -i
git diff --stat -- '*.hpp' '*.cpp'
git ls-files 'src/*.cpp' 'examples/*.cpp' 'tests/lint/*.cpp' | xargs clang-tidy -p build/release --quiet
