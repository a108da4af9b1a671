"""``python -m tests``: lint, format, documentation, types and the whole suite, each reported; what CI runs.

Options are those of pytest, such as ``--every``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

STEPS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "-q", "."],
    "docs": ["mkdocs", "build", "--strict", "-q"],
    "tests": ["pytest", "--processes", str(3 * (os.cpu_count() or 1))],
}
"""Three processes of tests for each core: each waits for processes and screens."""

MOST_FAILURES = 3
"""Failures after which the second run of those that failed stops."""


def main() -> int:
    """Run every step, also after a failure; 0 when all pass."""
    if {"-h", "--help"} & {*sys.argv}:
        print(__doc__)
        return 0
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["NO_MKDOCS_2_WARNING"] = "1"
    start = time.monotonic()
    types = subprocess.Popen(
        [sys.executable, "-m", "mypy"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    failed = []
    for name, words in STEPS.items():
        if name == "docs" and not find_spec("mkdocs"):
            print("docs: not built; to build them, pip install -e '.[docs]'", flush=True)
            continue
        begun = time.monotonic()
        options = sys.argv[1:] if name == "tests" else []
        done = subprocess.run([sys.executable, "-m", *words, *options], cwd=ROOT, env=environment)
        status = done.returncode
        if name == "tests" and status == pytest.ExitCode.TESTS_FAILED:
            status = _run_failures_again(environment)
        failed += _report(name, status, begun)
    said, _ = types.communicate()
    print(said, end="")
    failed += _report("types", types.returncode, start)
    return 1 if failed else 0


def _run_failures_again(environment: dict[str, str]) -> int:
    """Run the tests that failed once more, alone; one that passes then depends on time: it is named, to be mended."""
    words = ["--last-failed", "--last-failed-no-failures", "none", "--tb=no", "-rpf", "--maxfail", str(MOST_FAILURES)]
    status = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, env=environment).returncode
    if not status:
        print("tests: those that failed pass alone, so they depend on time: find out why (CONTRIBUTING.md, --late)")
    return status


def _report(name: str, status: int, begun: float) -> list[str]:
    print(f"{name}: {'ok' if status == 0 else 'FAILED'} ({time.monotonic() - begun:.0f} s)", flush=True)
    return [name] if status else []


if __name__ == "__main__":
    raise SystemExit(main())
