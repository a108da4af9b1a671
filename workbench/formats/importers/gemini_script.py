"""Importer for Gemini CLI response scripts (``*.responses``): canned responses for that program's tests."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.importers._files import ImportDamage, Line, first_objects, objects
from workbench.formats.importers._messages_transcript import NOT_WIRE, RECONSTRUCTED
from workbench.formats.importers._side_of_value import SYNTHESISED
from workbench.formats.importers._values import rest, text
from workbench.ir import JsonValue
from workbench.wire import Body, Exchange, Headers, HttpResponse, Origin, dumps
from workbench.wire.session import MemorySession

NAME = "gemini-script"
TITLE = "Gemini CLI response script"
_NOTE = "from a response script, which has no requests"
_METHODS = ("generateContent", "generateContentStream", "countTokens", "embedContent")


def sniff(head: bytes) -> float:
    """Lines of a method and its response; the first line may be longer than the head."""
    first = first_objects(head)
    if first:
        return 0.95 if all(v.get("method") in _METHODS and "response" in v for v in first) else 0.0
    start = b"".join(head[:200].split())
    return 0.95 if start.startswith(tuple(b'{"method":"%s","response":' % m.encode() for m in _METHODS)) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """One exchange a line. Raises UnreadableInput if no line has a response."""
    damage = ImportDamage()
    exchanges = tuple(_exchanges(objects(data, damage), damage))
    if not exchanges:
        raise damage.refuse("the script has no responses")
    return MemorySession(name, exchanges, damage.as_lines(), format=TITLE, about=RECONSTRUCTED)


def _exchanges(lines: Iterator[Line], damage: ImportDamage) -> Iterator[Exchange]:
    for line in lines:
        response = line.value.get("response")
        if not isinstance(response, dict | list):
            damage.add(f"line {line.number}: no response")
            continue
        about: dict[str, JsonValue] = {
            "method": text(line.value.get("method")),
            **rest(line.value, "method", "response"),
        }
        is_stream = isinstance(response, list)
        yield Exchange(
            f"line {line.number}",
            response=_stream(response) if isinstance(response, list) else HttpResponse(body=_body(dumps(response))),
            origin=Origin.RECONSTRUCTED,
            client="gemini-cli",
            note=f"{_NOTE}; the importer added the framing of the stream" if is_stream else _NOTE,
            meta={**about, **(SYNTHESISED if is_stream else {})},
        )


def _stream(chunks: list[JsonValue]) -> HttpResponse:
    raw = b"".join(b"data: " + dumps(chunk) + b"\r\n\r\n" for chunk in chunks)
    return HttpResponse(headers=Headers((("content-type", "text/event-stream"),)), body=_body(raw))


def _body(raw: bytes) -> Body:
    return Body(raw, is_raw=False, note=NOT_WIRE)
