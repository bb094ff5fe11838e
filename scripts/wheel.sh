#!/bin/bash
# Builds wheels into build/wheel, for the interpreters that are here of Python 3.10, 3.11 and 3.12; that of 3.12 keeps to the
# stable ABI and serves all later versions. Puts the shared libraries that they need into them and checks what they are. The
# kernels are compiled once, into build/wheel-tree. Needs build/venv with python/requirements-wheel.txt.
#   scripts/wheel.sh [3.10 3.11 3.12]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/interpreters.sh
tools=${WHEEL_TOOLS:-$PWD/build/venv}/bin
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
# One commit makes one wheel, whenever and wherever it is built.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH

build_wheel() {  # version, interpreter
  local tag=cp${1/./} options=()
  PYTHON=$2 VENV=build/wheel/build-$tag scripts/venv.sh python/requirements-wheel-build.txt
  [ "$1" = 3.12 ] && options=(-Cwheel.py-api=cp312)
  local python=$PWD/build/wheel/build-$tag/bin/python nanobind
  nanobind=$("$python" -m nanobind --cmake_dir)
  scripts/jaxlib_headers.sh "$python"
  # Without the extension for one torch: a wheel is for any.
  "$python" -m build --wheel --no-isolation --outdir build/wheel/plain -Cbuild-dir=build/wheel-tree "${options[@]}" \
      -Ccmake.define.NDPOOL_BUILD_TORCH=OFF -Ccmake.define.nanobind_DIR="$nanobind" \
      -Ccmake.define.NDPOOL_JAXLIB_HEADERS="$PWD/build/jaxlib-headers/jaxlib/include" .
}

rm -rf build/wheel/plain build/wheel/*.whl
mkdir -p build/wheel
[ $# -gt 0 ] || set -- 3.10 3.11 3.12
for version in "$@"; do
  python=$(interpreter "$version")
  if [ -z "$python" ]; then
    echo "There is no Python $version here: no wheel for it" >&2
  else
    build_wheel "$version" "$python"
  fi
done
PATH=$tools:$PATH
for wheel in build/wheel/plain/*.whl; do
  auditwheel repair --wheel-dir build/wheel "$wheel"
done
for wheel in build/wheel/*.whl; do
  python3 scripts/check_wheel.py "$wheel"
  case $wheel in *abi3*) abi3audit --strict --summary "$wheel" ;; esac
done
