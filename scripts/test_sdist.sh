#!/bin/bash
# The source distribution in the bare Debian 12 that test_debs.sh makes, where pip reaches no network, only the build requirements
# that it declares: without a compiler and without Highway pip says what is missing; with both it builds and pools. With `quick`
# only what is missing is tried. Needs root, and build/debian/base.tar.
set -euo pipefail
cd "$(dirname "$0")/.."
mirror=${NDPOOL_DEBIAN_MIRROR:-http://deb.debian.org/debian}
folder=$PWD/build/debian
root=$folder/sdist-root
tools=${WHEEL_TOOLS:-$PWD/build/venv}/bin
rm -rf build/sdist "$root"
mkdir -p build/sdist/requirements "$root"
"$tools/python" -m build --sdist --outdir build/sdist . >"$folder/sdist.log" 2>&1
# What pyproject.toml asks for, and what scikit-build-core adds where there is no CMake and Ninja, for Debian's Python 3.11.
"$tools/python" -m pip download --quiet --dest build/sdist/requirements --only-binary :all: --python-version 3.11 --platform \
    manylinux_2_34_x86_64 --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    'scikit-build-core>=0.10' 'nanobind>=2.4' 'numpy>=2.0' 'cmake>=3.25' 'ninja>=1.5' >>"$folder/sdist.log" 2>&1

tar -C "$root" -xf "$folder/base.tar"
# A command in the root folder, with its own view of processes.
# shellcheck disable=SC2016  # the inner shell expands them
inside() {
  root=$root unshare --mount --pid --fork sh -ec 'mount -t proc proc "$root/proc"
    exec chroot "$root" /usr/bin/env -i PATH=/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' inside "$@"
}
install() { inside DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >>"$folder/sdist.log" 2>&1; }
echo "deb $mirror bookworm main" >"$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside apt-get update -qq >>"$folder/sdist.log" 2>&1
install python3 python3-venv
cp -r build/sdist "$root/sdist"
inside python3 -m venv /venv
sdist=$(basename build/sdist/ndpool-*.tar.gz)
pip_install() {
  inside unshare --net pip install --no-index --find-links /sdist/requirements "/sdist/$sdist" >"$folder/pip.txt" 2>&1
}
expect_missing() {
  if pip_install; then echo "pip installed without $1" >&2; exit 1; fi
  for text in "ndpool needs, and did not find:" "$@"; do
    grep -qF "$text" "$folder/pip.txt" || { tail -40 "$folder/pip.txt" >&2; echo "pip does not say: $text" >&2; exit 1; }
  done
  echo "pip says what is missing: $*"
}
expect_missing "a C++20 compiler (Debian: g++" "Highway 1.0.3 or newer (Debian: libhwy-dev"
install g++
expect_missing "Highway 1.0.3 or newer (Debian: libhwy-dev"
[ "${1:-}" = quick ] && exit
install libhwy-dev
install python3-dev
pip_install || { tail -40 "$folder/pip.txt" >&2; exit 1; }
cp python/tests/smoke.py "$root/smoke.py"
inside /venv/bin/python /smoke.py
echo "$sdist, $(stat -c %s "build/sdist/$sdist") bytes, builds without network"
