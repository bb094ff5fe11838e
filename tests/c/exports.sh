#!/bin/sh
# Compares what a shared library exports with the lists of what it should: exports.sh LIBRARY FOLDER [--update]
#   FOLDER/c.txt has the functions of the C interface, FOLDER/cpp.txt the names of C++ that are marked NDPOOL_API.
set -eu
library=$1 folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm --dynamic --defined-only --format=posix "$library" | awk '{ print $1 }' >"$work/all"
grep '^ndpool_' "$work/all" | LC_ALL=C sort >"$work/c.txt"
grep -v '^ndpool_' "$work/all" | c++filt | LC_ALL=C sort -u >"$work/cpp.txt"

if [ "${3:-}" = --update ]; then
  cp "$work/c.txt" "$work/cpp.txt" "$folder"
  exit 0
fi
different=0
for list in c.txt cpp.txt; do
  diff -u "$folder/$list" "$work/$list" || different=1
done
[ $different = 0 ] || echo "the exports of $library are not those of $folder: if they should be, run this with --update" >&2
soname=$(readelf --dynamic --wide "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
expected=$(sed -n 's/^project(ndpool VERSION 0\.\([0-9]*\)\..*/libndpool.so.0.\1/p' "$folder/../../CMakeLists.txt")
if [ -n "$expected" ] && [ "$soname" != "$expected" ]; then
  echo "the soname is $soname; while the version is 0.x it carries the minor version: $expected" >&2
  different=1
fi
exit $different
