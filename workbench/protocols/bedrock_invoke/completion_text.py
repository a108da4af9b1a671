"""Requests that are one text with its turns marked in it, and answers that continue with it.

Facts: AWS Bedrock User Guide, "Inference request parameters and response fields": Anthropic's Text Completions, Llama,
Mistral, Titan and Cohere's Command; recorded (the first), traceloop/openllmetry-js.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from workbench.named_tuple import NamedTuple
from workbench.protocols.common.error_body import read_error
from workbench.protocols.common.pieces import GrowingText, Pieces
from workbench.wire import SseEvent, loads

_TYPE = "completion"

_STOPS = {
    "stop_sequence": "stop", "stop": "stop", "FINISH": "stop", "FINISHED": "stop", "COMPLETE": "stop",
    "max_tokens": "length", "length": "length", "LENGTH": "length", "MAX_TOKENS": "length",
}  # fmt: skip
_PROMPTS = ("prompt", "inputText")
_TEXTS = (
    ("", "completion", "stop_reason"),
    ("", "generation", "stop_reason"),
    ("", "outputText", "completionReason"),
    ("outputs", "text", "stop_reason"),
    ("choices", "text", "finish_reason"),
    ("results", "outputText", "completionReason"),
    ("generations", "text", "finish_reason"),
)
"""Where an answer has its text: the key of a list of one, or "" for the body; key of the text; key of the reason."""


class CompletionText(NamedTuple):
    """The text of an answer, its pointer, and why it ended."""

    pointer: str
    text: str
    reason: str | None


def is_text(data: bytes) -> bool:
    """The first event of a stream of texts."""
    try:
        value = loads(data)
    except WireError:
        return False
    is_text = isinstance(value, dict) and value.get("type", _TYPE) == _TYPE
    return is_text and is_answer(value)


def is_request(value: JsonValue) -> bool:
    """A request of this form."""
    return isinstance(value, dict) and "messages" not in value and _prompt(value) is not None


def _prompt(value: Mapping[str, JsonValue]) -> str | None:
    return next((key for key in _PROMPTS if isinstance(value.get(key), str)), None)


def is_answer(value: JsonValue) -> bool:
    """An answer of this form, or a piece of one."""
    return find_answer(value) is not None


def find_answer(value: JsonValue) -> CompletionText | None:
    """The text in an answer, or in a piece of one; None where it has another form."""
    for table, key, reason in _TEXTS if isinstance(value, dict) else ():
        entries = value.get(table) if table else [value]
        node = entries[0] if isinstance(entries, list) and len(entries) == 1 else None
        if isinstance(node, dict) and isinstance(node.get(key), str):
            why = node.get(reason)
            return CompletionText(
                f"/{table}/0/{key}" if table else f"/{key}", node[key], why if isinstance(why, str) else None
            )
    return None


def read_request(body: Mapping[str, JsonValue], protocol: str) -> ModelRequest:
    """The request: its prompt is what one user says, for its turns are no more than text."""
    key = _prompt(body) or ""
    prompt = Text(body[key], source=Source("", {"text": f"/{key}"}))
    params = {k: v for k, v in body.items() if k != key}
    return ModelRequest(protocol, None, (Message("user", (prompt,)),), params=params)


def read_response(body: Mapping[str, JsonValue], protocol: str) -> ModelResponse:
    """A whole answer. Call it with what ``is_answer``."""
    found = find_answer(body) or CompletionText("", "", None)
    text = Text(found.text, source=Source("", {"text": found.pointer}))
    return ModelResponse(protocol, messages=(Message("assistant", (text,)),), **_envelope(body))


def _envelope(body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found = find_answer(body)
    reason = found.reason if found else None
    ir_keys = ("stop_reason", "completionReason", found.pointer.split("/")[1] if found else "")
    params = {k: v for k, v in body.items() if k not in ir_keys}
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
        self.growing = (GrowingText(Text(""), self._pieces),)
        self._last: dict[str, JsonValue] = {}
        self._finish: tuple[int, ...] = ()
        self._error: ApiError | None = None

    def feed(self, event: SseEvent) -> None:
        """Take one piece."""
        try:
            value = loads(event.data or b"")
        except WireError:
            return
        found = find_answer(value)
        if found is None:
            self._error = read_error(value) or self._error
            return
        self._pieces.add(found.text, event.number, found.pointer)
        self._last = value
        if found.reason is not None:
            self._finish = (event.number,)
            self.growing[0].end()

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        return ModelResponse(self._protocol, is_stream=True, **_envelope(self._last))

    def result(self) -> ModelResponse:
        """The response so far."""
        pieces = self._pieces
        place = pieces.pointers[0] if pieces else "/completion"
        source = Source(place, {"text": ""}, {"text": pieces.segments()}, tuple(pieces.events))
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
