"""Exchanges rebuilt from a client's transcript, each body made when it is asked for.

A transcript holds a message once; the requests of a session of thousands of turns repeat it thousands of times. So a
history is a linked list that turns share, and a body is joined from it on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse, Summary, summarize
from workbench.wire.jsontext import dumps

NOT_WIRE = "rebuilt from a transcript: these are not the bytes of the wire"
MADE = {"made": "reconstructed: from what a client wrote down, so the bytes are not those of the wire"}
"""``Session.about`` of what is rebuilt."""

_TEXT = (b'{"type":"text","text":', b"}")


@dataclass(frozen=True, slots=True)
class Said:
    """One entry of a history.

    Attributes:
        results: JSON of each result block.
        blocks: JSON of each other content block.
        text: JSON of the content where it is one plain string; there are no blocks then.
    """

    role: str
    results: tuple[bytes, ...] = ()
    blocks: tuple[bytes, ...] = ()
    text: bytes = b""

    def as_blocks(self) -> tuple[bytes, ...]:
        """The blocks that are no results; plain text as the block it stands for."""
        return (self.text.join(_TEXT),) if self.text else self.blocks

    def is_empty(self) -> bool:
        return not (self.results or self.blocks or self.text)


@dataclass(frozen=True, slots=True)
class History:
    """Everything said up to and including ``said``.

    Attributes:
        settled: bytes of the messages before the one that ``said`` is in, commas included.
        blocks: bytes of that message's content blocks so far, commas included.
        is_alone: nothing else is in that message so far.
    """

    said: Said
    before: History | None
    settled: int
    blocks: int
    is_alone: bool

    @property
    def size(self) -> int:
        """Bytes of ``messages()``, without making them."""
        is_plain = self.is_alone and self.said.text
        content = len(self.said.text) if is_plain else len("[]") + self.blocks
        return self.settled + len(_message(self.said.role, b"")) + content

    def messages(self, made: Made | None = None) -> bytes:
        """The elements of the ``messages`` array, as compact JSON; ``made`` may hold the first of them."""
        held: list[Said] = []
        node: History | None = self
        while node:
            held.append(node.said)
            if made and node.is_alone and node.before is made.history:
                return b",".join((made.messages, *_encoded(reversed(held))))
            node = node.before
        return b",".join(_encoded(reversed(held)))


class Made(NamedTuple):
    """Messages that were asked for before: the next turn's begin with them."""

    history: History
    messages: bytes


def extend(history: History | None, said: Said) -> History | None:
    """A history with one more entry. What a user says in a row is one message, as the API counts turns."""
    if said.is_empty():
        return history
    held = (*said.results, *said.as_blocks())
    size = sum(map(len, held)) + len(held) - 1
    if history and said.role == "user" == history.said.role:
        return History(said, history, history.settled, history.blocks + 1 + size, is_alone=False)
    return History(said, history, history.size + 1 if history else 0, size, is_alone=True)


def _encoded(entries: Iterable[Said]) -> Iterator[bytes]:
    for role, grouped in groupby(entries, key=lambda said: said.role):
        if role == "user":
            yield _message(role, _content(list(grouped)))
        else:
            yield from (_message(role, _content([said])) for said in grouped)


def _content(joined: Sequence[Said]) -> bytes:
    """Results stand before anything else, as clients send them and the API wants them."""
    if len(joined) == 1 and joined[0].text:
        return joined[0].text
    results = [block for said in joined for block in said.results]
    return b"[" + b",".join((*results, *(block for said in joined for block in said.as_blocks()))) + b"]"


def _message(role: str, content: bytes) -> bytes:
    return b'{"role":"' + role.encode() + b'","content":' + content + b"}"


@dataclass(frozen=True, slots=True)
class Turn:
    """An exchange to be made.

    Attributes:
        position: place in the transcript, to sort by.
        like: the exchange without its two sides.
        response: JSON of the answer; None where there is none.
    """

    position: int
    like: Exchange
    history: History | None
    model: str | None = None
    response: bytes | None = None
    status: int = 200

    def request_size(self) -> int:
        """Bytes of ``request_body()``, without making it."""
        return len(self._before()) + (self.history.size if self.history else 0) + len("]}")

    def request_body(self, messages: bytes) -> bytes:
        """The request as far as the transcript knows it: model and messages."""
        return b"".join((self._before(), messages, b"]}"))

    def _before(self) -> bytes:
        model = b'"model":' + dumps(self.model) + b"," if self.model else b""
        return b"{" + model + b'"messages":['


class RebuiltSession:
    """A session of turns. ``url`` is the path of the API whose form the bodies have."""

    def __init__(self, name: str, turns: Iterable[Turn], *, url: str, damage: tuple[str, ...], title: str) -> None:
        self.name = name
        self.id = ""
        self.damage = damage
        self.about = MADE
        self.is_live = False
        self.format = title
        self._url = url
        self._turns = tuple(turns)
        self._summaries: tuple[Summary, ...] = ()
        self._made: Made | None = None

    def __len__(self) -> int:
        return len(self._turns)

    def summaries(self) -> Sequence[Summary]:
        if not self._summaries:
            self._summaries = tuple(self._rows())
        return self._summaries

    def _rows(self) -> Iterator[Summary]:
        for index, turn in enumerate(self._turns):
            row = summarize(index, self._exchange(turn, b""), turn.model)
            yield replace(row, request_bytes=turn.request_size())

    def exchange(self, index: int) -> Exchange:
        turn = self._turns[index]
        messages = turn.history.messages(self._made) if turn.history else b""
        if turn.history:
            self._made = Made(turn.history, messages)
        return self._exchange(turn, turn.request_body(messages))

    def _exchange(self, turn: Turn, request: bytes) -> Exchange:
        answer = None if turn.response is None else HttpResponse(status=turn.status, body=_not_wire(turn.response))
        return replace(turn.like, request=HttpRequest(url=self._url, body=_not_wire(request)), response=answer)

    def refresh(self) -> frozenset[int]:
        """A transcript is read once."""
        return frozenset()

    def close(self) -> None:
        """Nothing to close."""


def _not_wire(raw: bytes) -> Body:
    return Body(raw, is_raw=False, note=NOT_WIRE)
