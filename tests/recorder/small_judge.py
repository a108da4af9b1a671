"""A judge that finds nothing, for tests: ``Judging`` starts it in the place of the real one."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from workbench.ir import JsonValue
from workbench.recorder.child import send_line, serve
from workbench.wire.jsontext import loads


def main(task: Mapping[str, JsonValue]) -> int:
    """Say nothing to ``wait``, and nothing against everything else."""
    send_line({})
    for line in sys.stdin.buffer:
        asked = loads(line)
        if asked["do"] != "wait":
            send_line({"ask": asked["ask"], "reasons": [], "out": task["out"]})
    return 0


if __name__ == "__main__":
    raise SystemExit(serve(main))
