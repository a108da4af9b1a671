"""An upstream's answer as the client gets it, piece by piece, and what of it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from workbench import adapters
from workbench.bridge import elsewhere
from workbench.bridge.asking import Turn
from workbench.bridge.changes import CONVERSION, ID, LOSS, NOTE, Change
from workbench.bridge.memory import Kept, Memory, content_of
from workbench.bridge.signing import Signer, named, parsed, signed
from workbench.conversion import Converted, response_as
from workbench.conversion.normal import normal_response, rebased
from workbench.decode import Decoded
from workbench.ir import ModelResponse, ToolCallIR
from workbench.wire.exchange import Body, Exchange, Headers, HttpResponse, State

_CARRIED = (
    "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id", "x-workbench-relay", "date",
)  # fmt: skip
"""Headers of an answer that mean the same in every protocol."""

_STREAM = "text/event-stream"


class Head(NamedTuple):
    """Status and headers of an answer; without the length of its body."""

    status: int
    headers: tuple[tuple[str, str], ...]


class Answer:
    """One answer on its way back.

    Args:
        turn: what it answers.
        status, headers: of the upstream's answer.
        memory: keeps it.
        name: of this answer, letters and digits; never used again.

    Attributes:
        head: what the client gets; None until all of the upstream's answer is there.
        changes: what was done to it.
    """

    def __init__(self, turn: Turn, status: int, headers: Headers, memory: Memory, name: str) -> None:
        self.head: Head | None = None
        self.changes: list[Change] = []
        self._turn, self._status, self._headers = turn, status, headers
        self._memory, self._name = memory, name
        self._came = bytearray()
        if turn.is_plain:
            self.head = Head(status, tuple(headers))

    def feed(self, data: bytes) -> bytes:
        """A piece of the upstream's body came; what the client gets now."""
        if self._turn.is_plain:
            return data
        self._came += data
        return b""

    def end(self, is_whole: bool = True) -> bytes:
        """The upstream's answer is over; the rest of the client's. ``is_whole``: it was not broken off."""
        if self._turn.is_plain:
            return b""
        turn = self._turn
        encoding = self._headers.get("content-encoding") or ""
        http = HttpResponse(self._status, self._headers, Body(bytes(self._came), encoding))
        state = State.COMPLETE if is_whole else State.ABORTED
        decoded = Decoded(0, Exchange("upstream", None, http, state), turn.spoken)
        response = decoded.response
        if response is None or (response.error and not response.messages):
            return self._failed(decoded, response)
        made = self._converted(response)
        self.head = self._head(_STREAM if turn.is_stream else made.content_type)
        return made.body

    def _converted(self, response: ModelResponse) -> Converted:
        turn = self._turn
        if turn.parser:
            response, changes = parsed(response, turn.parser, turn.tools)
            self.changes += changes
        adapter = adapters.get(turn.client)
        signer = Signer(self._name, adapter.capabilities)
        whole = replace(response, is_stream=turn.is_stream)
        ready = signed(_named(whole, self._name), signer)
        made = response_as(ready, adapter)
        self.changes += [*signer.changes, *_told(turn, made)]
        self._keep(response, made)
        return made

    def _keep(self, response: ModelResponse, made: Converted) -> None:
        """Remember what the upstream said, under what the client has of it."""
        assert isinstance(made.meant, ModelResponse)
        if not (said := normal_response(response).response.messages) or not made.meant.messages:
            return
        own = rebased(said[0])
        client = made.meant.messages[0].parts
        calls = [p.id for p in client if isinstance(p, ToolCallIR) and p.id]
        theirs = [p.id for p in own if isinstance(p, ToolCallIR) and not p.is_server]
        ids = dict(zip(calls, theirs, strict=False))
        self._memory.keep(Kept(self._name, own, ids, content_of(client), self._turn.context))

    def _failed(self, decoded: Decoded, response: ModelResponse | None) -> bytes:
        """An error, or what nobody can read, in the client's words and with the upstream's status."""
        turn = self._turn
        status = self._status if self._status >= 400 else 502
        self.head = self._head("application/json", status)
        if response is not None and response.error:
            self.changes.append(Change(CONVERSION, f"the error from {turn.spoken} to {turn.client}"))
            return elsewhere.error_body(turn.client, status, "", response.error)
        words = decoded.response_text.decode("utf-8", "replace").strip()[:500]
        why = words or "; ".join(p.message for p in decoded.problems) or "the upstream's answer is empty"
        self.changes.append(Change(NOTE, "the upstream's answer is none of its protocol"))
        return elsewhere.error_body(turn.client, status, why)

    def _head(self, content_type: str, status: int = 0) -> Head:
        carried = [(name, value) for name, value in self._headers if name.lower() in _CARRIED]
        return Head(status or self._status, (("content-type", content_type), *carried))


def _named(response: ModelResponse, name: str) -> ModelResponse:
    count = iter(range(10_000))
    messages = tuple(
        replace(m, parts=tuple(named(p, name, next(count)) if isinstance(p, ToolCallIR) else p for p in m.parts))
        for m in response.messages
    )
    return replace(response, messages=messages)


def _told(turn: Turn, made: Converted) -> list[Change]:
    told = [Change(CONVERSION, f"the answer from {turn.spoken} to {turn.client}")] if turn.client != turn.spoken else []
    told += [Change(ID, f"{old} is given as {new}") for new, old in made.ids.items()]
    told += [Change(LOSS, f"{loss.pointer or '/'} of the answer: {loss.what}: {loss.instead}") for loss in made.losses]
    return told
