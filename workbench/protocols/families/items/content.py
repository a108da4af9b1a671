"""Content of items: ``{"type": "input_text", …}``, ``{"type": "output_text", …}`` and their neighbours, as parts.

Facts: ``types/responses/response_input_*_param.py``, ``response_output_text.py`` and ``response_output_refusal.py`` of
the official ``openai`` SDK 3.54. Other types are kept verbatim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.ir import JsonValue, Media, Opaque, Part, Source, Text
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, kind_of
from workbench.protocols.families.chat.blocks import media_type, merge_nested

SAID, TOLD = "output_text", "input_text"
"""Types of a text: of the model, of everybody else."""


def read_content(content: JsonValue, at: str, notes: Notes, implied: str = TOLD) -> tuple[Part, ...]:
    """The parts of a ``content`` or ``output`` value: a string, or a list of typed blocks.

    Args:
        content: anything else becomes one opaque part and an anomaly.
        at: pointer of the value, relative to its message.
        notes: takes the anomalies.
        implied: the type of text that goes without saying.
    """
    if isinstance(content, str):
        return (Text(content, source=Source(at, ITSELF)),)
    if isinstance(content, list):
        return tuple(_block(value, f"{at}/{n}", notes, implied) for n, value in enumerate(content))
    if isinstance(content, dict) and isinstance(content.get("type"), str):  # of a computer's output: one screenshot
        return (_block(content, at, notes, implied),)
    notes.shape(f"content is {kind_of(content)}, not a string or a list of parts", at)
    return (Opaque(kind_of(content), content, Source(at, VERBATIM)),)


def _block(value: JsonValue, at: str, notes: Notes, implied: str) -> Part:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        notes.shape(
            "a content part without a type" if isinstance(value, dict) else f"a {kind_of(value)} as a content part", at
        )
        return Opaque("" if isinstance(value, dict) else kind_of(value), value, Source(at, VERBATIM))
    read = _READERS.get(kind)
    part = read(BlockReader(value, at, notes), implied) if read else None
    if read and part is None:
        notes.shape(f"a content part of type {kind!r} without its {_ESSENTIAL[kind]}", at)
    return part or Opaque(kind, value, Source(at, VERBATIM))


def _text(block: BlockReader, implied: str) -> Part | None:
    if not isinstance(block.value.get("text"), str):
        return None
    text = block.take("text", "text")
    return Text(text, extra=block.extra(typed=block.value["type"] != implied), source=block.source())


def _image(block: BlockReader, implied: str) -> Part | None:
    """``image_url`` is a URL or a ``data:`` URL; an image without it has a ``file_id``."""
    if not any(isinstance(block.value.get(key), str) for key in ("image_url", "file_id")):
        return None
    url, file_id = block.string("url", "image_url"), block.string("file_id", "file_id")
    extra = block.extra(typed=block.value["type"] != "input_image")
    return Media("image", media_type(url), url=url, file_id=file_id, extra=extra, source=block.source())


def _file(block: BlockReader, implied: str) -> Part | None:
    """One of ``file_data`` (base64, or a ``data:`` URL), ``file_url`` and ``file_id``."""
    value = block.value
    if not any(isinstance(value.get(key), str) for key in ("file_data", "file_url", "file_id")):
        return None
    kind = media_type(value.get("file_data"))
    url = data = None
    if kind and not isinstance(value.get("file_url"), str):
        url = block.string("url", "file_data")
    else:
        url, data = block.string("url", "file_url"), block.string("data", "file_data")
    file_id = block.string("file_id", "file_id")
    return Media("file", kind, data, url, file_id, block.extra(), block.source())


def _audio(block: BlockReader, implied: str) -> Part | None:
    inside = block.value.get("input_audio")
    if not isinstance(inside, dict):
        return None
    inner = BlockReader(inside, block.at, block.notes)
    data, form = inner.string("data", "data"), inside.get("format")
    extra = merge_nested(block, "input_audio", inner)
    return Media("audio", f"audio/{form}" if isinstance(form, str) else None, data, extra=extra, source=block.source())


Reader = Callable[[BlockReader, str], Part | None]
_READERS: Mapping[str, Reader] = {
    **dict.fromkeys((TOLD, SAID, "text"), _text),
    **dict.fromkeys(("input_image", "computer_screenshot"), _image),
    "input_file": _file,
    "input_audio": _audio,
}
_ESSENTIAL: Mapping[str, str] = {
    **dict.fromkeys((TOLD, SAID, "text"), "text"),
    **dict.fromkeys(("input_image", "computer_screenshot"), "image_url or file_id"),
    "input_file": "file_data, file_url or file_id",
    "input_audio": "input_audio",
}
