#!/bin/sh
# Installs the Debian packages that a part of the project needs and that are missing. Does nothing, and needs no
# network, when all are there.
#   scripts/setup.sh build|lint|bench|fuzz|python|embedded
set -eu

case "${1:-}" in
  build) packages="libhwy-dev libgtest-dev libboost-dev libcli11-dev libfmt-dev libpng-dev libeigen3-dev" ;;
  lint) packages="clang-format clang-tidy" ;;
  bench) packages="libbenchmark-dev" ;;
  fuzz) packages="clang libclang-rt-14-dev" ;;
  python) packages="python3-dev python3-venv chromium" ;;
  embedded) packages="gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm valgrind python3" ;;
  *) echo "usage: scripts/setup.sh build|lint|bench|fuzz|python|embedded" >&2; exit 2 ;;
esac

missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
# A compiler, CMake or Ninja from anywhere will do.
command -v g++ >/dev/null 2>&1 || missing="$missing g++"
command -v pkg-config >/dev/null 2>&1 || missing="$missing pkg-config"
command -v ninja >/dev/null 2>&1 || missing="$missing ninja-build"
command -v cmake >/dev/null 2>&1 || missing="$missing cmake"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo"
else
  echo "ndpool needs these packages, and neither root nor sudo is at hand to install them:$missing" >&2
  exit 1
fi
echo "Installing:$missing"
$as_root apt-get update -q
# shellcheck disable=SC2086  # a list of words on purpose
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing
