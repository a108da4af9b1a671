"""Tool results as the object that a function response has to hold.

``{"output": …}`` and ``{"error": …}`` are the convention (docstring of ``FunctionResponse.response`` in the
``google-genai`` SDK 3.4); without them the whole object is what the function returned. The SDK's own automatic calling
writes ``result``; clients were recorded that write ``return_value`` and ``value``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue, Opaque, Part, Source, Text
from workbench.protocols.common.reading import ITSELF, STRUCTURED, VERBATIM, kind_of
from workbench.protocols.gemini.nodes import ContentNode, as_list

WRAPPERS = ("output", "error", "result", "return_value", "value")
"""Keys that mean nothing but "this is what came back"."""


def result_content(node: ContentNode) -> tuple[tuple[Part, ...], bool | None]:
    """Content of a result, and its error flag: by convention a result with only ``error`` is one.

    A string becomes a text, a list of strings one text for each; any other value is kept as it is.
    """
    value = node.value.get("response")
    if value is None:
        return (), None
    node.take("content", "response")
    at = f"{node.at}/response"
    if not isinstance(value, dict):
        node.notes.shape(f"the response of a function is {kind_of(value)}, not an object", at)
        return (_structured_part(value, at),), None
    is_error = True if list(value) == ["error"] else None
    if not value or not all(key in WRAPPERS for key in value):
        return (_structured_part(value, at),) if value else (), is_error
    said = {key: inner for key, inner in value.items() if key != "error" or inner is not None}
    return tuple(part for key, inner in said.items() for part in _output(inner, f"{at}/{key}")), is_error


def _output(value: JsonValue, at: str) -> Iterator[Part]:
    if isinstance(value, str) or (isinstance(value, list) and value and all(isinstance(v, str) for v in value)):
        yield from (Text(item, source=Source(pointer, ITSELF)) for item, pointer in as_list(value, at))
    else:
        yield _structured_part(value, at)


def _structured_part(value: JsonValue, at: str) -> Opaque:
    return Opaque(STRUCTURED, value, Source(at, VERBATIM))


def response_of(texts: list[str], values: list[JsonValue], *, is_error: bool) -> Mapping[str, JsonValue]:
    """The object for what a tool returned: texts wrapped, an object as it is. ``result_content`` undoes it."""
    said = [*texts, *values]
    value: JsonValue = said[0] if len(said) == 1 else said or None
    if is_error:
        return {"error": value}
    if not said:
        return {}
    is_plain = isinstance(value, dict) and value and not all(key in WRAPPERS for key in value)
    return value if is_plain else {"output": value}
