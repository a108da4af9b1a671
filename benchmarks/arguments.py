"""Hostile arguments: CPU seconds that 16 kB of broken text cost, in this process and in the child that repairs it.

Peer: ``json_repair`` alone on the same text, in a process of its own that is ended after ``PATIENCE`` seconds.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

from benchmarks._relay_load import cpu_of
from benchmarks.goals import reach
from workbench.limits import MAX_ARGUMENT_REPAIR
from workbench.toolcalls.arguments import _process
from workbench.toolcalls.arguments.ladder import climb

PATIENCE = 5
FAMILIES = {
    "open objects": '{"a":',
    "open arrays": "[",
    "close and open": "]{",
    "close and open, with keys": ']{"a":',
    "pairs": "{[}",
    "other pairs": "[{]}",
    "quotes": '"',
    "escaped quotes": '\\"',
    "quotes and colons": '":',
    "keys without values": '{"a" ',
    "commas": ",",
    "fences": "```json\n",
    "comments": "/*",
    "line comments": "//\n",
    "words": "a ",
    "numbers": "1-",
    "literals": "tru",
    "braces in quotes": '"{',
    "single quotes": "{'a':'",
}
PEER = "import sys; from json_repair import repair_json; repair_json(sys.stdin.read(), skip_json_loads=True)"


def children() -> float:
    """CPU seconds of children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(text: str) -> tuple[float, float]:
    """CPU seconds of this process and of the child; its start is not counted."""
    climb("{'a': 'warm'}", None, None)
    child = _process._running()
    before, start = children() + cpu_of([child.pid]), time.process_time()
    assert climb(text, None, {"type": "object"}).refusal
    own = time.process_time() - start
    _process.stop()
    return own, max(children() - before, 0.0)


def theirs(text: str) -> float | None:
    """CPU seconds of the peer; None if it was ended."""
    before = children()
    try:
        command = [sys.executable, "-c", PEER]
        subprocess.run(command, input=text, text=True, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return None
    return children() - before


def main() -> None:
    """Every family, after a key and bare."""
    empty = theirs("") or 0.0
    print(f"arguments: {MAX_ARGUMENT_REPAIR // 1024} kB of hostile text, CPU seconds")
    print(f"  {'family':<26}{'caller':>8}{'child':>8}{'json-repair':>13}")
    worst = 0.0
    for name, piece in FAMILIES.items():
        text = '{"a": ' + piece * ((MAX_ARGUMENT_REPAIR - 6) // len(piece))
        for shown, whole in ((name, text), (f"{name}, bare", text[6:])):
            own, child = ours(whole)
            worst = max(worst, own + child)
            peer = theirs(whole)
            said = f"> {PATIENCE}" if peer is None else f"{max(peer - empty, 0.0):.2f}"
            print(f"  {shown:<32}{own:8.3f}{child:8.2f}{said:>11}")
    reach("hostile arguments of 16 kB", worst)


if __name__ == "__main__":
    main()
