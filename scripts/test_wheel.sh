#!/bin/sh
# Installs the wheel of build/wheel into an empty environment with NumPy alone, hides this machine's Highway in a mount
# namespace of its own, and sees that the package works there, with the library that the wheel brings.
set -eu
cd "$(dirname "$0")/.."
rm -rf build/wheel/venv
python3 -m venv build/wheel/venv
build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check numpy
build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps build/wheel/*.whl

libraries=$(ldconfig -p | sed -n 's/.*=> \(.*libhwy\.so.*\)/\1/p')
hide_and_run='
for library in $libraries; do mount --bind /dev/null "$library"; done
cd /
for library in $libraries; do
  if [ -s "$library" ]; then echo "$library is not hidden" >&2; exit 1; fi
done
LD_DEBUG=libs build/wheel/venv/bin/python -c "import ndpool" 2>&1 | grep "calling init:.*libhwy" >"$root/build/wheel/loaded"
cat "$root/build/wheel/loaded"
grep -q "ndpool.libs/libhwy" "$root/build/wheel/loaded"
exec "$root/build/wheel/venv/bin/python" "$root/python/tests/smoke.py"
'
hide_and_run=$(printf '%s' "$hide_and_run" | sed 's#LD_DEBUG=libs build#LD_DEBUG=libs "$root"/build#')
root=$PWD libraries=$libraries unshare --mount --map-root-user sh -euc "$hide_and_run"
