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

ROOT = Path(__file__).resolve().parent.parent

STEPS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "-q", "."],
    "docs": ["mkdocs", "build", "--strict", "-q"],
    "collection": ["pytest", "--collect-only", "-qq"],
    "tests": ["pytest", "-n", "4", "--dist", "worksteal"],
}
"""The collection compiles every test once: the workers, which start together, would each do all of it. There
are two for each of two cores, since each waits for processes and screens, and who is done takes from who is not."""


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
        is_quiet = name == "collection"
        done = subprocess.run(
            [sys.executable, "-m", *words, *(sys.argv[1:] if "pytest" in words else [])],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL if is_quiet else None,
        )
        if not is_quiet:  # what it cannot collect, the tests report
            failed += _report(name, done.returncode, begun)
    said, _ = types.communicate()
    print(said, end="")
    failed += _report("types", types.returncode, start)
    return 1 if failed else 0


def _report(name: str, status: int, begun: float) -> list[str]:
    print(f"{name}: {'ok' if status == 0 else 'FAILED'} ({time.monotonic() - begun:.0f} s)", flush=True)
    return [name] if status else []


if __name__ == "__main__":
    raise SystemExit(main())
