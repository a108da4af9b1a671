"""Clients of the Responses API, which take the calls of a stream from its items or from the response at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.ir import JsonValue
from workbench.protocols.clients.buffers import CALL, DataBlock, PartBuffer, Stop

CREATED = "response.created"
COMPLETED = "response.completed"
_LIFECYCLE = (CREATED, "response.queued", "response.in_progress", COMPLETED, "response.failed", "response.incomplete")
_WITHOUT_ID = ("function_call", "custom_tool_call", "shell_call", "shell_call_output")

Item = Mapping[str, JsonValue]


def call_of(item: Item, event: int) -> PartBuffer | None:
    """The call that an item is."""
    kind = item.get("type")
    if kind not in ("function_call", "custom_tool_call"):
        return None
    part_buffer = PartBuffer(CALL)
    for field, key in (("id", "call_id"), ("name", "name"), ("arguments", "arguments")):
        text = item.get("input" if kind == "custom_tool_call" and key == "arguments" else key)
        if isinstance(text, str):
            part_buffer.put(field, text, event)
    if kind == "custom_tool_call":
        part_buffer.value = (item.get("input"),)
    return part_buffer


def items_of(value: JsonValue) -> list[Item]:
    """The items of a list that are objects."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class _Events:
    """Reads events up to ``[DONE]``; raises where data is no JSON or holds an error."""

    name = package = ""

    def __init__(self) -> None:
        self.final: list[PartBuffer] | None = None

    def feed(self, chunk: DataBlock) -> bool:
        if chunk.data.startswith(b"[DONE]"):
            return True
        if not chunk.is_json:
            raise Stop("JSONDecodeError", "the data of an event is not JSON")
        value = chunk.value if isinstance(chunk.value, dict) else {}
        if value.get("error"):
            raise Stop("APIError", "the stream contains an error")
        self.take(str(value.get("type")), value, chunk.event)
        return False

    def take(self, kind: str, value: Item, event: int) -> None:
        """One event."""
        if kind == COMPLETED:
            self.final = self.made_of(items_of(response_of(value).get("output")), event)

    def made_of(self, items: Sequence[Item], event: int) -> list[PartBuffer]:
        """The calls among items."""
        return [call for call in (call_of(item, event) for item in items) if call]

    def finish(self) -> None:
        raise NotImplementedError

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        return [self.final or []]

    def notes(self) -> tuple[str, ...]:
        return ()


def response_of(value: Item) -> Item:
    """The response that an event of its life has."""
    response = value.get("response")
    return response if isinstance(response, dict) else {}


class OpenAIPythonResponses(_Events):
    """``openai`` 3.54.0 (Python), ``lib/streaming/responses/_responses.py``: ``ResponseStreamState``.

    The final response is the one of ``response.completed``; deltas are ignored; only where it has no ``output``
    the items that were done are put into it. Before it the stream has to begin with ``response.created``, each index
    begins once and before its deltas, and an item that is done, or complete, is the one that began.
    """

    name, package = "openai-python", "openai 3.54.0 (Python)"

    def __init__(self) -> None:
        super().__init__()
        self.response: JsonValue = None
        self.is_begun = False
        self.open_items: dict[JsonValue, Item] = {}
        self.ended_items: dict[JsonValue, tuple[Item, int]] = {}

    def take(self, kind: str, value: Item, event: int) -> None:
        if not self.is_begun:
            if kind != CREATED:
                raise Stop("RuntimeError", f"response.created expected before {kind:.60}")
            self.is_begun, self.response = True, response_of(value).get("id")
            self.open_items = dict(enumerate(items_of(response_of(value).get("output"))))
            return
        if kind in _LIFECYCLE and response_of(value).get("id") != self.response:
            raise Stop("RuntimeError", "the id of the response changes")
        item, index = value.get("item"), value.get("output_index")
        if isinstance(index, dict | list):
            raise Stop("TypeError", "an output index that is not a number")
        if kind == "response.output_item.added" and isinstance(item, dict):
            if index in self.open_items:
                raise Stop("RuntimeError", f"output index {index} is used twice")
            self.open_items[index] = item
        elif kind in ("response.output_text.delta", "response.function_call_arguments.delta"):
            self._delta(kind, index)
        elif kind == "response.output_item.done" and isinstance(item, dict):
            added = self.open_items.get(index)
            if added is not None and not _is_same(added, item):
                raise Stop("RuntimeError", f"the finished item at output index {index} differs from the streamed item")
            self.ended_items[index] = (item, event)
        elif kind == COMPLETED:
            self._complete(response_of(value).get("output"), event)

    def _delta(self, kind: str, index: JsonValue) -> None:
        item = self.open_items.get(index)
        if item is None:
            raise Stop("RuntimeError", f"a delta for output index {index} before its item")
        wanted = "message" if kind == "response.output_text.delta" else "function_call"
        if item.get("type") != wanted:
            raise Stop("AssertionError", f"a delta of a {wanted} for an item of a different type")

    def _complete(self, output: JsonValue, event: int) -> None:
        final = items_of(output)
        for index, item in self.open_items.items():
            if index not in self.ended_items and not any(_is_same(item, one) for one in final):
                raise Stop("RuntimeError", f"the response is completed, but the item at output index {index} is not")
        if output is None:
            known = sorted(n for n in self.ended_items if isinstance(n, int))
            self.final = [call for n in known if (call := call_of(*self.ended_items[n]))]
        else:
            self.final = self.made_of(final, event)

    def finish(self) -> None:
        if self.final is None:
            raise Stop("RuntimeError", "response.completed is missing")


def _is_same(before: Item, after: Item) -> bool:
    """Compare type, call and id; a call may get its id late."""
    kind = before.get("type")
    if kind != after.get("type") or before.get("call_id") != after.get("call_id"):
        return False
    is_late = before.get("id") is None and kind in ("function_call", "custom_tool_call")
    return is_late or before.get("id") == after.get("id")


class OpenAIAgentsResponses(_Events):
    """``openai-agents`` (Python), the streamed run: the output of ``response.completed`` is all it runs tools from."""

    name, package = "openai-agents", "openai-agents 0.24.0"

    def take(self, kind: str, value: Item, event: int) -> None:
        if kind == COMPLETED and not isinstance(response_of(value).get("output"), list):
            raise Stop("TypeError", "response.completed has no list 'output'")
        super().take(kind, value, event)

    def finish(self) -> None:
        if self.final is None:
            raise Stop("ModelBehaviorError", "the model did not produce a final response")


class Codex(_Events):
    """Codex CLI, ``codex-rs``, ``ResponseEvent``: items as they are done; the end has to be ``response.completed``.

    It reads that event into a struct whose ``id`` is required (``missing field `id```).
    """

    name, package = "codex", "codex-rs (2026)"

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[PartBuffer] = []
        self.is_completed = False

    def take(self, kind: str, value: Item, event: int) -> None:
        item = value.get("item")
        if kind == "response.output_item.done" and isinstance(item, dict):
            self.calls += self.made_of([item], event)
        elif kind == COMPLETED:
            if not isinstance(response_of(value).get("id"), str):
                raise Stop("CodexErr::Stream", "failed to parse ResponseCompleted: missing field 'id'")
            self.is_completed = True

    def finish(self) -> None:
        if not self.is_completed:
            raise Stop("CodexErr::Stream", "stream closed before response.completed")

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        return [self.calls]


POLICIES = (OpenAIPythonResponses, OpenAIAgentsResponses, Codex)
