#!/bin/sh
# Installs the system packages that a part of the project needs and that are missing. Does nothing, and needs no network,
# when all are there. Only Debian and its relatives are set up; elsewhere it checks for the tools and prints what to install.
#   scripts/setup.sh build|lint|bench|fuzz|python|docs|embedded|explorer|wheel|debs|aarch64
set -eu

part=${1:-}
case $part in
  build)
    reason="to build the library, the command, the examples and the tests"
    packages="libhwy-dev libgtest-dev libboost-dev libcli11-dev libfmt-dev libpng-dev nlohmann-json3-dev libeigen3-dev libomp-dev"
    fedora="gcc-c++ cmake ninja-build pkgconf google-highway-devel gtest-devel boost-devel cli11-devel fmt-devel libpng-devel json-devel eigen3-devel"
    arch="gcc cmake ninja pkgconf highway gtest boost cli11 fmt libpng nlohmann-json eigen"
    homebrew="cmake ninja pkgconf highway googletest boost cli11 fmt libpng nlohmann-json eigen"
    ;;
  lint)
    reason="to format and check the sources"
    packages="clang-format clang-tidy shellcheck codespell doxygen"
    fedora="clang-tools-extra ShellCheck codespell doxygen"
    arch="clang shellcheck codespell doxygen"
    homebrew="llvm shellcheck codespell doxygen"
    ;;
  bench)
    reason="to measure"
    packages="libbenchmark-dev libsleef-dev"
    fedora="google-benchmark-devel"
    arch="benchmark"
    homebrew="google-benchmark"
    ;;
  fuzz)
    reason="to fuzz"
    packages="clang libclang-rt-14-dev"
    fedora="clang compiler-rt"
    arch="clang compiler-rt"
    homebrew="llvm"
    ;;
  python)
    reason="to build the Python package and test it; a browser opens the demo's page"
    packages="python3-dev python3-venv chromium"
    fedora="python3-devel chromium"
    arch="python chromium"
    homebrew="python"
    ;;
  docs)
    reason="to build the documentation site and look at it in a browser"
    packages="doxygen chromium"
    fedora="doxygen chromium"
    arch="doxygen chromium"
    homebrew="doxygen"
    ;;
  embedded)
    reason="to compile for a Cortex-M4 and emulate it"
    packages="gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm valgrind python3"
    fedora="arm-none-eabi-gcc-cs-c++ arm-none-eabi-newlib qemu-system-arm valgrind python3"
    arch="arm-none-eabi-gcc arm-none-eabi-newlib qemu-system-arm valgrind python"
    homebrew="--cask gcc-arm-embedded (and: brew install qemu; there is no valgrind)"
    ;;
  explorer)
    reason="to compile the explorer to WebAssembly; a browser tests it"
    packages="clang-19 lld-19 libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 wasi-libc python3 chromium"
    fedora="clang19 lld19 chromium (and a WASI SDK of LLVM 19)"
    arch="clang lld wasi-libc wasi-libc++ wasi-libc++abi wasi-compiler-rt python chromium"
    homebrew="llvm@19 lld@19 wasi-libc wasi-runtimes"
    ;;
  wheel)
    reason="to build wheels; other versions of Python come from pyenv or you"
    packages="python3-dev python3-venv binutils"
    fedora="python3-devel binutils"
    arch="python binutils"
    homebrew="python"
    ;;
  debs)
    reason="to make Debian packages and try them in a bare Debian"
    packages="dpkg-dev fakeroot file lintian debootstrap"
    fedora="dpkg-dev debootstrap"
    arch="dpkg debootstrap"
    homebrew="dpkg"
    ;;
  aarch64)
    reason="to cross-compile for 64-bit ARM and emulate it"
    packages="g++-aarch64-linux-gnu qemu-user libhwy-dev:arm64 libgtest-dev:arm64"
    fedora="gcc-c++-aarch64-linux-gnu qemu-user"
    arch="aarch64-linux-gnu-gcc qemu-user"
    homebrew="aarch64-elf-gcc"
    ;;
  *) echo "usage: scripts/setup.sh build|lint|bench|fuzz|python|docs|embedded|explorer|wheel|debs|aarch64" >&2; exit 2 ;;
esac

# Without dpkg nothing is installed. The list is printed once per part; CMake then names the first thing that is missing.
if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  case $part in
    lint) tools="clang-format clang-tidy shellcheck codespell doxygen" ;;
    docs) tools="doxygen" ;;
    fuzz) tools="clang++" ;;
    explorer) tools="clang++-19 wasm-ld-19" ;;
    embedded) tools="arm-none-eabi-g++ qemu-system-arm" ;;
    *) tools="cmake ninja pkg-config" ;;
  esac
  missing=""
  for tool in $tools; do
    command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
  done
  cat >&2 <<END
ndpool installs packages by itself only on Debian and Ubuntu. Here you need, $reason:
  Fedora:    sudo dnf install $fedora
  Arch:      sudo pacman -S --needed $arch
  Homebrew:  brew install $homebrew
END
  [ -z "$missing" ] && exit 0
  echo "Not found:$missing. Install them and run the same command again." >&2
  exit 1
fi

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

# Never asks: sudo runs with -n, and apt answers its own questions.
if [ "$(id -u)" = 0 ]; then
  as_root="env"
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo -n env"
else
  echo "ndpool needs these packages $reason:$missing" >&2
  echo "This user may not install them without a password. Run: sudo apt-get install --no-install-recommends$missing" >&2
  exit 1
fi
echo "Installing, $reason:$missing"
# Packages of another architecture are only known once it is.
# shellcheck disable=SC2086  # as_root is a list of words
case $missing in *:arm64*) $as_root dpkg --add-architecture arm64 ;; esac
# Another apt may be running, such as unattended-upgrades: waits up to five minutes for its locks. apt waits for dpkg's lock by
# itself, but not for that of the package lists.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
tries=0
# shellcheck disable=SC2086  # as_root is a list of words
until $as_root apt-get -o DPkg::Lock::Timeout=300 update -q >"$log" 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -ge 30 ] || ! grep -q 'Could not get lock' "$log"; then
    cat "$log" >&2
    echo "apt-get update failed; trying with the package lists that are here" >&2
    break
  fi
  [ "$tries" = 1 ] && echo "Waiting for another apt to finish"
  sleep "${NDPOOL_APT_WAIT:-10}"
done
# shellcheck disable=SC2086  # a list of words
$as_root DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends $missing
