#!/bin/sh
# Makes build/venv, or the environment that VENV names, and installs what the given requirements files name. Does nothing,
# and needs no network, when that has been done.
#   scripts/venv.sh python/requirements-test.txt ...
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-build/venv}

command -v python3 >/dev/null 2>&1 || { echo "ndpool's Python package needs python3" >&2; exit 1; }
# What an interrupted installation leaves behind confuses pip: such an environment is rebuilt.
unfinished=$venv/unfinished
if ! [ -x "$venv/bin/python" ] || [ -e "$unfinished" ]; then
  rm -rf "$venv"
  mkdir -p build
  python3 -m venv "$venv"
fi
for requirements in "$@"; do
  installed=$venv/$(basename "$requirements")
  cmp -s "$requirements" "$installed" && continue
  echo "Installing $requirements into $venv"
  touch "$unfinished"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$installed"
  rm "$unfinished"
done
