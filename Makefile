# `make demo` needs a C++20 compiler, make and Python 3.11 or later; `make test` also needs
# valgrind. Python packages are downloaded into .venv, and doctest is downloaded unless it is
# installed. Later runs rebuild only what has changed.

PYTHON ?= python3
ifeq ($(origin CXX), default)
CXX := c++
endif
# WERROR=ON turns warnings into errors. TORCH=... is a pip requirement for PyTorch, which some
# tests need.
WERROR ?= OFF
TORCH ?=
# A second compiler for the test of games in C++.
CLANG ?= clang++
# The suites that `make bench` runs after the C++ micro benchmarks, and its output folder.
SUITES ?= all
BENCH ?= build/bench
HOURS := the suites of matches take hours (PYENGINE_RECORDS=FOLDER lets an interrupted run resume); to skip them: \
  make bench SUITES='all --skip parallel-strength --skip strength'

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install -q
export CXX
# Use ccache if it is installed, and share its results between checkouts.
ifneq ($(shell command -v ccache),)
export CMAKE_CXX_COMPILER_LAUNCHER := ccache
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
endif
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export NPM_CONFIG_PREFIX := $(CURDIR)/build/npm

SOURCES := CMakeLists.txt pyproject.toml $(wildcard README.md LICENSE cmake/* models/*.onnx models/manifest.toml models/levels.toml models/runs/*.toml benchmarks/*.py examples/*/*.*) \
  $(shell find src/cpp bindings src/pyengine src/pyengine_command examples -name '*.cpp' -o -name '*.h' -o -name '*.py' -o -name '*.pyi')
PYTHON_DIRS := src/pyengine src/pyengine_command tests tools $(wildcard benchmarks examples models)
CPP_FILES = $(shell find src/cpp bindings tests/cpp $(wildcard benchmarks examples models) -name '*.cpp' -o -name '*.h')

.NOTPARALLEL:
.PHONY: help demo build test test-cpp test-python plugins clients slow oldest newest asan tsan instructions lint format stubs docs tidy bench wheels clean

help:
	@echo "make demo    build, install into .venv, and show a search"
	@echo "make test    all fast tests: C++ tests, sanitizers, instruction counts, games in C++, Python tests"
	@echo "make plugins build the example games in C++ against the wheel and test them"
	@echo "make clients install third-party programs that some tests talk to; they skip without"
	@echo "make slow    tests that take many minutes"
	@echo "make oldest  Python tests with the oldest supported dependencies   make newest  with the newest"
	@echo "make lint    style, types, layers, stubs        make format  fix the style"
	@echo "make bench   run the benchmark suites; results in $(BENCH)"
	@echo "make instructions   compare instructions per simulation with the committed figures"
	@echo "make wheels  build a wheel for each installed CPython into dist/ and test it without a compiler"
	@echo "make tidy    run clang-tidy"
	@echo "make stubs   write src/pyengine/_core.pyi      make docs    write the reference to build/docs"
	@echo "make clean   remove build/ and .venv/"

demo: $(VENV)/.installed
	$(PY) -m pyengine.cli.demo

build: $(VENV)/.installed

test: test-cpp asan tsan instructions plugins test-python

test-cpp: $(VENV)/.installed
	@tools/cpp_tests.sh release -LE slow

asan: $(VENV)/.tools
	@tools/cpp_tests.sh asan -LE slow

tsan: $(VENV)/.tools
	@tools/cpp_tests.sh tsan -L concurrent

test-python: $(VENV)/.test
	$(PY) -m pytest -n auto --dist worksteal

# Games in C++ outside the wheel, each built with CXX, and one with CLANG if that is installed.
plugins: $(VENV)/.installed
	@tools/plugins.sh $(PYTHON) "$$(echo build/dist/*.whl)" '$(CXX)' $(shell command -v $(CLANG))

# GNU Go and Leela Zero come from the system's packages: gnugo, leela-zero.
clients: $(VENV)/.test
	$(PIP) --no-deps katrain pysgf chardet certifi websocket-client pygomo-lib
	@$(PIP) gomill || echo "gomill needs Python 3.11 or 3.12: its test is skipped"
	@if command -v npm >/dev/null; then npm install --silent --global @sabaki/gtp; \
	else echo "npm is not installed: Sabaki's client is left out"; fi

slow: $(VENV)/.test
	@tools/cpp_tests.sh release -L slow
	$(PY) -m pytest -m slow -o faulthandler_timeout=0  # some tests train for many minutes

# Runs the Python tests on the same wheel with other versions of its dependencies, in a separate
# environment. Testing training requires TORCH=...; the version of PyTorch is not varied.
oldest newest: $(VENV)/.installed
	rm -rf build/$@
	$(PYTHON) -m venv build/$@
	$(PY) tools/lower_bounds.py test > build/oldest.txt
	build/$@/bin/python -m pip --disable-pip-version-check install -q $(if $(filter oldest,$@),-c build/oldest.txt) \
	  "$$(echo build/dist/*.whl)[test]" $(TORCH)
	build/$@/bin/python -m pip list
	build/$@/bin/python -m pytest

# Detects slowdowns: instructions per simulation must be within 3 % of
# benchmarks/instructions.toml.
# `make instructions UPDATE=1` updates the figures.
instructions: $(VENV)/.installed
	@tools/instructions.sh $(PY) $(if $(UPDATE),--update)

lint: $(VENV)/.test $(VENV)/.dev
	$(VENV)/bin/ruff check $(PYTHON_DIRS)
	$(VENV)/bin/ruff format --check $(PYTHON_DIRS)
	$(VENV)/bin/codespell
	$(PY) tools/benchmark_tables.py --check
	$(PY) tools/strength_tables.py --check
	$(VENV)/bin/clang-format --dry-run --Werror $(CPP_FILES)
	$(VENV)/bin/mypy
	cd src && ../$(VENV)/bin/lint-imports --config ../pyproject.toml
	$(PY) tools/make_stubs.py --check

format: $(VENV)/.dev
	$(VENV)/bin/ruff check --fix $(PYTHON_DIRS)
	$(VENV)/bin/ruff format $(PYTHON_DIRS)
	$(VENV)/bin/clang-format -i $(CPP_FILES)

stubs: $(VENV)/.installed $(VENV)/.dev
	$(PY) tools/make_stubs.py

# The reference for modules and commands, generated from docstrings. The guides are in docs/.
docs: $(VENV)/.installed $(VENV)/.dev
	$(PY) tools/reference.py build/docs
	$(PY) -m typer pyengine.cli.app utils docs --name pyengine --output build/docs/command-line.md

# In a unity build clang-tidy reads each header once per batch of files, which halves the time. The
# build uses GCC's warning options, some of which clang-tidy does not know.
# CHECKS='-clang-analyzer-*' skips the slowest checks.
tidy: $(VENV)/.dev
	@cmake --preset dev -B build/tidy -DCMAKE_UNITY_BUILD=ON -DPYENGINE_TESTS=OFF -DPYENGINE_BENCHMARKS=OFF >/dev/null
	@echo "clang-tidy: src/cpp"
	@sed -n 's/^ *"file": "\(.*\)",*$$/\1/p' build/tidy/compile_commands.json | \
	  xargs -n 1 -P $$(nproc) $(VENV)/bin/clang-tidy -p build/tidy --quiet $(if $(CHECKS),--checks=$(CHECKS)) \
	  --extra-arg=-Wno-unknown-warning-option 2>/dev/null

bench: $(VENV)/.installed
	@case "$(SUITES)" in *--skip?parallel-strength*) ;; *all*) echo "$(HOURS)" ;; esac
	@mkdir -p $(BENCH)
	@$(PIP) "$$(echo build/dist/*.whl)[plot]"
	@tools/cpp_benchmarks.sh --benchmark_out=$(BENCH)/cpp.json
	@$(VENV)/bin/pyengine bench $(SUITES) --out $(BENCH)

# Example: make wheels PYTHONS="python3.12 /opt/python3.14t/bin/python3.14t"
wheels: $(VENV)/.tools
	$(PY) tools/make_wheels.py $(PYTHONS)

clean:
	rm -rf build dist $(VENV)

# --- Prerequisites of the targets above ----------------------------------------------------------

$(VENV)/.tools: pyproject.toml tools/check_machine.sh
	@tools/check_machine.sh '$(PYTHON)' '$(CXX)'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "Installing the build tools into $(VENV)"
	@$(PY) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" \
	  > $(VENV)/build-requirements.txt
	@$(PIP) -r $(VENV)/build-requirements.txt 'cmake>=3.21' ninja
	@touch $@

build/dist/.wheel: $(VENV)/.tools $(SOURCES)
	@echo "Building the wheel (takes minutes the first time, less afterwards)"
	@rm -rf build/dist
	@$(PY) -m pip --disable-pip-version-check wheel -q . --no-deps --no-build-isolation -w build/dist \
	  --config-settings=build-dir=build/release --config-settings=cmake.define.PYENGINE_WERROR=$(WERROR)
	@touch $@

$(VENV)/.installed: build/dist/.wheel
	@echo "Installing $(notdir $(wildcard build/dist/*.whl)) into $(VENV)"
	@$(PIP) --force-reinstall --no-deps build/dist/*.whl
	@$(PIP) "$$(echo build/dist/*.whl)[cli]"
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@$(PIP) "$$(echo build/dist/*.whl)[test]" $(TORCH)
	@touch $@

$(VENV)/.dev: $(VENV)/.tools pyproject.toml
	@$(PY) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['dev'], sep='\n')" \
	  > $(VENV)/dev-requirements.txt
	@$(PIP) -r $(VENV)/dev-requirements.txt
	@touch $@
