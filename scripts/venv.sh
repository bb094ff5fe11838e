#!/bin/sh
# Makes build/venv and installs what the given requirements files name. Does nothing, and needs no network, when that has
# been done.
#   scripts/venv.sh python/requirements-test.txt ...
set -eu
cd "$(dirname "$0")/.."

command -v python3 >/dev/null 2>&1 || { echo "ndpool's Python package needs python3" >&2; exit 1; }
if ! [ -x build/venv/bin/python ]; then
  rm -rf build/venv
  mkdir -p build
  python3 -m venv build/venv
fi
for requirements in "$@"; do
  installed=build/venv/$(basename "$requirements")
  cmp -s "$requirements" "$installed" && continue
  echo "Installing $requirements into build/venv"
  build/venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$installed"
done
