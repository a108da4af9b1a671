"""The process that does what could run for ever: syntax repair and patterns. Its parent kills it at the deadline.

Reads one job as JSON from standard input and writes one answer as JSON to standard output.
"""

from __future__ import annotations

import sys
from dataclasses import asdict

from workbench.arguments._schema import validate
from workbench.ir import JsonValue
from workbench.wire.jsontext import dumps, loads


def main() -> None:
    """``{"text"}`` is repaired to a value, or ``{"value"}`` is taken; ``{"schema"}``, if any, is applied to it."""
    job = loads(sys.stdin.buffer.read())
    value = repair(job["text"]) if "text" in job else job["value"]
    answer = {"value": value, "faults": [], "problem": ""}
    if isinstance(job["schema"], dict | bool):
        faults, answer["problem"] = validate(value, job["schema"], patient=True)
        answer["faults"] = [asdict(f) for f in faults]
    sys.stdout.buffer.write(dumps(answer))


def repair(text: str) -> JsonValue:
    """The object that the text was most likely meant as; None when nothing of the kind can be read."""
    from json_repair import repair_json

    value = repair_json(text, return_objects=True, skip_json_loads=True)
    return value if isinstance(value, dict) else None
