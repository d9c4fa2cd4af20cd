#!/bin/sh
# Builds and runs the C++ tests; says in one line when they cannot run here.
# Usage: cpp_tests.sh release|asan|tsan [CTEST-OPTION...]
# "release" takes the build folder of the wheel, so that nothing is compiled twice.
set -eu
preset=$1
shift
compiler=${CXX:-c++}

if ! echo '#include <doctest/doctest.h>' | $compiler -E -x c++ - >/dev/null 2>&1; then
  echo "C++ tests ($preset): SKIPPED, doctest/doctest.h not found (apt-get install doctest-dev)"
  exit 0
fi

launcher=
if [ "$preset" != release ]; then
  case $preset in asan) sanitizer=address,undefined ;; tsan) sanitizer=thread ;; esac
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  echo 'int main() { return 0; }' >"$work/probe.cpp"
  $compiler -fsanitize=$sanitizer "$work/probe.cpp" -o "$work/probe" 2>/dev/null || true
  # Where addresses are laid out too randomly for a sanitizer's shadow memory, switch that off.
  if ! "$work/probe" >/dev/null 2>&1; then launcher="setarch $(uname -m) -R"; fi
  if ! $launcher "$work/probe" >/dev/null 2>&1; then
    echo "C++ tests ($preset): SKIPPED, a program built with -fsanitize=$sanitizer does not run here"
    exit 0
  fi
  cmake --preset "$preset" >"$work/log" || { cat "$work/log"; exit 1; }
else
  cmake "build/$preset" >/dev/null  # doctest may have been installed since the wheel was built
fi

echo "C++ tests ($preset): building"
cmake --build "build/$preset" --target pyengine_tests pyengine_failing_allocator
$launcher ctest --test-dir "build/$preset" --output-on-failure "$@"
