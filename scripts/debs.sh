#!/bin/sh
# Makes the Debian packages of the tree `packages`, in build/debs, and checks them with lintian: its errors are ours.
set -eu
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH
[ -e build/packages/build.ninja ] || cmake --preset packages
cmake --build --preset packages
rm -rf build/debs
cpack --config build/packages/CPackConfig.cmake -B build/debs
rm -rf build/debs/_CPack_Packages
lintian --fail-on error build/debs/*.deb
ls -l build/debs/*.deb
