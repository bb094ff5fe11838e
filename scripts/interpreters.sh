# shellcheck shell=bash
# For the scripts that build and try wheels.

# The interpreter of a version of Python, such as 3.12: on the PATH, or one of pyenv's. Nothing if there is none.
interpreter() {
  local candidate
  for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/"python$1"; do
    if "$candidate" -c "" 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
}
