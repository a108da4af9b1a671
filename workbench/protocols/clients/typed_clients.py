"""Clients that validate each piece of a stream against their types before their user sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.ir import JsonValue
from workbench.protocols.clients.buffers import CALL, DataBlock, PartBuffer, Stop

Node = Mapping[str, JsonValue]


class _TypedClient:
    """Collects the calls of every piece. Subclasses raise where the types do not fit."""

    name = package = ""

    def __init__(self) -> None:
        self.calls: list[PartBuffer] = []

    def feed(self, chunk: DataBlock) -> bool:
        if not chunk.is_json:
            raise Stop("JSONDecodeError", "a chunk of the stream is not JSON")
        if isinstance(chunk.value, dict):
            self.take(chunk.value, chunk.event)
        return False

    def take(self, value: Node, event: int) -> None:
        """One piece."""
        raise NotImplementedError

    def call(self, node: Node, arguments: str, event: int) -> None:
        """A call, with its arguments under the key ``arguments``."""
        part_buffer = PartBuffer(CALL)
        for field in ("id", "name"):
            text = node.get(field)
            if isinstance(text, str):
                part_buffer.put(field, text, event)
        part_buffer.put("arguments", "", event)
        part_buffer.value = (node.get(arguments) or {},)
        self.calls.append(part_buffer)

    def finish(self) -> None:
        return

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        return [self.calls]

    def notes(self) -> tuple[str, ...]:
        return ()


def _objects(value: JsonValue, what: str) -> Iterator[Node]:
    """The objects of a list that may be absent. Raises Stop for anything else."""
    if value is None:
        return
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Stop("ValidationError", f"{what} is not a list of objects")
    for item in value:
        assert isinstance(item, dict)
        yield item


def _is_object(value: JsonValue) -> bool:
    return value is None or isinstance(value, dict)


class OllamaPython(_TypedClient):
    """``ollama`` 0.6.3 (Python), ``_client.py``: ``inner``; ``_types.py``: ``ChatResponse``, ``Message``, ``ToolCall``.

    Each line is a ``ChatResponse``: a message with a role, and calls whose name is a text and whose arguments are an
    object. A line with ``error`` raises ResponseError.
    """

    name, package = "ollama-python", "ollama 0.6.3 (Python)"

    def take(self, value: Node, event: int) -> None:
        if value.get("error"):
            raise Stop("ResponseError", "the stream contains an error")
        message = value.get("message")
        if not isinstance(message, dict):
            raise Stop("ValidationError", "a line without a message")
        if not isinstance(message.get("role"), str):
            raise Stop("ValidationError", "a message without a role")
        for call in _objects(message.get("tool_calls"), "tool_calls"):
            function = call.get("function")
            if not isinstance(function, dict) or not isinstance(function.get("name"), str):
                raise Stop("ValidationError", "a call without 'function', or without its name")
            if not isinstance(function.get("arguments"), dict):
                raise Stop("ValidationError", "the arguments of a call are not an object")
            self.call({**function, "id": call.get("id")}, "arguments", event)


class GoogleGenAI(_TypedClient):
    """``google-genai`` 3.4.0 (Python), ``types.py``: ``GenerateContentResponse._from_response``, ``function_calls``.

    Candidates and parts are lists of objects, content and args objects, a name a text. Members of other names are
    passed over. Calls are those of the first candidate.
    """

    name, package = "google-genai", "google-genai 3.4.0 (Python)"

    def take(self, value: Node, event: int) -> None:
        for n, candidate in enumerate(_objects(value.get("candidates"), "candidates")):
            content = candidate.get("content")
            if not _is_object(content):
                raise Stop("ValidationError", "the content of a candidate is not an object")
            parts = content.get("parts") if isinstance(content, dict) else None
            for part in _objects(parts, "parts"):
                self._part(part, event, is_first=n == 0)

    def _part(self, part: Node, event: int, *, is_first: bool) -> None:
        call = part.get("functionCall", part.get("function_call"))
        if not _is_object(call):
            raise Stop("ValidationError", "a functionCall that is not an object")
        if not isinstance(call, dict):
            return
        if not _is_object(call.get("args")):
            raise Stop("ValidationError", "the args of a call are not an object")
        if not isinstance(call.get("name"), str | None):
            raise Stop("ValidationError", "the tool name of a call is not a string")
        if is_first:
            self.call(call, "args", event)
