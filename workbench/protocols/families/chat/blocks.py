"""Content parts of Chat Completions messages: ``{"type": "text", …}``, ``{"type": "image_url", …}`` and their dialects.

Facts: ``types/chat/chat_completion_content_part_*.py`` of the official ``openai`` SDK 3.52; ``video_url`` (Qwen, Kimi,
GLM, OpenRouter), ``audio_url`` (vLLM), ``document_url`` and ``thinking`` with a list of texts (Mistral), ``thinking``
with a string and ``document`` (``cohere`` SDK 7.3). Other types are kept verbatim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import Carrier, JsonValue, Media, Opaque, Part, Reasoning, Source, Text
from workbench.protocols.common.reading import VERBATIM, BlockReader, Notes, kind_of

_URLS = {"image_url": "image", "video_url": "video", "audio_url": "audio", "document_url": "document"}


def read_blocks(content: list[JsonValue], at: str, notes: Notes) -> Iterator[Part]:
    """The parts of a content list."""
    for n, value in enumerate(content):
        yield from _block(value, f"{at}/{n}", notes)


def merge_nested(outer: BlockReader, key: str, inner: BlockReader, *, typed: bool = False) -> Mapping[str, JsonValue]:
    """Make what was taken from the object at ``key`` a part of the block around it; gives the ``extra`` of both."""
    outer.taken.add(key)
    outer.pairs += ((name, f"/{key}{suffix}") for name, suffix in inner.pairs)
    rest = inner.extra(typed="type" in inner.value)
    return outer.extra(typed=typed, **({key: rest} if rest else {}))


def media_type(url: JsonValue) -> str | None:
    """The MIME type that a ``data:`` URL names."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    return url[5:].partition(",")[0].partition(";")[0] or None


def _block(value: JsonValue, at: str, notes: Notes) -> Iterator[Part]:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        notes.shape(
            "a content part without a type" if isinstance(value, dict) else f"a {kind_of(value)} as a content part", at
        )
        yield Opaque("" if isinstance(value, dict) else kind_of(value), value, Source(at, VERBATIM))
        return
    read = _READERS.get(kind)
    parts = read(BlockReader(value, at, notes)) if read else ()
    if read and not parts:
        notes.shape(f"a content part of type {kind!r} without its {kind!r}", at)
    yield from parts or (Opaque(kind, value, Source(at, VERBATIM)),)


def _text(block: BlockReader) -> tuple[Part, ...]:
    if not isinstance(block.value.get("text"), str):
        return ()
    return (Text(block.take("text", "text"), extra=block.extra(), source=block.source()),)


def _url(block: BlockReader) -> tuple[Part, ...]:
    kind = block.value["type"]
    inside = block.value.get(kind)
    if isinstance(inside, str):
        url, extra = block.take("url", kind), None
    elif isinstance(inside, dict):
        inner = BlockReader(inside, block.at, block.notes)
        url, extra = inner.string("url", "url"), merge_nested(block, kind, inner)
    else:
        return ()
    return (Media(_URLS[kind], media_type(url), url=url, extra=extra or block.extra(), source=block.source()),)


def _audio(block: BlockReader) -> tuple[Part, ...]:
    inside = block.value.get("input_audio")
    if not isinstance(inside, dict):
        return ()
    inner = BlockReader(inside, block.at, block.notes)
    data, form = inner.string("data", "data"), inside.get("format")
    extra = merge_nested(block, "input_audio", inner)
    return (
        Media("audio", f"audio/{form}" if isinstance(form, str) else None, data, extra=extra, source=block.source()),
    )


def _file(block: BlockReader) -> tuple[Part, ...]:
    inside = block.value.get("file")
    if not isinstance(inside, dict):
        return ()
    inner = BlockReader(inside, block.at, block.notes)
    kind = media_type(inside.get("file_data"))
    content = inner.string("url" if kind else "data", "file_data")
    file_id = inner.string("file_id", "file_id")
    extra = merge_nested(block, "file", inner)
    url, data = (content, None) if kind else (None, content)
    return (Media("file", kind, data, url, file_id, extra, block.source()),)


def _document(block: BlockReader) -> tuple[Part, ...]:
    """A document in a tool result; its data is text, or an object that is kept as it is."""
    inside = block.value.get("document")
    if not isinstance(inside, dict) or not isinstance(inside.get("data"), str):
        return (Opaque("document", block.value, Source(block.at, VERBATIM)),)
    inner = BlockReader(inside, block.at, block.notes)
    text = inner.take("text", "data")
    return (Text(text, merge_nested(block, "document", inner, typed=True), block.source()),)


def _thinking(block: BlockReader) -> tuple[Part, ...]:
    """``{"type": "thinking", "thinking": [{"type": "text", "text": …}]}``, or the same with a string."""
    inside = block.value.get("thinking")
    carrier = Carrier.THINKING if "signature" in block.value else Carrier.THINKING_CHUNK
    signature = block.string("signature", "signature")
    if isinstance(inside, str):
        said = block.take("text", "thinking")
        return (Reasoning(carrier, said, signature, extra=block.extra(), source=block.source()),)
    if not isinstance(inside, list):
        return ()
    if not inside:
        return (Reasoning(carrier, "", signature, extra=block.extra(), source=block.source()),)
    if not all(isinstance(c, dict) and c.keys() <= {"type", "text"} and isinstance(c.get("text"), str) for c in inside):
        return (Opaque("thinking", block.value, Source(block.at, VERBATIM)),)
    block.taken.add("thinking")
    block.pairs.append(("text", "/thinking/0/text"))
    first = Reasoning(carrier, inside[0]["text"], signature, extra=block.extra(), source=block.source())
    return (first, *(_further(carrier, block.at, n, chunk["text"]) for n, chunk in enumerate(inside) if n))


def _further(carrier: Carrier, at: str, number: int, text: str) -> Part:
    return Reasoning(carrier, text, source=Source(at, {"text": f"/thinking/{number}/text"}))


_READERS = {
    "text": _text,
    **dict.fromkeys(_URLS, _url),
    "input_audio": _audio,
    "file": _file,
    "document": _document,
    "thinking": _thinking,
}
