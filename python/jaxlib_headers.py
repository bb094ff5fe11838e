"""Prints the folder of the headers of jaxlib, without importing it; fails if there is none."""

import importlib.util
import pathlib
import sys

found = importlib.util.find_spec("jaxlib")
if found is None or not found.submodule_search_locations:
    sys.exit("there is no jaxlib")
print(pathlib.Path(found.submodule_search_locations[0]) / "include", end="")
