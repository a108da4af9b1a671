"""``python -m tests``: lint, format, types and the whole suite, each reported; what CI runs."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

STEPS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "-q", "."],
    "types": ["mypy"],
    "tests": ["pytest", "-n", "4"],  # two cores: a worker waits for processes and screens half its time
}


def main() -> int:
    """Run every step, also after a failure; 0 when all pass."""
    failed = []
    for name, words in STEPS.items():
        start = time.monotonic()
        done = subprocess.run([sys.executable, "-m", *words, *(sys.argv[1:] if name == "tests" else [])], cwd=ROOT)
        print(f"{name}: {'ok' if done.returncode == 0 else 'FAILED'} ({time.monotonic() - start:.0f} s)", flush=True)
        if done.returncode:
            failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
