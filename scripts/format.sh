#!/bin/sh
# Formats every C++ and Python file in place, applies the safe fixes of ruff, and lowers the counts of words_exceptions.txt.
set -eu
cd "$(dirname "$0")/.."
git ls-files '*.hpp' '*.cpp' '*.h' | xargs clang-format -i
echo '(everything is formatted)' >scripts/unformatted.txt
build/venv/bin/ruff format --quiet python bench docs/conf.py docs/pictures.py examples embedded tests scripts web
build/venv/bin/ruff check --quiet --fix python bench docs/conf.py docs/pictures.py examples embedded tests scripts web
scripts/words.py --update
git diff --stat
