"""``python -m tests.convert [WORD]…``: every recording in every protocol; exit 1 where something is unsaid.

Words choose files whose path holds one of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.convert import laws, recorded

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "recordings"


def main() -> int:
    """Print what is unsaid, and how many files were looked at."""
    words = sys.argv[1:]
    chosen = [p for p in recorded.files(FOLDER) if not words or any(word in str(p) for word in words)]
    writers, count = laws.writers(), 0
    for path in chosen:
        for line in recorded.problems(path, writers):
            print(line, flush=True)
            count += 1
    print(f"{len(chosen)} files, {len(writers)} protocols, {count} unsaid")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main())
