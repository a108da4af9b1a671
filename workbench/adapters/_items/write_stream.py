"""New event streams that build an answer out of items, from answers in normal form.

Facts: ``types/responses/response_stream_event.py`` of the official ``openai`` SDK 3.54, and the order of recorded
streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.adapters._items.write import Item, envelope, named, output
from workbench.ir import JsonValue, ModelResponse
from workbench.wire.jsontext import dumps

_ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}


def write_stream(response: ModelResponse) -> bytes:
    """The stream of an answer in normal form; one delta for each string."""
    return b"".join(_frame(event, number) for number, event in enumerate(_events(response)))


def _frame(event: Item, number: int) -> bytes:
    kind = event["type"].encode()
    return b"event: %s\ndata: %s\n\n" % (kind, dumps({**event, "sequence_number": number}))


def _events(response: ModelResponse) -> Iterator[Item]:
    items = named([*output(response)])
    whole = envelope(response, items)
    begun = whole | {"status": "in_progress", "output": [], "usage": None, "error": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(items):
        yield from _item(item, index)
    if response.is_complete or response.error:
        yield {"type": _ENDS[whole["status"]], "response": whole}


def _item(item: Item, index: int) -> Iterator[Item]:
    place = {"output_index": index, "item_id": item.get("id", "")}
    kind, begun = item["type"], dict(item)
    if "status" in item:
        begun["status"] = "in_progress"
    inside: list[Item] = []
    if kind == "function_call":
        begun["arguments"] = ""
        inside = [*_text("response.function_call_arguments", "arguments", item["arguments"], place)]
    elif kind == "custom_tool_call":
        begun["input"] = ""
        inside = [*_text("response.custom_tool_call_input", "input", item["input"], place)]
    else:
        for key in ("summary", "content"):
            if isinstance(item.get(key), list):
                begun[key] = []
                inside += _parts(key, item[key], place)
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    yield from inside
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _text(stem: str, key: str, text: JsonValue, place: Item, **more: JsonValue) -> Iterator[Item]:
    """The deltas of a string and its end."""
    if text:
        yield {"type": f"{stem}.delta", **place, **more, "delta": text}
    yield {"type": f"{stem}.done", **place, **more, key: text}


def _parts(key: str, parts: Sequence[Item], place: Item) -> Iterator[Item]:
    part_of = "response.reasoning_summary_part" if key == "summary" else "response.content_part"
    number = "summary_index" if key == "summary" else "content_index"
    for n, part in enumerate(parts):
        at = {**place, number: n}
        yield {"type": f"{part_of}.added", **at, "part": {**part, "text": ""}}
        if part["type"] == "output_text":
            yield from _text("response.output_text", "text", part["text"], at, logprobs=[])
        else:
            stem = "response.reasoning_summary_text" if key == "summary" else "response.reasoning_text"
            yield from _text(stem, "text", part.get("text", ""), at)
        yield {"type": f"{part_of}.done", **at, "part": part}
