#!/bin/sh
# Builds the crate of examples/rust and its program offline, by rustc alone, runs the program and compares what it prints:
# rust.sh CRATE FOLDER_OF_THE_LIBRARY. Ends with 77 where there is no rustc.
set -eu
crate=$1 library=$2
if ! command -v rustc >/dev/null 2>&1; then
  echo "SKIPPED: there is no rustc; on Debian: apt-get install rustc"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rustc --edition 2021 -D warnings --crate-type rlib --crate-name ndpool -O -L native="$library" --out-dir "$work" "$crate/src/lib.rs"
rustc --edition 2021 -D warnings -O --extern ndpool="$work/libndpool.rlib" -L native="$library" -o "$work/pools" "$crate/examples/pools.rs"
LD_LIBRARY_PATH=$library "$work/pools" >"$work/pools.txt"
diff "$crate/pools.txt" "$work/pools.txt"
