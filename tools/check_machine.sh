#!/bin/sh
# Says in plain words what a machine lacks for `make demo` and `make test`, and how to get it.
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
# shellcheck disable=SC2086  # CXX may be two words, such as "ccache g++"
if ! command -v ${cxx%% *} >/dev/null 2>&1; then
  problem "a C++ compiler (looked for '$cxx'; another one: make CXX=...)"
elif ! $cxx -std=c++20 "$work/probe.cpp" -o "$work/probe" 2>"$work/log"; then
  problem "a compiler that knows C++20, such as g++ 12 or clang 15 ('$cxx' failed on a small program)"
fi

if ! command -v "$python" >/dev/null 2>&1; then
  problem "Python 3.11 or later (looked for '$python'; another one: make PYTHON=...)"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  problem "Python 3.11 or later ('$python' is $("$python" -V 2>&1 | head -n 1); another one: make PYTHON=python3.12)"
else
  "$python" -c 'import venv, ensurepip' 2>/dev/null || problem "the Python module venv"
  "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
    problem "the headers of Python (Python.h)"
fi

if [ $problems = 1 ]; then
  echo "On Debian or Ubuntu:  apt-get install g++ make python3 python3-dev python3-venv doctest-dev valgrind" >&2
  exit 1
fi
