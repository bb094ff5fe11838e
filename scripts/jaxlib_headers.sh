#!/bin/sh
# Puts the headers that handlers for XLA are built with into build/jaxlib-headers. Does nothing, and needs no network, when
# that has been done.
#   scripts/jaxlib_headers.sh PYTHON
set -eu
cd "$(dirname "$0")/.."
requirements=python/requirements-jaxlib-headers.txt
folder=build/jaxlib-headers

cmp -s $requirements $folder/requirements.txt && exit
rm -rf $folder
"$1" -m pip install --quiet --disable-pip-version-check --no-deps --target $folder -r $requirements
cp $requirements $folder/requirements.txt
