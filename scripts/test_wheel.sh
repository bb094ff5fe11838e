#!/bin/sh
# Installs the wheel of build/wheel into an empty environment with NumPy alone, hides this machine's Highway in a mount
# namespace of its own, and sees that the package works there, with the library that the wheel brings.
set -eu
cd "$(dirname "$0")/.."
rm -rf build/wheel/venv
python3 -m venv build/wheel/venv
pip="build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check"
$pip numpy
$pip --no-index --no-deps build/wheel/*.whl

libraries=$(ldconfig -p | sed -n 's/.*=> \(.*libhwy\.so.*\)/\1/p')
[ -n "$libraries" ] || echo "There is no Highway to hide"
# shellcheck disable=SC2016  # the inner shell expands these
root=$PWD libraries=$libraries unshare --mount --map-root-user sh -euc '
cd /
for library in $libraries; do
  mount --bind /dev/null "$library"
  if [ -s "$library" ]; then echo "$library is not hidden" >&2; exit 1; fi
  echo "hidden: $library"
done
python=$root/build/wheel/venv/bin/python
LD_DEBUG=libs "$python" -c "import ndpool" 2>&1 | sed -n "s/.*calling init: \(.*libhwy.*\)/loaded: \1/p" >"$root/build/wheel/loaded"
cat "$root/build/wheel/loaded"
grep -q "ndpool.libs/libhwy" "$root/build/wheel/loaded"
exec "$python" "$root/python/tests/smoke.py"
'
