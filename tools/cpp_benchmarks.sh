#!/bin/sh
# Builds the C++ micro benchmarks in the wheel's build folder and runs them. Skips them if
# google-benchmark is not installed. Usage: cpp_benchmarks.sh [GOOGLE-BENCHMARK-OPTION...]
set -eu
if ! echo '#include <benchmark/benchmark.h>' | ${CXX:-c++} -E -x c++ - >/dev/null 2>&1; then
  echo "C++ benchmarks: SKIPPED, benchmark/benchmark.h not found (apt-get install libbenchmark-dev)"
  exit 0
fi
if ! ls benchmarks/cpp/*.cpp >/dev/null 2>&1; then exit 0; fi
cmake build/release -DPYENGINE_BENCHMARKS=ON >/dev/null
cmake --build build/release --target pyengine_benchmarks
exec build/release/pyengine_benchmarks "$@"
