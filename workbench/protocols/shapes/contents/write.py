"""New bodies made of contents, for requests and answers in normal form.

Nothing is added: no ids where there were none, and no signature but the one that was on a part.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.ir import (
    ApiError,
    Carrier,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.shapes.contents.parts import ANY_TYPE, FAMILIES, response_of
from workbench.protocols.shapes.contents.request import choice_json, write_config
from workbench.wire import dumps

_ROLES = {"assistant": "model", "tool": "user"}
_REASONS = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "filter": "SAFETY",
    "pause": "CONTINUATION",
    "other": "OTHER",
}

Json = dict[str, JsonValue]


def request_body(request: ModelRequest) -> Json:
    """The body of a request. Its model and whether it streams belong into the URL."""
    body: Json = {"contents": [_content(message) for message in request.messages]}
    if request.system:
        body["systemInstruction"] = {"parts": write_parts(request.system)}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]
    if request.tool_choice:
        choice = ToolChoice(request.tool_choice.mode, request.tool_choice.name)
        body["toolConfig"] = {"functionCallingConfig": choice_json(choice)}
    write_config(request, body)
    return body


def _content(message: Message) -> Json:
    return {"role": _ROLES.get(message.role, message.role), "parts": write_parts(message.parts)}


def _declaration(tool: ToolDef) -> Json:
    own = {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}
    return {key: value for key, value in own.items() if value is not None}


def write_parts(parts: Iterable[Part]) -> list[Json]:
    """Parts in wire form: reasoning without text is the signature of what follows it."""
    entries: list[Json] = []
    signature: str | None = None
    for part in parts:
        if isinstance(part, Reasoning):
            entries += _alone(signature)
            signature = part.signature if part.text is None else None
            if part.text is not None or part.signature is None:
                entries.append(_reasoning(part))
        else:
            entries.append(_part(part) | ({} if signature is None else {"thoughtSignature": signature}))
            signature = None
    return [*entries, *_alone(signature)]


def _alone(signature: str | None) -> list[Json]:
    return [] if signature is None else [{"thoughtSignature": signature}]


def _reasoning(part: Reasoning) -> Json:
    """A thought; of an empty one with a signature, that is all that counts."""
    if part.text == "" and part.signature is not None:
        return {"text": "", "thoughtSignature": part.signature}
    own = {"text": part.text, "thought": True, "thoughtSignature": part.signature}
    return {key: value for key, value in own.items() if value is not None}


def _part(part: Part) -> Json:
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, Media):
        return _media(part)
    if isinstance(part, ToolCallIR):
        call = {"id": part.id, "name": part.name, "args": {} if part.input is None else part.input}
        return {"functionCall": {key: value for key, value in call.items() if value is not None}}
    if isinstance(part, ToolResultIR):
        return {"functionResponse": _result(part)}
    return dict(part.value) if isinstance(part, Opaque) and isinstance(part.value, dict) else {}


def _media(part: Media) -> Json:
    known = part.media_type or (f"{part.kind}{ANY_TYPE}" if part.kind in FAMILIES else None)
    kind = {} if known is None else {"mimeType": known}
    if part.data is not None:
        return {"inlineData": {**kind, "data": part.data}}
    return {"fileData": {**kind, "fileUri": part.url if part.url is not None else part.file_id}}


def _result(part: ToolResultIR) -> Json:
    texts = [inner.text for inner in part.content if isinstance(inner, Text)]
    values = [inner.value for inner in part.content if isinstance(inner, Opaque)]
    own = {"id": part.tool_call_id, "name": part.name}
    response: Json = {key: value for key, value in own.items() if value is not None}
    response["response"] = response_of(texts, values, is_error=part.is_error is True)
    media = [_media(inner) for inner in part.content if isinstance(inner, Media)]
    return response | ({"parts": media} if media else {})


def response_body(response: ModelResponse) -> Json:
    """The body of an answer: one candidate for each choice, or the error in their place."""
    if response.error and not response.messages:
        return error_body(response.error)
    reason = _reason(response)
    candidates = [{"content": _content(message), **reason, "index": n} for n, message in enumerate(response.messages)]
    body: Json = {"candidates": candidates} if candidates else _without_candidates(response)
    body |= _about(response, is_last=True)
    return body | (error_body(response.error) if response.error else {})


def _without_candidates(response: ModelResponse) -> Json:
    if response.stop == "filter":
        return {"promptFeedback": {"blockReason": _REASONS["filter"]}}
    reason = _reason(response)
    return {"candidates": [{**reason, "index": 0}] if reason else []}


def _reason(response: ModelResponse) -> Json:
    return {} if response.stop is None else {"finishReason": _REASONS.get(response.stop, "OTHER")}


def _about(response: ModelResponse, *, is_last: bool) -> Json:
    usage = _usage(response.usage) if response.usage and is_last else None
    own = {"usageMetadata": usage, "modelVersion": response.model, "responseId": response.id}
    return {key: value for key, value in own.items() if value}


def _usage(usage: Usage) -> Json:
    """Counts as this protocol has them: cached tokens inside the prompt's, thoughts outside the answer's."""
    read = (usage.input, usage.cache_read, usage.cache_write)
    counts = {
        "promptTokenCount": None if usage.input is None else sum(n or 0 for n in read),
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": None if usage.output is None else max(usage.output - (usage.reasoning or 0), 0),
        "thoughtsTokenCount": usage.reasoning,
    }
    known = {key: value for key, value in counts.items() if value is not None}
    if usage.input is not None and usage.output is not None:
        known["totalTokenCount"] = known["promptTokenCount"] + usage.output
    return known


def error_body(error: ApiError) -> Json:
    """``{"error": {"code", "message", "status"}}``, the code a number where it is one."""
    code = error.code
    is_number = code is not None and code.isascii() and code.isdigit() and len(code) < 10
    own = {"code": int(code) if is_number and code else code, "message": error.message, "status": error.type}
    return {"error": {key: value for key, value in own.items() if value is not None}}


class ContentsWriter:
    """Writes the events of one stream, a piece in each; the last one has the reason and the counts, or is the error.

    Pieces of neighbouring texts would run together: readers keep them apart where both are in one event.
    """

    content_type = "text/event-stream"

    def __init__(self) -> None:
        self._about: Json = {}
        self._choice = 0
        self._is_bare = False  # the choice has begun, and nothing of it is written
        self._signature: str | None = None
        self._marks: Json | None = None  # what the pieces of the open part have beside their text
        self._last: Json | None = None  # the same of the part before, if it grew

    def start(self, response: ModelResponse) -> bytes:
        self._about = _about(response, is_last=False)
        return b""

    def choice(self, number: int) -> bytes:
        remaining = self._remaining()
        self._choice, self._is_bare, self._last = number, True, None
        return remaining

    def open(self, part: Part) -> bytes:
        grows = isinstance(part, Text) or (isinstance(part, Reasoning) and part.text is not None)
        signed = self._signature is not None or (isinstance(part, Reasoning) and part.signature is not None)
        self._marks = ({"thought": True} if isinstance(part, Reasoning) else {}) if grows and not signed else None
        return b""

    def grow(self, text: str) -> bytes:
        if self._marks is None:
            return b""
        border = [{"text": "", **self._marks}] if self._last == self._marks else []
        self._last = None
        return self._parts([*border, {"text": text, **self._marks}])

    def close(self, part: Part) -> bytes:
        if self._marks is not None:
            self._last = self._marks
            return b""
        self._last, signature = None, self._signature
        if isinstance(part, Reasoning) and part.text is None and part.signature is not None:
            self._signature = part.signature
            return self._parts(_alone(signature)) if signature is not None else b""
        self._signature = None
        reasoning = [] if signature is None else [Reasoning(Carrier.THOUGHT_SIGNATURE, None, signature)]
        return self._parts(write_parts([*reasoning, part]))

    def end(self, response: ModelResponse) -> bytes:
        remaining = self._remaining()
        if response.error:
            return remaining + _event(error_body(response.error))
        reason = _reason(response)
        empty = {"content": {"parts": [{"text": ""}], "role": "model"}, **reason}
        last = [{**empty, "index": n} for n in range(len(response.messages))] if reason else []
        body: Json = {"candidates": last} if response.messages else _without_candidates(response)
        if last or not response.messages or response.usage:
            return remaining + _event(body | _about(response, is_last=True))
        return remaining

    def _remaining(self) -> bytes:
        """A signature that nothing followed; of a choice that says nothing, that it is there."""
        signature, self._signature = self._signature, None
        return self._parts(_alone(signature)) if signature is not None or self._is_bare else b""

    def _parts(self, parts: list[Json]) -> bytes:
        self._is_bare = False
        return _event(
            {"candidates": [{"content": {"parts": parts, "role": "model"}, "index": self._choice}], **self._about}
        )


def _event(chunk: Json) -> bytes:
    return b"data: %s\r\n\r\n" % dumps(chunk)
