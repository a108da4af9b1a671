"""Content of steps: ``{"type": "text", "text"}`` and media, as parts.

Facts: ``types/interactions/content.py`` and the types it names, of the ``google-genai`` SDK 3.4. Other types are kept
verbatim. What a tool returned is a text, a list of content, or any JSON value (``functionresultstep.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue, Media, Opaque, Part, Source, Text
from workbench.protocols.common.reading import ITSELF, STRUCTURED, VERBATIM, BlockReader, Notes, kind_of

MEDIA = ("image", "audio", "document", "video")
"""Types of content that are kinds of media, too."""

CONTENT = ("text", *MEDIA)


def is_content(value: JsonValue) -> bool:
    """An object of a type that content has, and no step."""
    return isinstance(value, dict) and value.get("type") in CONTENT


def read_content(content: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """The parts of a ``content``: a list of typed objects; a string, or one object, in older clients.

    Args:
        content: anything else becomes one opaque part and an anomaly.
        at: pointer of the value, relative to its message.
        notes: takes the anomalies.
    """
    if isinstance(content, str):
        return (Text(content, source=Source(at, ITSELF)),)
    if isinstance(content, list):
        return tuple(read_block(value, f"{at}/{n}", notes) for n, value in enumerate(content))
    if isinstance(content, dict) and isinstance(content.get("type"), str):
        return (read_block(content, at, notes),)
    notes.shape(f"content is {kind_of(content)}, not a list of parts", at)
    return (Opaque(kind_of(content), content, Source(at, VERBATIM)),)


def read_block(value: JsonValue, at: str, notes: Notes) -> Part:
    """One typed object."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        notes.shape(
            "a content part without a type" if isinstance(value, dict) else f"a {kind_of(value)} as a content part", at
        )
        return Opaque("" if isinstance(value, dict) else kind_of(value), value, Source(at, VERBATIM))
    block = BlockReader(value, at, notes)
    if kind == "text" and isinstance(value.get("text"), str):
        return Text(block.take("text", "text"), extra=block.extra(), source=block.source())
    if kind in MEDIA and _is_medium(value):
        media_type, data, url = (
            block.string(name, key) for name, key in (("media_type", "mime_type"), ("data", "data"), ("url", "uri"))
        )
        return Media(kind, media_type, data, url, extra=block.extra(), source=block.source())
    if kind in CONTENT:
        notes.shape(f"a content part of type {kind!r} without its {'text' if kind == 'text' else 'data or uri'}", at)
    return Opaque(kind, value, Source(at, VERBATIM))


def _is_medium(value: Mapping[str, JsonValue]) -> bool:
    return any(isinstance(value.get(key), str) for key in ("data", "uri"))


def read_result(value: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """Content of a tool result."""
    if isinstance(value, str) or (isinstance(value, list) and value and all(map(is_content, value))):
        return read_content(value, at, notes)
    return (Opaque(STRUCTURED, value, Source(at, VERBATIM)),)
