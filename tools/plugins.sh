#!/bin/sh
# Builds the example games in C++ with each compiler, in an environment that has only the wheel, and
# runs their tests. Usage: plugins.sh PYTHON WHEEL COMPILER...
# The starter is the project that `pyengine new-game` writes.
set -eu
python=$1
wheel=$2
shift 2
folder=build/plugins
env=$folder/env
rm -rf "$folder"
"$python" -m venv "$env"
pip="$env/bin/python -m pip --disable-pip-version-check install -q"
$pip "$wheel[cli]" pytest
"$env/bin/pyengine" new-game "starter_copy" --directory "$folder/starter_copy" >/dev/null
for compiler in "$@"; do
  echo "games in C++: $($compiler --version | head -n 1)"
  for project in examples/hex examples/breakthrough "$folder/starter_copy"; do
    CXX=$compiler $pip --force-reinstall --no-deps "$project"
    "$env/bin/python" -m pytest -q -p no:cacheprovider -c /dev/null --rootdir "$project" \
      "$project/tests"
  done
done
