"""Templates of a protocol for the plain requests and responses that every audit needs.

``@MARK@`` is the words by which the request is known, ``@MODEL@`` the model. The text is kept as it is written here: an
audit looks at bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from workbench.ir import NOTHING
from workbench.lazy_dataclass import dataclass
from workbench.recorder.audit.case import (
    AuditCase,
    CaseRequest,
    CaseResponse,
    Pairs,
    ResponseEnd,
    ResponseFraming,
    Theme,
    mark,
)
from workbench.wire import loads

STREAM_TYPE: Pairs = (("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"))

LOOK = '{"type":"object","properties":{"q":{"type":"string"}}}'


@dataclass(frozen=True, slots=True)
class Speech:
    """One protocol.

    Attributes:
        path, stream_path: of a request, with ``@MODEL@`` where the path names it.
        ask: a request of one user's text: ``@TEXT@`` (a JSON string), ``@MORE@`` (members to add), ``@STREAM@``.
        stream: the members that ask for a stream.
        called: a request after one call: ``@ID@``, ``@ARGS@`` (JSON) or ``@ARGTEXT@`` (that JSON as a string),
            ``@RESULT@`` (a JSON string), ``@TEXT@``, ``@MORE@``.
        parallel: the same after two calls at once, ``@ID@1`` and ``@ID@2``.
        tool: one tool: ``@SCHEMA@``, ``@IN@`` (members to add).
        tools: the member that holds ``@TOOLS@``.
        whole: an answer: ``@TEXT@``, ``@MORE@``.
        opening, closing: events of a streamed response before and after its texts.
        delta: an event with a piece of text, ``@TEXT@``.
        arguments: events of a streamed call, its argument text in ``@PIECE@`` events; () where none are streamed.
        error: a refusal: ``@TYPE@``, ``@TEXT@``.
        broken: the event of an error in a stream.
        unknown: an event of an unknown type.
        odd_ids: unusual call ids that the provider accepts.
        query: a path with a query, legal there.
        listing: a path that lists models.
        headers: sent with every request.
        answer_headers: headers of the provider's responses.
    """

    protocol: str
    model: str
    path: str
    stream_path: str
    ask: str
    stream: str
    called: str
    parallel: str
    tool: str
    tools: str
    whole: str
    opening: tuple[str, ...]
    delta: str
    closing: tuple[str, ...]
    arguments: tuple[str, ...]
    error: str
    broken: str
    unknown: str
    odd_ids: tuple[str, ...]
    query: str
    listing: str
    headers: Pairs
    answer_headers: Pairs

    def text(self, template: str, name: str, values: dict[str, str]) -> str:
        """A template filled."""
        given = {
            "TEXT": '"@MARK@ hello"',
            "MORE": "",
            "STREAM": "",
            "ID": self.odd_ids[0],
            "ARGS": '{"q":"x"}',
            "RESULT": '"fine"',
            "SCHEMA": LOOK,
            "IN": "",
            **values,
        }
        given.setdefault("ARGTEXT", json.dumps(given["ARGS"]))
        given["TOOLS"] = given.get("TOOLS", self.tool)
        first = ("MORE", "TOOLS")  # these hold places of their own
        for key in (*first, *(key for key in given if key not in first)):
            template = template.replace(f"@{key}@", given[key])
        return template.replace("@MARK@", mark(name)).replace("@MODEL@", self.model)

    def request(
        self, name: str, template: str = "", values: Mapping[str, str] = NOTHING, *, headers: Pairs = (),
        streams: bool = False, **more: str,
    ) -> CaseRequest:  # fmt: skip
        """A request, by default that of one user's text; ``values`` and ``more`` fill its places."""
        stream = {"STREAM": self.stream} if streams else {}
        body = self.text(template or self.ask, name, {**stream, **values, **more}).encode()
        path = (self.stream_path if streams else self.path).replace("@MODEL@", self.model)
        return CaseRequest(path, body, (*self.headers, *headers))

    def answer(self, template: str = "", *, headers: Pairs = (), status: int = 200, **values: str) -> CaseResponse:
        """A complete response."""
        body = self.text(template or self.whole, "answer", {"TEXT": '"Fine."', **values}).encode()
        kind: Pairs = (("Content-Type", "application/json"),)
        return CaseResponse((body,), status, (*kind, *self.answer_headers, *headers))

    def events(self, *texts: str, between: tuple[str, ...] = (), ending: bool = True) -> tuple[str, ...]:
        """Events of a stream with these texts (JSON strings), with other events between them."""
        deltas = (self.delta.replace("@TEXT@", text) for text in texts or ('"Fi"', '"ne"', '"."'))
        first = (*self.opening, next(deltas), *between, *deltas)
        return tuple(event.replace("@MODEL@", self.model) for event in (*first, *(self.closing if ending else ())))

    def stream_response(
        self, pieces: tuple[str | bytes, ...], *, headers: Pairs = (), end: ResponseEnd = ResponseEnd.WHOLE
    ) -> CaseResponse:
        """A streamed answer, a chunk a piece."""
        chunks = tuple(p if isinstance(p, bytes) else p.replace("@MODEL@", self.model).encode() for p in pieces)
        return CaseResponse(chunks, 200, (*STREAM_TYPE, *self.answer_headers, *headers), ResponseFraming.CHUNKED, end)

    def plain(self) -> AuditCase:
        """The request that shows whether a gateway supports this protocol."""
        name = f"hello-{self.protocol}"
        return AuditCase(name, Theme.FIELDS, "a plain request is forwarded", self.request(name), self.answer())


def fill_in(text: str, *values: object) -> str:
    """A text with each ``%s`` in it replaced, in order."""
    for value in values:
        text = text.replace("%s", str(value), 1)
    return text


def data(text: str, name: str = "") -> str:
    """One event."""
    return f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"


def typed_event(text: str) -> str:
    """One event that is named as its ``type`` is."""
    value = loads(text.encode())
    assert isinstance(value, dict)
    return data(text, str(value["type"]))
