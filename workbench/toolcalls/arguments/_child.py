"""Child process for work that could run for ever: syntax repair and patterns. Alarms or its parent end it.

Reads jobs as lines of JSON from standard input and writes one line of JSON for each; ends with its input.
"""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict
from importlib import import_module

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.toolcalls.arguments._proof import Lossy, duplicates, prove
from workbench.toolcalls.arguments._schema import repeated_keys, validate
from workbench.wire import dumps, loads

READY = b"ready"
_HEAVY = ("json_repair", "jsonschema")


def main() -> None:
    """Repair ``{"text"}`` to a value, or use ``{"value"}``; apply ``{"schema"}``, if any, to it.

    ``{"seconds"}`` is the processor time of a job, ``{"wait"}`` the time after which the parent gives up: alarms end
    this process at either limit, even if the parent is gone. A first line ``READY`` reports that it has started.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _HEAVY:  # their start is no part of a job
        import_module(name)
    _say(READY)
    for line in sys.stdin.buffer:
        job = loads(line)
        _set_alarms(job["seconds"], job["wait"] + 1.0)
        answer = dumps(work(job))
        _set_alarms(0, 0)
        _say(answer)


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _set_alarms(processor: float, clock: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, processor)
        signal.setitimer(signal.ITIMER_REAL, clock)


def work(job: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Response to a job: ``value`` (None if unreadable), ``changes``, ``lossy``, ``faults``, ``problem``."""
    answer: dict[str, JsonValue] = {"value": job.get("value"), "changes": [], "lossy": "", "faults": [], "problem": ""}
    if "text" in job:
        try:
            answer["value"], answer["changes"] = repair(job["text"])
        except Lossy as error:
            return answer | {"value": None, "lossy": str(error)}
    if isinstance(job["schema"], dict | bool):
        faults, answer["problem"] = validate(answer["value"], job["schema"], patient=True)
        answer["faults"] = [asdict(f) for f in faults]
    return answer


def repair(text: str) -> tuple[JsonValue, list[str]]:
    """Value of a broken text, and the changes made.

    Raises:
        Lossy: there is none, part of the text would be lost, or the text has two readings.
    """
    for half in duplicates(text):
        value, changes = _repair_syntax(half)
        notes = [
            "the arguments occur twice; one copy was used",
            *changes,
            repeated_keys(half) if not changes else "",
        ]
        return value, [text for text in notes if text]
    return _repair_syntax(text)


def _repair_syntax(text: str) -> tuple[JsonValue, list[str]]:
    from json_repair import repair_json

    try:
        return loads(text), []
    except WireError:
        pass
    try:
        value = loads(json.dumps(repair_json(text, return_objects=True, skip_json_loads=True)))  # joins surrogates
    except (RecursionError, ValueError, WireError) as error:
        raise Lossy("no syntax repair succeeded") from error
    if not isinstance(value, dict | list) or not value:
        raise Lossy("the text contains no readable object")
    return value, list(prove(text, value))
