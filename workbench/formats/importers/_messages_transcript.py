"""Reconstructs Messages API exchanges from a client's transcript; each body is built on demand.

A transcript has each message once; the requests of a session with thousands of turns repeat it thousands of times. So a
history is a linked list that turns share, and a body is joined from it on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import Body, Exchange, HttpRequest, HttpResponse, Summary, dumps, summarize

NOT_WIRE = "reconstructed from a transcript; not the original bytes"
RECONSTRUCTED = {"made": "reconstructed: from a client's transcript; not the original bytes"}
"""``Session.about`` of a reconstructed session."""

_TEXT = (b'{"type":"text","text":', b"}")


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of a history.

    Attributes:
        results: JSON of each result block.
        blocks: JSON of each other content block.
        text: JSON of the content if it is one plain string; there are no blocks then.
    """

    role: str
    results: tuple[bytes, ...] = ()
    blocks: tuple[bytes, ...] = ()
    text: bytes = b""

    def as_blocks(self) -> tuple[bytes, ...]:
        """Blocks other than results; plain text as a text block."""
        return (self.text.join(_TEXT),) if self.text else self.blocks

    def is_empty(self) -> bool:
        return not (self.results or self.blocks or self.text)


@dataclass(frozen=True, slots=True)
class MessagesHistory:
    """All messages up to and including ``entry``.

    Attributes:
        earlier_bytes: bytes of the messages before the one that contains ``entry``, including commas.
        blocks: bytes of that message's content blocks so far, including commas.
        is_alone: that message contains nothing else so far.
    """

    entry: HistoryEntry
    before: MessagesHistory | None
    earlier_bytes: int
    blocks: int
    is_alone: bool

    @property
    def size(self) -> int:
        """Length of ``messages()`` in bytes, without building them."""
        is_plain = self.is_alone and self.entry.text
        content = len(self.entry.text) if is_plain else len("[]") + self.blocks
        return self.earlier_bytes + len(_message(self.entry.role, b"")) + content

    def messages(self, cached_messages: CachedMessages | None = None) -> bytes:
        """Elements of the ``messages`` array as compact JSON; ``cached_messages`` may contain the first of them."""
        entries: list[HistoryEntry] = []
        node: MessagesHistory | None = self
        while node:
            entries.append(node.entry)
            if cached_messages and node.is_alone and node.before is cached_messages.history:
                return b",".join((cached_messages.messages, *_encode(reversed(entries))))
            node = node.before
        return b",".join(_encode(reversed(entries)))


class CachedMessages(NamedTuple):
    """Cached messages: those of the next turn start with them."""

    history: MessagesHistory
    messages: bytes


def extend(history: MessagesHistory | None, history_entry: HistoryEntry) -> MessagesHistory | None:
    """A history with one more entry. Consecutive user content is one message, as the API counts turns."""
    if history_entry.is_empty():
        return history
    blocks = (*history_entry.results, *history_entry.as_blocks())
    size = sum(map(len, blocks)) + len(blocks) - 1
    if history and history_entry.role == "user" == history.entry.role:
        return MessagesHistory(history_entry, history, history.earlier_bytes, history.blocks + 1 + size, is_alone=False)
    return MessagesHistory(history_entry, history, history.size + 1 if history else 0, size, is_alone=True)


def _encode(entries: Iterable[HistoryEntry]) -> Iterator[bytes]:
    for role, grouped in groupby(entries, key=lambda entry: entry.role):
        if role == "user":
            yield _message(role, _content(list(grouped)))
        else:
            yield from (_message(role, _content([entry])) for entry in grouped)


def _content(entries: Sequence[HistoryEntry]) -> bytes:
    """Tool results come before other content, as clients send them and the API requires."""
    if len(entries) == 1 and entries[0].text:
        return entries[0].text
    results = [block for entry in entries for block in entry.results]
    return b"[" + b",".join((*results, *(block for entry in entries for block in entry.as_blocks()))) + b"]"


def _message(role: str, content: bytes) -> bytes:
    return b'{"role":"' + role.encode() + b'","content":' + content + b"}"


@dataclass(frozen=True, slots=True)
class MessagesTurn:
    """An exchange to be built.

    Attributes:
        position: line in the transcript, for sorting.
        like: the exchange without its two sides.
        response: JSON of the response; None if there is none.
    """

    position: int
    like: Exchange
    history: MessagesHistory | None
    model: str | None = None
    response: bytes | None = None
    status: int = 200

    def request_size(self) -> int:
        """Length of ``request_body()`` in bytes, without building it."""
        return len(self._before()) + (self.history.size if self.history else 0) + len("]}")

    def request_body(self, messages: bytes) -> bytes:
        """The request as far as the transcript knows it: model and messages."""
        return b"".join((self._before(), messages, b"]}"))

    def _before(self) -> bytes:
        model = b'"model":' + dumps(self.model) + b"," if self.model else b""
        return b"{" + model + b'"messages":['


class MessagesSession:
    """A session of turns. ``url`` is the path of the API that the bodies belong to."""

    def __init__(
        self, name: str, turns: Iterable[MessagesTurn], *, url: str, damage: tuple[str, ...], title: str
    ) -> None:
        self.name = name
        self.id = ""
        self.damage = damage
        self.about = RECONSTRUCTED
        self.is_live = False
        self.format = title
        self._url = url
        self._turns = tuple(turns)
        self._summaries: tuple[Summary, ...] = ()
        self._cache: CachedMessages | None = None

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
        messages = turn.history.messages(self._cache) if turn.history else b""
        if turn.history:
            self._cache = CachedMessages(turn.history, messages)
        return self._exchange(turn, turn.request_body(messages))

    def _exchange(self, turn: MessagesTurn, request: bytes) -> Exchange:
        answer = None if turn.response is None else HttpResponse(status=turn.status, body=_rebuilt_body(turn.response))
        return replace(turn.like, request=HttpRequest(url=self._url, body=_rebuilt_body(request)), response=answer)

    def refresh(self) -> frozenset[int]:
        """Return an empty set: a transcript is read once."""
        return frozenset()

    def close(self) -> None:
        """Nothing to close."""


def _rebuilt_body(raw: bytes) -> Body:
    return Body(raw, is_raw=False, note=NOT_WIRE)
