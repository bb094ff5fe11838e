#!/bin/sh
# Formats every C++ and Python file in place, checks the Python ones, then runs clang-tidy over the sources that the release
# build compiled. The kernels are left out: they are compiled once per instruction set, which only the compiler can afford.
set -eu
cd "$(dirname "$0")/.."
git ls-files '*.hpp' '*.cpp' '*.h' | xargs clang-format -i
build/venv/bin/ruff format --quiet python bench examples embedded tests/cli
build/venv/bin/ruff check python bench examples embedded tests/cli
git diff --stat -- '*.hpp' '*.cpp' '*.py'
git ls-files 'src/*.cpp' 'examples/*.cpp' 'python/*.cpp' 'cli/*.cpp' ':!src/kernels' | xargs -n 1 -P 2 clang-tidy -p build/release --quiet
