#!/bin/bash
# Installs the packages of build/debs in a bare Debian 12, a folder that debootstrap makes, and runs the README's examples for C++
# and the shell there as it shows them. Needs root, debootstrap and a mirror of Debian (NDPOOL_DEBIAN_MIRROR).
set -euo pipefail
cd "$(dirname "$0")/.."
mirror=${NDPOOL_DEBIAN_MIRROR:-http://deb.debian.org/debian}
folder=$PWD/build/debian
root=$folder/root
mkdir -p "$folder"
if ! [ -e "$folder/base.tar" ]; then
  debootstrap --variant=minbase --make-tarball="$folder/packages.tgz" bookworm "$folder/work" "$mirror" >"$folder/log"
  debootstrap --variant=minbase --unpack-tarball="$folder/packages.tgz" bookworm "$folder/bare" "$mirror" >>"$folder/log"
  tar -C "$folder/bare" -cf "$folder/base.tar" .
  rm -rf "$folder/bare" "$folder/work" "$folder/packages.tgz"
fi
rm -rf "$root"
mkdir -p "$root"
tar -C "$root" -xf "$folder/base.tar"

# A command in the root folder, with its own view of processes.
# shellcheck disable=SC2016  # the inner shell expands them
inside() {
  root=$root unshare --mount --pid --fork sh -ec 'mount -t proc proc "$root/proc"
    exec chroot "$root" /usr/bin/env -i PATH=/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' inside "$@"
}
install() { inside DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >>"$folder/log" 2>&1; }

echo "deb $mirror bookworm main" >"$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside apt-get update -qq >>"$folder/log" 2>&1
mkdir "$root/debs" "$root/work"
cp build/debs/*.deb "$root/debs"

# The command and what it needs first; compilers and the -dev package come after its own test.
command=$(basename build/debs/ndpool_*.deb)
library=$(basename build/debs/libndpool[0-9]*.deb)
development=$(basename build/debs/libndpool-dev_*.deb)
start=$SECONDS
install "/debs/$library" "/debs/$command"
echo "The command and its library: installed in $((SECONDS - start)) s"
inside ndpool --version
inside sh -c 'ldconfig -p | grep -q libndpool.so' || { echo "ldconfig does not know the library" >&2; exit 1; }
for file in man/man1/ndpool.1.gz bash-completion/completions/ndpool doc/ndpool/copyright doc/ndpool/changelog.Debian.gz; do
  inside test -s "/usr/share/$file" || { echo "there is no /usr/share/$file" >&2; exit 1; }
done

block() { awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } $0 == "```" { inside = 0 } inside' README.md; }

# The README's session, and what it prints here.
install python3-numpy
block console >"$folder/expected.txt"
sed -n 's/^\$ //p' "$folder/expected.txt" >"$folder/commands.txt"
while IFS= read -r line; do
  printf '$ %s\n' "$line"
  inside sh -c "cd /work && $line" </dev/null 2>&1
done <"$folder/commands.txt" >"$folder/printed.txt"
diff "$folder/expected.txt" "$folder/printed.txt"
echo "The README's session prints what it shows"

install "/debs/$development" g++ pkg-config cmake make
block cpp >"$root/work/program.cpp"
# shellcheck disable=SC2016  # the shell inside expands it
printed=$(inside sh -c 'cd /work && g++ -std=c++20 program.cpp $(pkg-config --cflags --libs ndpool) -o program && ./program')
grep -qxF "$printed" README.md || { echo "the README does not show what its program prints: $printed" >&2; exit 1; }
cp -r tests/downstream "$root/work/downstream"
inside sh -c 'cd /work && cmake -S downstream -B built -DCOMPONENTS=graph && cmake --build built' >>"$folder/log" 2>&1
for program in program graph_program; do
  printed=$(inside "/work/built/$program")
  [ "$printed" = "5 4" ] || { echo "$program printed $printed" >&2; exit 1; }
done
echo "The README's program, and consumers by pkg-config and CMake, work with libndpool-dev"
inside sh -c "dpkg -P ndpool libndpool-dev ${library%%_*}" >>"$folder/log" 2>&1
if inside sh -c 'ldconfig -p | grep libndpool'; then
  echo "ldconfig still knows the removed library" >&2
  exit 1
fi
echo "Removed without a trace; the packages are $(du -ch build/debs/*.deb | tail -1 | cut -f1) together"
