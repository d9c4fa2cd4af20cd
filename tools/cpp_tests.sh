#!/bin/sh
# Builds and runs the C++ tests. Fails and reports what is missing if they cannot be built or run.
# Usage: cpp_tests.sh release|asan|tsan [CTEST-OPTION...]
# "release" uses the wheel's build folder, so nothing is compiled twice.
set -eu
preset=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

launcher=
targets=pyengine_tests
configure="--preset $preset"
if [ "$preset" = release ]; then
  configure="build/release -DPYENGINE_TESTS=ON"
else
  targets="$targets pyengine_failing_allocator"
  case $preset in asan) sanitizer=address,undefined ;; tsan) sanitizer=thread ;; esac
  echo 'int main() { return 0; }' >"$work/probe.cpp"
  if ! ${CXX:-c++} -fsanitize=$sanitizer "$work/probe.cpp" -o "$work/probe"; then
    echo "C++ tests ($preset): ${CXX:-c++} cannot link with -fsanitize=$sanitizer." \
      "The sanitizers are part of g++; for clang: apt-get install libclang-rt-dev" >&2
    exit 1
  fi
  # Address space randomisation can conflict with a sanitizer's shadow memory, so disable it then.
  if ! "$work/probe" >/dev/null 2>&1; then launcher="setarch $(uname -m) -R"; fi
  if ! $launcher "$work/probe"; then
    echo "C++ tests ($preset): a program built with -fsanitize=$sanitizer does not run here" >&2
    exit 1
  fi
fi
# shellcheck disable=SC2086  # options and arguments
cmake $configure >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  grep '^pyengine:' "$work/log" >&2  # repeat what to install as the last line
  exit 1
}

echo "C++ tests ($preset): building"
# shellcheck disable=SC2086  # one or two targets
cmake --build "build/$preset" --target $targets
$launcher ctest --test-dir "build/$preset" --output-on-failure --parallel "$(getconf _NPROCESSORS_ONLN)" "$@"
