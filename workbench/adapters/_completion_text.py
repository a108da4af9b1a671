"""Requests that are one text with its turns marked in it (``prompt``), and answers that go on with it (``completion``).

Facts: AWS Bedrock User Guide, "Anthropic Claude Text Completions API"; recorded, traceloop/openllmetry-js.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.adapters._error_body import read_error
from workbench.adapters._growing import Run
from workbench.adapters._pieces import Pieces
from workbench.errors import WireError
from workbench.ir import (
    NOTHING,
    ApiError,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Source,
    Text,
    Usage,
)
from workbench.wire.jsontext import loads
from workbench.wire.sse import SseEvent

_STOPS = {"stop_sequence": "stop", "max_tokens": "length"}


def is_request(value: JsonValue) -> bool:
    """A request of this form."""
    return isinstance(value, dict) and isinstance(value.get("prompt"), str) and "messages" not in value


def is_answer(value: JsonValue) -> bool:
    """An answer of this form, or a piece of one."""
    return isinstance(value, dict) and isinstance(value.get("completion"), str)


def read_request(body: Mapping[str, JsonValue], protocol: str) -> ModelRequest:
    """The request: its prompt is what one user says, for its turns are no more than text."""
    prompt = Text(body["prompt"], source=Source("", {"text": "/prompt"}))
    params = {k: v for k, v in body.items() if k != "prompt"}
    return ModelRequest(protocol, None, (Message("user", (prompt,)),), params=params)


def read_response(body: Mapping[str, JsonValue], protocol: str) -> ModelResponse:
    """A whole answer."""
    text = Text(body["completion"], source=Source("", {"text": "/completion"}))
    return ModelResponse(protocol, messages=(Message("assistant", (text,)),), **_envelope(body))


def _envelope(body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    reason = body.get("stop_reason")
    reason = reason if isinstance(reason, str) else None
    params = {k: v for k, v in body.items() if k not in ("completion", "stop_reason")}
    return {
        "finish_reason": reason,
        "stop": None if reason is None else _STOPS.get(reason, "other"),
        "usage": read_metrics(params.get("amazon-bedrock-invocationMetrics")),
        "params": params or NOTHING,
    }


def read_metrics(value: JsonValue) -> Usage | None:
    """Token counts that the service adds to a last event."""
    if not isinstance(value, dict):
        return None
    counts = (value.get("inputTokenCount"), value.get("outputTokenCount"))
    known = [c if isinstance(c, int) and not isinstance(c, bool) else None for c in counts]
    return Usage(input=known[0], output=known[1], raw=value)


class CompletionStreamDecoder:
    """Joins the pieces of an answer."""

    def __init__(self, protocol: str) -> None:
        self._protocol = protocol
        self._pieces = Pieces()
        self.growing = (Run(Text(""), self._pieces),)
        self._last: dict[str, JsonValue] = {}
        self._finish: tuple[int, ...] = ()
        self._error: ApiError | None = None

    def feed(self, event: SseEvent) -> None:
        """Take one piece."""
        try:
            value = loads(event.data or b"")
        except WireError:
            return
        if not is_answer(value):
            self._error = read_error(value) or self._error
            return
        self._pieces.add(value["completion"], event.number, "/completion")
        self._last = value
        if value.get("stop_reason") is not None:
            self._finish = (event.number,)
            self.growing[0].end()

    def about(self) -> ModelResponse:
        """The answer without its content."""
        return ModelResponse(self._protocol, is_stream=True, **_envelope(self._last))

    def result(self) -> ModelResponse:
        """The answer so far."""
        pieces = self._pieces
        source = Source("/completion", {"text": ""}, {"text": pieces.segments()}, tuple(pieces.events))
        message = Message("assistant", (Text(pieces.text, source=source),))
        return ModelResponse(
            self._protocol,
            messages=(message,) if pieces else (),
            error=self._error,
            is_stream=True,
            is_complete=bool(self._finish),
            finish_events=self._finish,
            **_envelope(self._last),
        )
