#!/bin/sh
# Reports what is missing for `make demo` and `make test`, and how to install it.
# Usage: check_machine.sh PYTHON CXX
python=$1
cxx=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
problems=0

problem() {
  echo "missing: $1" >&2
  problems=1
}

printf '#include <concepts>\n#include <span>\n#include <version>\nint main() { return std::span<int>{}.size() != 0; }\n' \
  >"$work/probe.cpp"
# shellcheck disable=SC2086  # CXX may be several words, such as "ccache g++"
if ! command -v ${cxx%% *} >/dev/null 2>&1; then
  problem "a C++ compiler ('$cxx' does not exist; to use another one: make CXX=...)"
elif ! $cxx -std=c++20 "$work/probe.cpp" -o "$work/probe" 2>"$work/log"; then
  problem "a compiler with C++20 support, such as g++ 12 or clang 15 ('$cxx' cannot compile a small program)"
fi

if ! command -v "$python" >/dev/null 2>&1; then
  problem "Python 3.11 or later ('$python' does not exist; to use another one: make PYTHON=...)"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  problem "Python 3.11 or later ('$python' is $("$python" -V 2>&1 | head -n 1); to use another one: make PYTHON=python3.12)"
else
  "$python" -c 'import venv, ensurepip' 2>/dev/null || problem "the Python modules venv and ensurepip"
  "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
    problem "the Python headers (Python.h)"
fi

if [ $problems = 1 ]; then
  echo "On Debian or Ubuntu:  apt-get install g++ make python3 python3-dev python3-venv doctest-dev valgrind" >&2
  exit 1
fi
