"""Insert deliberate faults into a checkout one at a time, and report which ones the tests catch.

Usage: ``python tools/mutants.py [NAME ...]``; tests/mutants.toml lists the faults. By default the
C++ tests are built with the preset dev. Python imports ``src/pyengine``, which needs a link to the
extension module; the default build does not create it, so faults in bindings/ need ``--build``.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = (".cpp", ".h", ".py")


@dataclass(frozen=True)
class Fault:
    """A fault. tests/mutants.toml describes the fields."""

    name: str
    file: str
    old: str
    new: str
    caught_by: str
    sanitizer: str = ""

    def find(self, root: Path) -> Path | None:
        """Return the file that contains ``old`` once: ``file``, or else a unique other file."""
        paths = [path for top in ("src", "bindings") for path in (root / top).rglob("*.*")]
        sources = [path for path in paths if path.suffix in SUFFIXES and path.is_file()]
        matches = [path for path in sources if path.read_text().count(self.old) == 1]
        listed = root / self.file
        return listed if listed in matches else matches[0] if len(matches) == 1 else None

    def command(self, options: argparse.Namespace) -> list[str]:
        """Return the command that runs ``caught_by``, or with --broad all tests of its folder."""
        file, _, test = self.caught_by.partition("::")
        folder = Path(file).parent
        if not file.endswith(".cpp"):
            target = str(folder) if options.broad else self.caught_by
            return [*shlex.split(options.pytest), target]
        tests = shlex.split(options.tests)
        if options.broad:
            return [*tests, f"--source-file=*{folder}/*", "--test-suite-exclude=slow"]
        # A comma would separate two names; "?" stands for any character.
        return [*tests, f"--source-file=*{file}", f"--test-case={test.replace(',', '?')}"]


def run(command: list[str], options: argparse.Namespace) -> tuple[int | None, str]:
    """Run a command in the checkout; return its status (None: timeout) and its output."""
    process = subprocess.Popen(
        command,
        cwd=options.checkout,
        # Bytecode compiled with a fault could be used for the restored source.
        env=os.environ | {"PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=options.timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def build(fault: Fault, options: argparse.Namespace) -> bool:
    """Build what the test of a C++ fault needs; return whether the build succeeded."""
    if fault.file.endswith(".py"):
        return True
    target = "pyengine_tests" if ".cpp::" in fault.caught_by else "_core"
    status, output = run(shlex.split(options.build.replace("{target}", target)), options)
    if status != 0:
        print(output, file=sys.stderr)
    return status == 0


def passes(fault: Fault, options: argparse.Namespace) -> bool:
    """Run the test of a fault and return whether it passes. Exit if the test does not exist."""
    status, output = run(fault.command(options), options)
    if "test cases: 0 |" in output or (".py" in fault.caught_by and status in (4, 5)):
        sys.exit(f"{fault.name}: there is no test {fault.caught_by}\n{output}")
    return status == 0


def try_out(fault: Fault, options: argparse.Namespace) -> str:
    """Insert a fault, run its test, restore the source, and return the result."""
    path = fault.find(options.checkout)
    if path is None:
        return "text not found"
    before = path.read_bytes()
    try:
        path.write_text(path.read_text().replace(fault.old, fault.new))
        if not build(fault, options):
            return "does not build"
        return "missed" if passes(fault, options) else "caught"
    finally:
        path.write_bytes(before)


def main() -> int:
    """Try the faults without a result, and print all results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="default: all faults without a result")
    parser.add_argument("--checkout", type=Path, default=ROOT)
    parser.add_argument("--build", default="cmake --build build/dev --target {target}")
    parser.add_argument("--tests", default="build/dev/pyengine_tests", help="the C++ tests")
    parser.add_argument("--pytest", default=f"{sys.executable} -m pytest -q -x")
    parser.add_argument("--broad", action="store_true", help="run the whole folder of the test")
    parser.add_argument("--sanitizer", default="", help="tsan or asan: faults that need it")
    parser.add_argument("--timeout", type=float, default=1200.0, help="seconds per command")
    parser.add_argument("--results", type=Path, default=Path("build/mutants.json"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    entries = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["fault"]
    faults = [Fault(**e) for e in entries if e.get("sanitizer", "") == options.sanitizer]
    names = set(options.names)
    results = json.loads(options.results.read_text()) if options.results.exists() else {}
    chosen = [f for f in faults if (f.name in names if names else f.name not in results)]
    if names - {fault.name for fault in chosen}:
        parser.error(f"unknown faults: {names - {fault.name for fault in chosen}}")
    # A test that fails without a fault catches nothing. Check this first, with a single build.
    for fault in {str(fault.command(options)): fault for fault in chosen}.values():
        if not (build(fault, options) and passes(fault, options)):
            sys.exit(f"{fault.caught_by} fails without a fault")
    for fault in chosen:
        results[fault.name] = try_out(fault, options)
        print(f"{fault.name:32} {results[fault.name]}", flush=True)
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(results, indent=1))
    words = {fault.name: results.get(fault.name, "not tried") for fault in faults}
    caught = sum(word == "caught" for word in words.values())
    print("", *(f"{name:32} {word}" for name, word in words.items()), sep="\n")
    print(f"{caught} of {len(faults)} are caught. Rebuild: the last build contains a fault.")
    return 0 if caught == len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
