#!/bin/bash
# Builds one commit in two directories whose names have different lengths, without a compiler cache, and compares the libraries and
# the wheels byte for byte. Compiles the kernels twice: half an hour on two cores.
#   scripts/test_reproducible.sh [commit]
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(git rev-parse "${1:-HEAD}")
folder=$PWD/build/reproducible
export CCACHE_DISABLE=1 WHEEL_TOOLS=${WHEEL_TOOLS:-$PWD/build/venv}
rm -rf "$folder"
for tree in one a/folder/with/a/longer/name; do
  git clone --quiet --shared . "$folder/$tree"
  git -C "$folder/$tree" checkout --quiet "$commit"
  (cd "$folder/$tree" && scripts/wheel.sh "${NDPOOL_WHEEL_PYTHON:-3.11}" && cd build/wheel && sha256sum ./*.whl ../wheel-tree/libndpool.so) \
      >"$folder/log" 2>&1 || { tail -30 "$folder/log" >&2; exit 1; }
  tail -2 "$folder/log" | tee "$folder/$(basename "$tree").txt"
done
cmp "$folder/one.txt" "$folder/name.txt" || { echo "The builds differ" >&2; exit 1; }
echo "Library and wheel of $commit are the same bytes from both directories"
