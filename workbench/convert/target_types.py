"""Losses by the grammar of the target: keys that none of its types has, and values that it does not accept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from workbench.convert.losses import Loss, LossReport, UnknownKeyLoss
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.protocols import grammars
from workbench.provenance import escape
from workbench.wire import loads

NO_SUCH_KEY = "left out: the target has no such field"
LARGEST = 1_000_000
"""Bytes of a new body that is held to its grammar."""

_VALUES = (grammars.WRONG_VALUE, grammars.BEYOND_LIMIT)


def by_types(losses: Iterable[Loss], target: str, before: bytes, after: bytes) -> tuple[Loss, ...]:
    """The losses of a request, those named whose key the target does not know, and the values that it does not accept.

    Args:
        target: name of a protocol; without a grammar nothing changes.
        before, after: the body that was read, and the one that was written.
    """
    grammar = grammars.grammar_of(target)
    if grammar is None:
        return tuple(losses)
    report, known = LossReport(), _names(target)
    for loss in losses:
        is_known = not isinstance(loss, UnknownKeyLoss) or _plain(loss.pointer.rpartition("/")[2]) in known
        report.add(loss if is_known else Loss(loss.pointer, loss.what, NO_SUCH_KEY))
    for loss in _values(grammar, before, after) if len(after) <= LARGEST else ():
        report.add(loss)
    return report.losses()


def _values(grammar: grammars.BodyGrammar, before: bytes, after: bytes) -> Iterator[Loss]:
    """Parameters that were written as they are, though the types of the target do not accept their value."""
    try:
        old, new = loads(before), loads(after)
    except WireError:
        return
    if not isinstance(old, Mapping) or not isinstance(new, dict):
        return
    names = {_plain(key): key for key in old}
    for fault in grammar.faults(f"#{grammar.request}", _parameters(new)):
        key = names.get(_plain(fault.name))
        if fault.code in _VALUES and key is not None and isinstance(old[key], str | int | float):
            what = f"the value {old[key]!r:.60} of {key!r:.80}"
            instead = f"written unchanged; the target's types accept: {fault.expected}"
            yield Loss(f"/{escape(key)}", what, instead)


def _parameters(body: Mapping[str, JsonValue]) -> JsonValue:
    """A body without its conversation and its tools: they are written again."""
    return {key: value for key, value in body.items() if not isinstance(value, list)}


@cache
def _names(target: str) -> frozenset[str]:
    """Keys of all types of the target."""
    grammar = grammars.grammar_of(target)
    return frozenset(_plain(key) for each in grammar.types.values() for key in each["keys"]) if grammar else frozenset()


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
