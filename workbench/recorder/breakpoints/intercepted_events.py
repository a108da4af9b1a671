"""What is told of an exchange that may be paused: the client's own, and what went upstream where that is another.

The exchange of the client is what the client sent and what it got. Where something else went to the upstream, or came
from it, that is an exchange of its own: a child, at a place of its own, so that the two are compared as any two hops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from workbench.ir import NOTHING
from workbench.limits import MAX_HELD_REQUEST
from workbench.recorder.events import RequestHead, ResponseHead
from workbench.recorder.listener import Teller
from workbench.wire.digests import Passed
from workbench.wire.exchange import State

BEHIND = "behind the breakpoint"
"""The place where a child was recorded, behind the name of the client's."""


def behind(hop: str) -> str:
    """The place behind the breakpoints of this one."""
    return f"{hop}, {BEHIND}" if hop else BEHIND


class Timed(NamedTuple):
    """A piece of a body, and when it came."""

    data: bytes
    at: float


class Ended(NamedTuple):
    """How the exchange with the upstream ended."""

    state: State
    why: str
    at: float
    passed: Mapping[str, Passed]


class Own:
    """The exchange of the client, told as it goes.

    Attributes:
        key: its key.
        asked: its request body; nothing of one that is too long to be held.
        asked_bytes: its length.
    """

    def __init__(self, teller: Teller, upstream: str, head: RequestHead, at: float) -> None:
        self.key = teller.new_key()
        self.head = head
        self.asked: list[Timed] = []
        self.asked_bytes = 0
        self.began_at = at
        self._teller, self._upstream = teller, upstream
        teller.tell(teller.tap.began, self.key, upstream, head, at)

    def request_bytes(self, piece: bytes, at: float) -> None:
        """A piece of the request came."""
        self.asked_bytes += len(piece)
        self.asked.append(Timed(piece, at))
        if self.asked_bytes > MAX_HELD_REQUEST:
            self.asked.clear()
        self._teller.tell(self._teller.tap.request_bytes, self.key, piece, at)

    def request_done(self, at: float) -> None:
        """The request is whole."""
        self._teller.tell(self._teller.tap.request_done, self.key, at)

    def answered(self, head: ResponseHead, at: float) -> None:
        """The head of what the client gets."""
        self._teller.tell(self._teller.tap.answered, self.key, head, at)

    def response_bytes(self, piece: bytes, at: float) -> None:
        """A piece of what the client gets."""
        self._teller.tell(self._teller.tap.response_bytes, self.key, piece, at)

    def ended(self, state: State, why: str, at: float, passed: Mapping[str, Passed] = NOTHING) -> None:
        """It is over."""
        self._teller.tell(self._teller.tap.ended, self.key, state, why, at, passed)

    def child(self, branch: str) -> Child:
        """The exchange with the upstream, where it is another one."""
        return Child(self._teller, self._upstream, self, branch)


class Child:
    """An exchange with the upstream that is not the client's."""

    def __init__(self, teller: Teller, upstream: str, own: Own, branch: str) -> None:
        self._teller, self._tap, self.key = teller, teller.tap, teller.new_key()
        self._upstream, self._own, self._branch = upstream, own, branch

    def began(self, head: RequestHead, at: float) -> None:
        made = replace(head, hop=behind(self._own.head.hop), parent=self._own.key, branch=self._branch)
        self._teller.tell(self._tap.began, self.key, self._upstream, made, at)

    def request_bytes(self, piece: bytes, at: float) -> None:
        self._teller.tell(self._tap.request_bytes, self.key, piece, at)

    def request_done(self, at: float) -> None:
        self._teller.tell(self._tap.request_done, self.key, at)

    def answered(self, head: ResponseHead, at: float) -> None:
        self._teller.tell(self._tap.answered, self.key, head, at)

    def response_bytes(self, piece: bytes, at: float) -> None:
        self._teller.tell(self._tap.response_bytes, self.key, piece, at)

    def ended(self, end: Ended) -> None:
        self._teller.tell(self._tap.ended, self.key, end.state, end.why, end.at, end.passed)

    def replay(self, head: ResponseHead, pieces: list[Timed], end: Ended) -> None:
        """All of it at once, with the client's request, which went as it was."""
        own = self._own
        self.began(own.head, own.began_at)
        for piece in own.asked:
            self.request_bytes(*piece)
        self.request_done(own.asked[-1].at if own.asked else own.began_at)
        self.answered(head, pieces[0].at if pieces else end.at)
        for piece in pieces:
            self.response_bytes(*piece)
        self.ended(end)


class Ear:
    """The tap of the ``Forward`` inside: sorts what it hears.

    Args:
        own: the exchange of the client.
        heard: is told the head of the answer before anybody else.
        child: what went upstream instead, None where the client's request does.

    Attributes:
        answer: head of the upstream's answer, once it is there.
        end: how it ended, once it has.
        passes: the answer goes to the client as it comes, and is told so.
        skips: bytes of the request that were told of the client's exchange already.
        is_asked: that it is whole was told already.
    """

    def __init__(self, own: Own, heard: Callable[[ResponseHead], None], child: Child | None = None) -> None:
        self.answer: ResponseHead | None = None
        self.end: Ended | None = None
        self.passes = True
        self.skips = 0
        self.is_asked = False
        self._own, self._heard, self._child = own, heard, child

    def began(self, key: int, upstream: str, request: RequestHead, at: float) -> None:
        if self._child:
            self._child.began(request, at)

    def request_bytes(self, key: int, data: bytes, at: float) -> None:
        if self._child:
            self._child.request_bytes(data, at)
            return
        fresh = data[self.skips :]
        self.skips -= len(data) - len(fresh)
        if fresh:
            self._own.request_bytes(fresh, at)

    def request_done(self, key: int, at: float) -> None:
        if self._child:
            self._child.request_done(at)
        elif not self.is_asked:
            self._own.request_done(at)

    def answered(self, key: int, response: ResponseHead, at: float) -> None:
        self.answer = response
        if self._child:
            self._child.answered(response, at)
        self._heard(response)
        if self.passes:
            self._own.answered(response, at)

    def response_bytes(self, key: int, data: bytes, at: float) -> None:
        if self._child:
            self._child.response_bytes(data, at)
        if self.passes:
            self._own.response_bytes(data, at)

    def ended(self, key: int, state: State, why: str, at: float, passed: Mapping[str, Passed] = NOTHING) -> None:
        self.end = Ended(state, why, at, passed)
        if self._child:
            self._child.ended(self.end)
