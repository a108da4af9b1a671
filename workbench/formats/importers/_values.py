"""Reads values of untrusted files by type; values of another type become empty."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir import JsonValue, Media, Opaque, Part, Text


def text(value: JsonValue) -> str:
    """A string; empty for other types."""
    return value if isinstance(value, str) else ""


def mapping(value: JsonValue) -> dict[str, JsonValue]:
    """An object; empty for other types."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """A list; empty for other types."""
    return value if isinstance(value, list) else []


def mappings(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """The objects of a list."""
    return (entry for entry in as_list(value) if isinstance(entry, dict))


def count(value: JsonValue) -> int | None:
    """A token count; None for other values."""
    return int(value) if isinstance(value, int | float) and type(value) is not bool and 0 <= value < 2**53 else None


def rest(value: dict[str, JsonValue], *known: str) -> dict[str, JsonValue]:
    """An object without the keys that were read."""
    return {k: v for k, v in value.items() if k not in known and v is not None}


def content_parts(content: JsonValue) -> tuple[Part, ...]:
    """Content as most clients store it: a string, or a list of strings, texts and images; other parts unchanged."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if isinstance(content, dict):
        return (_part(content),)
    return tuple(Text(c) if isinstance(c, str) else _part(c) for c in as_list(content) if isinstance(c, dict | str))


def _part(block: dict[str, JsonValue]) -> Part:
    if isinstance(block.get("text"), str) and block.get("type") in (None, "text", "input_text", "output_text"):
        return Text(block["text"])
    image = _image(block) if text(block.get("type")) in ("image", "image_url", "input_image") else None
    return image or Opaque(text(block.get("type")) or "unknown", block)


def _image(block: dict[str, JsonValue]) -> Media | None:
    source = mapping(block.get("source"))
    held = block.get("image_url", block.get("image", block.get("url")))
    url = text(mapping(held).get("url")) or text(held) or text(source.get("url"))
    data = text(block.get("data")) or text(source.get("data"))
    kind = text(block.get("mimeType")) or text(source.get("media_type")) or None
    if data:
        return Media("image", kind, data=data)
    if url.startswith("data:") and ";base64," in url:
        head, _, data = url.partition(";base64,")
        return Media("image", head.removeprefix("data:") or kind, data=data)
    return Media("image", kind, url=url) if url else None
