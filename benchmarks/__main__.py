"""``python -m benchmarks [PART]…``: prints ratios against a peer measured in the same run, then the goals beside them.

Parts: stream, listing, writing, inspect, checking, startup, keys, follow, relay, convert, textcalls, arguments,
matrix, minimize, edit, large, surveys.

Figures on a shared machine are good to about a factor of 1.5; compare the ratios, not the seconds.
"""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.goals import print_table

PARTS = (
    *("stream", "listing", "writing", "inspect", "checking", "startup", "keys", "follow"),
    *("relay", "convert", "textcalls", "arguments", "matrix", "minimize", "edit", "large", "surveys"),
)


def main() -> int:
    """Run the parts that were named, or all."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    wanted = sys.argv[1:] or list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        print(f"no such benchmark: {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for name in wanted:
        import_module(f"benchmarks.{name}").main()
    print_table(wanted)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
