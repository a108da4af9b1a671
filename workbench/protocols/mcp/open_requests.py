"""Requests of both sides that have no response yet, and what they ask for together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.ir import NOTHING, JsonValue
from workbench.protocols.mcp.catalogue import LOG_LEVEL
from workbench.protocols.mcp.revisions import STATELESS
from workbench.undo_log import Journal

CLIENT, SERVER = "client", "server"
VERSION = "io.modelcontextprotocol/protocolVersion"

RequestKey = tuple[str, str]
"""The side that sent a request, and its id as ``repr`` gives it."""

_MOST = 256
"""Cancelled requests that are remembered, and tokens whose progress may still be under way."""


class OpenRequest(NamedTuple):
    """A request that has no response yet, or whose task is not over.

    Attributes:
        token: of its progress; None without one.
        place: of its message.
        is_cancelled: its sender no longer waits, but a response may be under way.
    """

    method: str
    token: JsonValue
    place: int
    params: Mapping[str, JsonValue] = NOTHING
    is_cancelled: bool = False

    def marks(self, side: str) -> Iterator[tuple[str, str]]:
        """What is counted of it: its token, and for a request of the stateless revision its version and its wishes."""
        if self.token is not None:
            yield side, repr(self.token)
        if side == CLIENT:
            if is_stateless(self.params):
                yield VERSION, version_in(self.params) or ""
            if LOG_LEVEL in _meta(self.params):
                yield LOG_LEVEL, ""


class OpenRequests:
    """The open requests of a connection.

    Args:
        journal: takes back what was learned from messages that are read again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._open: dict[RequestKey, OpenRequest] = {}
        self._cancelled: dict[RequestKey, None] = {}
        self._marks: dict[tuple[str, str], int] = {}  # number of open requests with each mark
        self._versions: dict[str, None] = {}
        self._late: dict[tuple[str, str], None] = {}

    def __contains__(self, key: RequestKey) -> bool:
        return key in self._open

    def get(self, key: RequestKey) -> OpenRequest | None:
        """The request with this key; None if none is open."""
        return self._open.get(key)

    def items(self) -> Iterator[tuple[RequestKey, OpenRequest]]:
        """All of them, the oldest first."""
        yield from self._open.items()

    @property
    def version(self) -> str:
        """The newest version of the stateless revisions that one states; empty if none does."""
        return max(self._versions, default="")

    @property
    def is_log_wanted(self) -> bool:
        """One asks for log messages, as a request of the stateless revision does."""
        return (LOG_LEVEL, "") in self._marks

    def has_token(self, side: str, token: str) -> bool:
        """One of a side has this token of progress, which is as ``repr`` gives it."""
        return (side, token) in self._marks

    def is_late(self, side: str, token: str) -> bool:
        """A request with this token was cancelled, or its task is over: its last progress may still be under way."""
        return (side, token) in self._late

    def begin(self, key: RequestKey, request: OpenRequest) -> None:
        """A request is open from now on."""
        self.end(key)
        self._journal.put(self._open, key, request)
        for mark in request.marks(key[0]):
            self._journal.put(self._marks, mark, self._marks.get(mark, 0) + 1)
            if mark[0] == VERSION:
                self._journal.put(self._versions, mark[1], None)

    def end(self, key: RequestKey) -> OpenRequest | None:
        """The request with this key, which is no longer open; None if there is none."""
        request = self._journal.pop(self._open, key)
        self._journal.pop(self._cancelled, key)
        for mark in request.marks(key[0]) if request else ():
            if number := self._marks[mark] - 1:
                self._journal.put(self._marks, mark, number)
                continue
            self._journal.pop(self._marks, mark)
            if mark[0] == VERSION:
                self._journal.pop(self._versions, mark[1])
        return request

    def end_late(self, key: RequestKey) -> OpenRequest | None:
        """As ``end``, for a request whose last progress may still be under way."""
        request = self.end(key)
        if request is not None and request.token is not None:
            self._journal.put(self._late, (key[0], repr(request.token)), None)
            if len(self._late) > _MOST:
                self._journal.pop(self._late, next(iter(self._late)))
        return request

    def cancel(self, key: RequestKey) -> OpenRequest | None:
        """The request, which stays open without its token."""
        request = self.end_late(key)
        if request is not None:
            self.begin(key, request._replace(token=None, is_cancelled=True))
            self._journal.put(self._cancelled, key, None)
        if len(self._cancelled) > _MOST:
            self.end(next(iter(self._cancelled)))
        return request


def token_in(params: Mapping[str, JsonValue]) -> JsonValue:
    """The token of progress in the parameters of a request; None without one."""
    return _meta(params).get("progressToken")


def version_in(params: Mapping[str, JsonValue]) -> str | None:
    """The version that a request states in ``_meta``; None if it states none."""
    version = _meta(params).get(VERSION)
    return version if isinstance(version, str) else None


def is_stateless(params: Mapping[str, JsonValue]) -> bool:
    """A request states a stateless revision."""
    return (version_in(params) or "") >= STATELESS


def _meta(params: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    found = params.get("_meta")
    return found if isinstance(found, dict) else NOTHING
