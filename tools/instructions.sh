#!/bin/sh
# Counts instructions per simulation with valgrind (tools/instructions.py) in the wheel's build
# folder; says in one line when that cannot be done here. Usage: instructions.sh PYTHON [--update]
set -eu
python=$1
shift
if ! command -v valgrind >/dev/null; then
  echo "instructions per simulation: SKIPPED, valgrind not found (apt-get install valgrind)"
  exit 0
fi
cmake build/release -DPYENGINE_BENCHMARKS=ON >/dev/null
cmake --build build/release --target pyengine_instructions
exec "$python" tools/instructions.py build/release/pyengine_instructions "$@"
