#!/bin/sh
# Builds a wheel into build/wheel and puts the shared libraries that it needs into it. Needs build/venv.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/build/venv/bin:$PATH
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
rm -rf build/wheel/plain
mkdir -p build/wheel
# Without the extension for one torch: a wheel is for any.
python -m build --wheel --no-isolation --outdir build/wheel/plain -Cbuild-dir=build/wheel-tree \
    -Ccmake.define.NDPOOL_BUILD_TORCH=OFF .
rm -f build/wheel/*.whl
auditwheel repair --wheel-dir build/wheel build/wheel/plain/*.whl
ls build/wheel/*.whl
