"""Arguments of a call that arrive piece by piece, each with the path of its place.

    {"partialArgs": [{"jsonPath": "$.recipe.steps[1]", "stringValue": "Cook", "willContinue": true}]}

Facts: ``PartialArg`` in ``types.py`` of the ``google-genai`` SDK 3.4; recordings. A string is continued by further
pieces of the same path while ``willContinue`` is true; every other value comes whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench import regex
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue
from workbench.limits import MAX_JSON_DEPTH
from workbench.protocols.gemini.nodes import get
from workbench.wire import dumps, loads

_STEP = regex.compile(r"""\.([^.\[\]\s'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL)
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_MAX_STEPS = MAX_JSON_DEPTH // 2


class _Place:
    """A value in the tree that is being built, and the pieces it grows by."""

    __slots__ = ("holder", "is_open", "pieces", "step")

    def __init__(self, holder: JsonValue, step: int | str) -> None:
        self.holder = holder
        self.step = step
        self.pieces: list[str] = []
        self.is_open = False


def assemble(given: JsonValue, partial: Iterable[JsonValue]) -> tuple[JsonValue, list[JsonValue]]:
    """The arguments that pieces add up to.

    Args:
        given: what came whole, or None.
        partial: entries of ``partialArgs``, in order.

    Returns:
        The arguments, and the entries that have no place in them.
    """
    try:
        root: JsonValue = {} if given is None else loads(dumps(given))
    except (WireError, LocalProtocolError):  # too deep to be written: it stays as it came
        return given, list(partial)
    if not isinstance(root, dict):
        return given, list(partial)
    places: dict[str, _Place] = {}
    strays: list[JsonValue] = []
    for entry in partial:
        if not _take(root, places, entry):
            strays.append(entry)
    for place in places.values():
        if place.pieces:
            place.holder[place.step] = "".join(place.pieces)
    return root, strays


def _take(root: dict[str, JsonValue], places: dict[str, _Place], entry: JsonValue) -> bool:
    """Put one piece into its place; False where it has none."""
    path = get(entry, "jsonPath")
    key = next((key for key in _VALUES if get(entry, key) is not None), None)
    if not isinstance(path, str) or key is None:
        return False
    place = places.get(path) or _open(root, path)
    if place is None:
        return False
    places[path] = place
    value = get(entry, key)
    if key == "stringValue" and isinstance(value, str):
        if not place.is_open:
            place.pieces.clear()
        place.pieces.append(value)
        place.holder[place.step] = ""  # nothing can be put into it
    else:
        place.pieces.clear()
        place.holder[place.step] = None if key == "nullValue" else value
    place.is_open = get(entry, "willContinue") is True
    return True


def _open(root: dict[str, JsonValue], path: str) -> _Place | None:
    """The place a path leads to, with the objects and lists on the way; None where it leads nowhere."""
    steps = _steps(path)
    if not steps:
        return None
    node: JsonValue = root
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if not _fits(node, step):
            return None
        if following is None:
            break
        empty: JsonValue = [] if isinstance(following, int) else {}
        if isinstance(node, list):
            if step == len(node):
                node.append(empty)
        else:
            node.setdefault(step, empty)
        node = node[step]
    if isinstance(node, list) and steps[-1] == len(node):
        node.append(None)
    return _Place(node, steps[-1])


def _fits(node: JsonValue, step: int | str) -> bool:
    """The node can hold the step: lists grow one by one, so that no number makes them large."""
    if isinstance(step, int):
        return isinstance(node, list) and step <= len(node)
    return isinstance(node, dict)


def _steps(path: str) -> list[int | str]:
    """The steps of a singular query of RFC 9535; none for anything else."""
    steps, at = list[int | str](), 1
    while path.startswith("$") and at < len(path):
        found = _STEP.match(path, at)
        if found is None or len(steps) >= _MAX_STEPS:
            return []
        name, index, single, double = found.groups()
        quoted = single if single is not None else double
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name if quoted is None else _unescape(quoted))
        at = found.end()
    return steps


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text
