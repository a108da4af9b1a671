"""Facts about a whole connection, in addition to its turns, and their number: bounded, however long it lives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.named_tuple import NamedTuple

_MOST_FORMS = 8
"""Forms of facts of one rule that are listed; the rest is counted."""

_MOST_FRAMES = 8
"""Messages that a fact names."""

_VARIABLE = regex.compile(r"'[^']*'|\"[^\"]*\"|\d+")
"""A quoted name, or a number: facts that differ only in numbers have one form."""


class SocketFact(NamedTuple):
    """Facts about a whole connection, in addition to its turns.

    Attributes:
        rule: slug of the rule that it breaks.
        message: what is wrong.
        frames: numbers of the messages that show it, from zero.
        is_of_client: the client did it.
        is_harmless: nothing is lost by it: a warning.
        is_of_end: it is about what did not come: as long as the connection is open, it may still come.
    """

    rule: str
    message: str
    frames: tuple[int, ...]
    is_of_client: bool = True
    is_harmless: bool = False
    is_of_end: bool = False


class Resumption(NamedTuple):
    """A session that a later connection may continue, as one connection shows it.

    Attributes:
        number: message that opens the session, from zero.
        session: what the client states of it; equal for connections of one session.
        is_wanted: the client asks for handles.
        handle: that of the session which it continues; empty for a new one.
        newest: the last handle that the server sent; empty if none can be resumed from.
    """

    number: int
    session: str
    is_wanted: bool
    handle: str = ""
    newest: str = ""


class HeldConversation(NamedTuple):
    """A conversation that the server holds as long as its connection lives: no handle continues it.

    Attributes:
        number: message with the first input, from zero.
        session: what the client states of it; equal for connections of one agent.
        is_answered: a response of it is complete.
        is_carried: the client put items of an earlier one into it.
        at: time of its newest message.
    """

    number: int
    session: str
    is_answered: bool
    is_carried: bool
    at: float


def limit_number(facts: Iterable[SocketFact]) -> Iterator[SocketFact]:
    """The facts, with those of one form as one with its count and its last message.

    A form is a rule with the words of its message without numbers. Of each rule the first eight forms are listed, and
    one more fact counts the others.
    """
    forms: dict[tuple[object, ...], list[SocketFact]] = {}
    for fact in facts:
        words = _VARIABLE.sub(_without_number, fact.message)
        forms.setdefault((*fact._replace(message=words, frames=()),), []).append(fact)
    others: dict[tuple[object, ...], list[SocketFact]] = {}
    listed: dict[tuple[object, ...], int] = {}
    for (rule, _, _, *rest), found in forms.items():
        kind = (rule, *rest)
        listed[kind] = listed.get(kind, 0) + 1
        if listed[kind] <= _MOST_FORMS:
            yield _join(found)
        else:
            others.setdefault(kind, []).extend(found)
    for found in others.values():
        last = max((fact.frames[-1] for fact in found if fact.frames), default=-1)
        text = (
            f"{len(found):,} more findings of this kind, the last on message {last + 1}; the first: {found[0].message}"
        )
        yield found[0]._replace(message=text, frames=_frames(found))


def add_count(text: str, count: int, last: int) -> str:
    """The words of a fact that holds more than once: how often, and the last message (from zero; -1 for none)."""
    place = f", the last on message {last + 1}" if last >= 0 else ""
    return text if count == 1 else f"{text} ({count:,} times{place})"


def _join(found: list[SocketFact]) -> SocketFact:
    """One fact for those of a form, in the words of the first."""
    last = found[-1].frames[-1] if found[-1].frames else -1
    return found[0]._replace(message=add_count(found[0].message, len(found), last), frames=_frames(found))


def _frames(found: list[SocketFact]) -> tuple[int, ...]:
    numbers = dict.fromkeys(number for fact in found[:_MOST_FRAMES] for number in fact.frames)
    return tuple(numbers)[:_MOST_FRAMES]


def _without_number(found: re.Match[str]) -> str:
    return "" if found[0].isdecimal() else found[0]
