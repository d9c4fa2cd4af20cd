#!/bin/sh
# Builds the example games in C++ in an environment that has only the wheel, and runs their tests;
# then Hex once more with each other compiler. Usage: plugins.sh PYTHON WHEEL COMPILER...
set -eu
export PYTHONDONTWRITEBYTECODE=1
python=$1
wheel=$2
shift 2
folder=build/plugins
env=$folder/env
rm -rf "$folder"
"$python" -m venv "$env"
pip="$env/bin/python -m pip --disable-pip-version-check install -q"
$pip "$wheel[cli]" pytest

# Usage: try COMPILER PROJECT...
try() {
  compiler=$1
  shift
  echo "games in C++: $("$compiler" --version | head -n 1)"
  for project in "$@"; do CXX=$compiler $pip --force-reinstall --no-deps "$project"; done
  $pip 'open_spiel>=2.0'  # the tests compare with its games
  for project in "$@"; do
    "$env/bin/python" -m pytest -q -p no:cacheprovider -c /dev/null --rootdir "$project" \
      "$project/tests"
  done
}

"$env/bin/pyengine" new-game heap --directory "$folder/heap" >/dev/null
try "$1" "$folder/heap" examples/hex examples/breakthrough
shift
for compiler in "$@"; do try "$compiler" examples/hex; done
