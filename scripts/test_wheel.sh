#!/bin/bash
# Installs the wheels of build/wheel into empty environments with NumPy alone, each for every interpreter that is here and takes it,
# hides this machine's Highway and libraries of the command in a mount namespace of its own, and sees that the package and the
# command work there with what the wheel brings. Type checkers then read its stubs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/interpreters.sh

libraries=$(ldconfig -p | sed -n 's/.*=> \(.*lib\(hwy\|fmt\|png16\|ndpool\)\.so.*\)/\1/p')
[ -n "$libraries" ] || echo "There is no Highway to hide"

try_wheel() {  # version, interpreter, wheel
  local venv=$PWD/build/wheel/venv-$1
  rm -rf "$venv"
  "$2" -m venv "$venv"
  local pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
  "${pip[@]}" numpy
  "${pip[@]}" --no-index --no-deps "$3"
  # shellcheck disable=SC2016  # the inner shell expands these
  root=$PWD libraries=$libraries venv=$venv unshare --mount --map-root-user bash -euo pipefail -c '
cd /
for library in $libraries; do
  mount --bind /dev/null "$library"
  if [ -s "$library" ]; then echo "$library is not hidden" >&2; exit 1; fi
done
LD_DEBUG=libs "$venv/bin/python" -c "import ndpool" 2>&1 | sed -n "s/.*calling init: \(.*lib\(hwy\|ndpool\).*\)/\1/p" >"$venv/loaded"
grep -q "ndpool.libs/libhwy" "$venv/loaded"
grep -q "site-packages/ndpool/libndpool.so" "$venv/loaded"
"$venv/bin/ndpool" --version
"$venv/bin/ndpool" explain --shape 5,5 --kernel 3,3 >/dev/null
exec "$venv/bin/python" "$root/python/tests/smoke.py"
'
}

for wheel in build/wheel/*.whl; do
  case $wheel in
    *abi3*) versions="3.12 3.13" ;;
    *cp310*) versions=3.10 ;;
    *cp311*) versions=3.11 ;;
    *) echo "What is $wheel for?" >&2; exit 1 ;;
  esac
  for version in $versions; do
    python=$(interpreter "$version")
    if [ -z "$python" ]; then
      echo "There is no Python $version here: not tried with it" >&2
      continue
    fi
    echo "$(basename "$wheel") with Python $version"
    try_wheel "$version" "$python" "$wheel"
    tried=build/wheel/venv-$version
  done
done

# The stubs of an installed wheel, read by checkers of another environment.
build/venv/bin/python -m mypy --strict --python-executable "$tried/bin/python" python/tests/types/calls.py
build/venv/bin/python -m basedpyright --level error --pythonpath "$tried/bin/python" python/tests/types/calls.py
