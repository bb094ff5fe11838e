#!/bin/sh
# Makes build/venv, or the environment that VENV names, and installs what the given requirements files name. Does nothing,
# and needs no network, when that has been done.
#   scripts/venv.sh python/requirements-test.txt ...
# PYTHON names the interpreter, python3 by default.
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-build/venv}
python=${PYTHON:-python3}

command -v "$python" >/dev/null 2>&1 || { echo "ndpool's Python package needs $python" >&2; exit 1; }
# What an interrupted installation leaves behind confuses pip: such an environment is rebuilt.
unfinished=$venv/unfinished
if ! [ -x "$venv/bin/python" ] || [ -e "$unfinished" ]; then
  rm -rf "$venv"
  mkdir -p build
  "$python" -m venv "$venv"
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
