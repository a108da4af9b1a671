"""What a file holds is read or said: something unknown in any list of any format is one of the two."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.wire.session import exchanges_of

MARK = "PLANTED-7f"
UNKNOWN = {"type": "planted_kind", "planted": MARK}
FIXTURES = Path(__file__).resolve().parents[2] / "data" / "importers"

Route: TypeAlias = tuple[str | int, ...]

NO_ENTRIES = ("headers", "cookies", "queryString", "attributes", "values", "input_refs", "message_pool")
"""Lists that hold no entries, results, bodies, frames or parts: heads, attributes, and what others refer to."""

KNOWN_SO = {
    "atif.json": {"tool_calls", "results"},  # a call without a name, a result without content
    "inspect.json": {"events", "tools", "tool_calls"},  # events of other kinds are no model calls
    "otel.json": {"spans", "events"},  # as spans and events of other kinds
    "otel.jsonl": {"spans", "logRecords"},
}
"""Lists in which an object of an unknown type is of no interest, or is read as what the list holds."""

TEXTS = {("inspect.json", "tool_calls"), ("otel.json", "events")}
"""The same for what is no object."""


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(value: Any) -> bytes:
    return b"".join(_json(line) + b"\n" for line in value)


def _yaml(value: Any) -> bytes:
    return yaml.safe_dump(value, sort_keys=False).encode()


def parsed(path: Path) -> tuple[Any, Callable[[Any], bytes]] | None:
    """The value of a fixture, and what writes it; None for one that is neither JSON nor YAML."""
    raw = path.read_bytes()
    if path.suffix in (".yaml", ".yml"):
        return yaml.safe_load(raw), _yaml
    for parse, write in ((json.loads, _json), (lambda data: [json.loads(line) for line in data.splitlines()], _lines)):
        try:
            return parse(raw), write
        except ValueError:
            continue
    return None


def lists(value: Any, route: Route = ()) -> Iterator[Route]:
    """Routes to the lists in a value, to one of each kind."""
    if isinstance(value, list):
        yield route
        for number, inner in enumerate(value[:3]):
            yield from lists(inner, (*route, number))
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in NO_ENTRIES:
                yield from lists(inner, (*route, key))


def planted(value: Any, route: Route, plant: Any) -> Any:
    made = copy.deepcopy(value)
    at = made
    for step in route:
        at = at[step]
    at.append(plant)
    return made


def outcome(path: Path, before: tuple[str, ...]) -> str:
    try:
        session = open_input(str(path))
    except WorkbenchError:
        return "refused"
    if len(session.damage) > len(before) or any(exchange.damage for exchange in exchanges_of(session)):
        return "said"
    return "read" if any(MARK in repr(exchange) for exchange in exchanges_of(session)) else "silent"


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_what_is_unknown_is_read_or_said(name: str, tmp_path: Path) -> None:
    held = parsed(FIXTURES / name)
    if held is None:
        assert name in ("messages.sse", "model-text.txt", "claude-trace.jsonl", "requests.jsonl")
        return
    value, write = held
    before = open_input(str(FIXTURES / name)).damage
    kinds: set[Route] = set()
    for route in lists(value):
        kind = tuple("*" if isinstance(step, int) else step for step in route)
        if kind in kinds:
            continue
        kinds.add(kind)
        path = tmp_path / name
        last = next((step for step in reversed(route) if isinstance(step, str)), "")
        for plant in (UNKNOWN, MARK):
            if last in KNOWN_SO.get(name, ()) and (plant is UNKNOWN or (name, last) in TEXTS):
                continue
            path.write_bytes(write(planted(value, route, plant)))
            assert outcome(path, before) != "silent", (route, plant)


@pytest.mark.parametrize("name", ["claude-code.jsonl", "codex.jsonl", "pi.jsonl", "qwen-code.jsonl", "otel.jsonl"])
@pytest.mark.parametrize("line", [b'{"type": "user", "torn', b"5", b"[]", b"\xff\xfe", b'"text"'])
def test_a_line_that_cannot_be_read_is_said(name: str, line: bytes, tmp_path: Path) -> None:
    first, _, rest = (FIXTURES / name).read_bytes().partition(b"\n")
    before = open_input(str(FIXTURES / name)).damage
    path = tmp_path / name
    path.write_bytes(first + b"\n" + line + b"\n" + rest)
    session = open_input(str(path))
    assert len(session.damage) > len(before)
    assert any("line 2" in said for said in session.damage)
