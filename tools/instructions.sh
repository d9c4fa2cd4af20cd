#!/bin/sh
# Counts instructions per simulation with valgrind (tools/instructions.py) in the wheel's build
# folder. Usage: instructions.sh PYTHON [--update]
set -eu
python=$1
shift
if ! command -v valgrind >/dev/null; then
  if [ "$(uname -s)" != Linux ]; then
    echo "instructions per simulation: SKIPPED, because valgrind requires Linux"
    exit 0
  fi
  echo "instructions per simulation: valgrind is not installed (apt-get install valgrind)" >&2
  exit 1
fi
cmake build/release -DPYENGINE_BENCHMARKS=ON >/dev/null
cmake --build build/release --target pyengine_instructions
exec "$python" tools/instructions.py build/release/pyengine_instructions "$@"
