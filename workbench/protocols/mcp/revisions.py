"""The revisions of the protocol: which messages each has, who may send them, and the form of every value in them.

``revisions.json`` is derived from the official schemas (``python -m tests.grammars.tool_servers``); each revision there
holds what differs from the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from workbench.config import resources
from workbench.ir import JsonValue
from workbench.protocols.grammars import (
    BEYOND_LIMIT,
    MISSING,
    NULL,
    UNKNOWN_KEY,
    UNKNOWN_VARIANT,
    BodyGrammar,
    ShapeFault,
)
from workbench.provenance import unescape
from workbench.wire import loads, quote

STATELESS = "2026-07-28"
"""First revision without ``initialize``: each request states version and capabilities."""

_RESULT, _ERROR = "result", "error"
_FAILURE = "#Failure"
_OF_TASK, _TASK = "tasks/result", "tools/call"
"""The result of a task has the form of the result of its request; clients make tasks of calls."""


class Method(NamedTuple):
    """A message that a revision has.

    Attributes:
        senders: ``"client"``, ``"server"`` or both.
        is_request: it is answered; else it is a notification.
    """

    senders: tuple[str, ...]
    is_request: bool


class Revision:
    """One revision.

    Args:
        name: its date.
        methods: as in the file.
        types: of the messages.
    """

    def __init__(self, name: str, methods: Mapping[str, Any], types: Mapping[str, Any]) -> None:
        self.name = name
        self.methods = methods
        self._grammar = BodyGrammar("", "", "", "", "", False, True, types)
        self._fits = _Fits(types)

    def method(self, name: str) -> Method | None:
        """What a method is; None if the revision does not have it."""
        found = self.methods.get(name)
        return Method(tuple(found["by"]), _RESULT in found) if found else None

    def faults(self, method: str, message: Mapping[str, JsonValue]) -> list[ShapeFault]:
        """Where a message, or a response to that method, differs from the revision.

        Members that no revision knows are free, but for names that a known one has in another spelling.
        """
        kinds = self.methods.get(method)
        if kinds is None:
            return []
        at, value, kind = "", message, kinds["type"]
        if _RESULT in message and method == _OF_TASK:
            return self.faults(_TASK, message)
        if _RESULT in message and _RESULT in kinds:
            at, value, kind = f"/{_RESULT}", message[_RESULT], kinds[_RESULT]
        elif _ERROR in message:
            kind = _FAILURE
        if self._fits.kind(kind)(value):
            return []
        return [fault for fault in self._grammar.faults(kind, value, at) if _is_told(fault, message)]


_PLAIN: Mapping[str, Callable[[JsonValue], bool]] = {
    "any": lambda value: True,
    "str": lambda value: isinstance(value, str),
    "num": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


class _Fits:
    """Tells in one pass whether a value is of a type: most messages are, and no fault has to be looked for.

    Args:
        types: as in the file.
    """

    def __init__(self, types: Mapping[str, Any]) -> None:
        self._types = types
        self._made: dict[str, Callable[[JsonValue], bool]] = {}

    def kind(self, kind: Any) -> Callable[[JsonValue], bool]:
        """The test of a type, made once."""
        key = kind if isinstance(kind, str) else repr(kind)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(kind)
        return found

    def _make(self, kind: Any) -> Callable[[JsonValue], bool]:
        if isinstance(kind, str):
            return self._object(kind[1:]) if kind[0] == "#" else _PLAIN[kind]
        word, arms = kind[0], kind[1:]
        if word == "=":
            return lambda value: any(value == known and type(value) is type(known) for known in arms)
        tests = [partial(self._fits_later, arm) if _is_object(arm) else self.kind(arm) for arm in arms]
        if word == "|":
            return lambda value: any(test(value) for test in tests)
        (inner,) = tests
        if word == "[]":
            return lambda value: isinstance(value, list) and all(map(inner, value))
        if arms[0] == "any":
            return lambda value: isinstance(value, dict)
        return lambda value: isinstance(value, dict) and all(map(inner, value.values()))

    def _fits_later(self, kind: str, value: JsonValue) -> bool:
        """The test of a type that may hold itself."""
        return self.kind(kind)(value)

    def _object(self, name: str) -> Callable[[JsonValue], bool]:
        raw = self._types[name]
        tests: dict[str, Callable[[JsonValue], bool]] = {}
        need, letters = raw.get("need", ()), frozenset(map(_letters, raw["keys"]))
        patterns = {key: re.compile(limits["pattern"]) for key, limits in raw.get("limits", {}).items()}

        def fits(value: JsonValue) -> bool:
            if not isinstance(value, dict):
                return False
            for key, inner in value.items():
                test = tests.get(key)
                if test is not None:
                    if not test(inner):
                        return False
                elif key not in raw["keys"]:
                    if _letters(key) in letters:
                        return False
                else:
                    test = tests[key] = self.kind(raw["keys"][key])
                    if not test(inner):
                        return False
            for key, pattern in patterns.items():
                inner = value.get(key)
                if isinstance(inner, str) and not pattern.fullmatch(inner):
                    return False
            return all(key in value or key in _ENVELOPE for key in need)

        return fits


_ENVELOPE = ("id", "jsonrpc")
"""Members of every message: what pairs messages judges them."""


def _is_object(kind: Any) -> bool:
    return isinstance(kind, str) and kind[0] == "#"


def _is_told(fault: ShapeFault, message: Mapping[str, JsonValue]) -> bool:
    """An unknown member is no fault, unless the one that it stands for is known and absent."""
    if fault.code == MISSING and fault.name in _ENVELOPE:
        return False
    if fault.code != UNKNOWN_KEY:
        return True
    spelling = _known_spelling(fault)
    parent = fault.pointer.rpartition("/")[0]
    return bool(spelling) and spelling not in _object_at(message, parent)


def _known_spelling(fault: ShapeFault) -> str:
    return next((name for name in fault.known if _letters(name) == _letters(fault.name) != ""), "")


@lru_cache(maxsize=4096)
def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _object_at(value: JsonValue, pointer: str) -> Mapping[str, JsonValue]:
    for step in pointer.split("/")[1:]:
        key = unescape(step)
        members = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list) else {}
        value = members.get(int(key) if isinstance(value, list) else key)
    return value if isinstance(value, dict) else {}


@cache
def revisions() -> Mapping[str, Revision]:
    """Every revision by its date, the oldest first."""
    read: Any = loads(resources.protocol_file("mcp", "revisions.json") or b"{}")
    types: dict[str, Any] = {}
    by_name = {}
    for name, each in read["revisions"].items():
        types = {key: kind for key, kind in {**types, **each["types"]}.items() if kind is not None}
        by_name[name] = Revision(name, each["methods"], types)
    return by_name


def newest_handshake() -> Revision:
    """The newest revision with ``initialize``: what a connection is held to that states none."""
    return [each for name, each in revisions().items() if name < STATELESS][-1]


class MessageFaults(NamedTuple):
    """Faults of a message.

    Attributes:
        revision: that it is held to.
        accepted_by: another revision that accepts it; empty if none does.
    """

    revision: str
    faults: Sequence[ShapeFault]
    accepted_by: str = ""

    def words(self) -> str:
        """The first fault in words."""
        fault = self.faults[0]
        more = f" ({len(self.faults):,} such places)" if len(self.faults) > 1 else ""
        return f"{_fault_words(fault)} in revision {self.revision}{more}"


def message_faults(method: str, message: Mapping[str, JsonValue], version: str) -> MessageFaults | None:
    """Where a message differs from its revision; None if it does not.

    Args:
        method: of the message, or of the request that it answers.
        version: that both sides agreed on; empty if that is unknown.
    """
    known = revisions()
    own = known.get(version) or newest_handshake()
    found = own.faults(method, message)
    if not found:
        return None
    accepts = next((name for name in _others(own.name) if _accepts(known[name], method, message)), "")
    return None if accepts and version not in known else MessageFaults(own.name, found, accepts)


def _accepts(revision: Revision, method: str, message: Mapping[str, JsonValue]) -> bool:
    return revision.method(method) is not None and not revision.faults(method, message)


def _others(name: str) -> Iterator[str]:
    return (other for other in reversed([*revisions()]) if other != name)


def _fault_words(fault: ShapeFault) -> str:
    known = ", ".join(map(repr, fault.known[:8]))
    if fault.code == MISSING:
        return f"{quote(fault.name)} is missing; every {_noun(fault)} must have it"
    if fault.code == UNKNOWN_KEY:
        return f"{quote(fault.name)} is unknown; the correct name is {_known_spelling(fault)!r}"
    if fault.code == NULL:
        return f"{quote(fault.name)} is null; leave it out if it has no value"
    if fault.code == UNKNOWN_VARIANT:
        return f"{quote(fault.name)} is not one of {known}"
    if fault.code == BEYOND_LIMIT:
        return f"{quote(fault.name)} is not a URI: it has no scheme"
    return f"{quote(fault.name or 'the value')} is not {fault.expected}"


def _noun(fault: ShapeFault) -> str:
    return fault.holder.partition(".")[0] or "message"


def is_known_method(name: str) -> bool:
    """Some revision has a message with this method."""
    return any(each.method(name) for each in revisions().values())


@cache
def namespaces() -> frozenset[str]:
    """First words of the methods of all revisions: ``tools``, ``notifications``, ``ping`` …."""
    return frozenset(name.partition("/")[0] for each in revisions().values() for name in each.methods)
