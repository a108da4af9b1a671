"""Clients of Chat Completions that merge each delta into the message so far."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType

from workbench.ir import JsonValue
from workbench.protocols.clients._chat import (
    ChatPolicy,
    Delta,
    HeldChoice,
    calls_of,
    choices_of,
    function_of,
    new_call,
    string_at,
)
from workbench.protocols.clients.buffers import MADE_UP, PartBuffer, Stop


class OpenAIPythonChat(ChatPolicy):
    """``openai`` 3.52.0 (Python), ``lib/streaming/_deltas.py``: ``accumulate_delta``; ``lib/streaming/chat``.

    Every string is joined, those of ids and names too; ``index`` and ``type`` keep their last value. A list is merged
    by the *position* that ``index`` names: one past the end is put at the end, and reading it back then raises.
    A delta of a call without ``index`` or ``function`` raises. Chunks whose ``object`` is not ``chat.completion.chunk``
    are passed over. A stream may end anywhere; one without any chunk raises.
    """

    name, package = "openai-python", "openai 3.52.0 (Python)"

    def __init__(self) -> None:
        super().__init__()
        self.is_begun = False
        self.lists: set[int] = set()  # choices whose content is a list

    def take(self, value: Delta, event: int) -> None:
        if value.get("object") != "chat.completion.chunk":
            self.remarks["objects not marked as chunks are skipped"] = None
            return
        if not isinstance(value.get("choices"), list):
            raise Stop("TypeError", "a chunk without choices")
        for position, choice in enumerate(choices_of(value)):
            index = choice.get("index")
            if type(index) is not int:
                raise Stop("TypeError", "a choice without an index")
            if index > (position if not self.is_begun else len(self.choices)):
                raise Stop("IndexError", f"there is no choice {index}")
            self.choice(choice, event)
        self.is_begun = True

    def choice(self, choice: Delta, event: int) -> None:
        state, delta = self.held_choice(choice), choice.get("delta")
        if not isinstance(delta, dict):
            raise Stop("AttributeError", "a choice without a delta")
        self._content(state, delta, event)
        state.take_reasoning(delta, event)
        calls = list(calls_of(delta))
        if calls and not state.calls and all("index" not in call for call in calls):
            raise Stop("TypeError", "a tool call delta without an index")
        for call in calls:
            self.call(state, call, event)
        for call in calls:
            self._read_back(state, call)
        if not calls and any(p.text("type") == "function" and "function" not in p.strings for p in state.calls):
            raise Stop("AttributeError", "a call without 'function'")

    def _content(self, choice: HeldChoice, delta: Delta, event: int) -> None:
        content = delta.get("content")
        if isinstance(content, str) and id(choice) not in self.lists:
            choice.take_text(delta, event)
        elif isinstance(content, list) and "text" not in choice.text.strings:  # beside a string it is passed over
            if id(choice) in self.lists:
                raise Stop("RuntimeError", "a second list of content parts: without an index they cannot be joined")
            self.lists.add(id(choice))

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        if "index" not in call:
            raise Stop("RuntimeError", "a tool call delta without an index")
        index = call["index"]
        if not isinstance(index, int):
            raise Stop("TypeError", "the index of a call is not an integer")
        if -len(choice.calls) <= index < len(choice.calls):
            part = choice.calls[index]
        else:
            part = PartBuffer("call")
            choice.calls.insert(index, part)
        merge_call(part, call, event)

    def _read_back(self, choice: HeldChoice, call: Delta) -> None:
        index = call["index"]
        if not -len(choice.calls) <= index < len(choice.calls):
            raise Stop("IndexError", f"there is no call {index}: the earlier calls are missing")
        if choice.calls[index].text("type") == "function" and function_of(call) is None:
            is_first = "function" not in choice.calls[index].strings and self.is_begun
            raise Stop("AttributeError" if is_first else "AssertionError", "a delta of a call without a function")

    def finish(self) -> None:
        if not self.is_begun:
            raise Stop("AssertionError", "no chunk arrived")


def merge_call(part: PartBuffer, call: Delta, event: int) -> None:
    """Join the strings of a call with those of a delta."""
    function = function_of(call)
    if isinstance(call.get("id"), str):
        part.add("id", call["id"], event)
    if isinstance(call.get("type"), str):
        part.put("type", call["type"], event)
    if function is None:
        return
    part.strings.setdefault("function", [])
    if isinstance(function.get("name"), str):
        part.add("name", function["name"], event)
    arguments = function.get("arguments")
    if isinstance(arguments, str) and part.value is None:
        part.add("arguments", arguments, event)
    elif isinstance(arguments, dict) and "arguments" not in part.strings:
        part.value = (_join(part.value[0] if part.value else {}, arguments),)


def _join(target: Delta, more: Delta) -> Delta:
    """Objects joined key by key: strings are appended and numbers *added*, so that ``1`` sent twice is ``2``."""
    merged = dict(target)
    work = [(merged, more)]
    while work:
        into, new = work.pop()
        for key, value in new.items():
            old = into.get(key)
            if old is None or key in ("index", "type"):
                into[key] = value
            elif isinstance(old, dict) and isinstance(value, dict):
                into[key] = dict(old)
                work.append((into[key], value))
            elif _are(old, value, str) or _are(old, value, int | float):
                into[key] = old + value
    return merged


def _are(a: JsonValue, b: JsonValue, kind: type | UnionType) -> bool:
    return isinstance(a, kind) and isinstance(b, kind)


class LangChain(ChatPolicy):
    """``langchain-openai`` 1.7.4 and ``langchain-core`` 1.8.1: ``_convert_delta_to_message_chunk``, ``merge_lists``.

    A delta goes to the *first* call of its index whose id does not contradict it, so that later pieces of a second
    call at one index go to the first. Ids that are equal stay, names are joined. Without an index every delta is a
    separate call. Reasoning is not read. The first choice alone.
    """

    name, package = "langchain", "langchain-openai 1.7.4, langchain-core 1.8.1"

    def take(self, value: Delta, event: int) -> None:
        first = value.get("choices")
        if isinstance(first, list) and first and isinstance(first[0], dict):
            self.choice(first[0] | {"index": 0}, event)

    def choice(self, choice: Delta, event: int) -> None:
        merged_choice, delta = self.held_choice(choice), choice.get("delta")
        if not isinstance(delta, dict):
            return
        merged_choice.take_text(delta, event)
        calls = list(calls_of(delta))
        if any(function_of(call) is None for call in calls):
            raise Stop("AttributeError", "a tool call delta without 'function'")
        for call in calls:
            self.call(merged_choice, call, event)

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        function = function_of(call)
        arguments = function.get("arguments") if function else None
        if arguments is not None and not isinstance(arguments, str):
            raise Stop("ValidationError", "arguments that are not a string")
        part = self._match(choice, call)
        if part is None:
            part = new_call(choice)
            part.name = str(call.get("index"))
        if string_at(call, "id") and string_at(call, "id") != part.text("id"):
            part.add("id", string_at(call, "id"), event)
        for field in ("name", "arguments"):
            if string_at(function, field):
                part.add(field, string_at(function, field), event)

    def _match(self, choice: HeldChoice, call: Delta) -> PartBuffer | None:
        if type(call.get("index")) is not int:
            return None
        wanted = string_at(call, "id")
        return next(
            (
                part
                for part in choice.calls
                if part.name == str(call["index"]) and (not wanted or part.text("id") in (None, "", wanted))
            ),
            None,
        )


class PydanticAI(ChatPolicy):
    """``pydantic-ai-slim`` 2.68.0, ``_parts_manager.py``: ``handle_tool_call_delta``; ``models/openai``: its caller.

    One call for each index; names and arguments are joined, a later id replaces the earlier. Without an index a delta
    with a name begins a call, one without continues with the call before it. A call that gets no name is left out; one
    without an id gets one. The first choice alone.
    """

    name, package = "pydantic-ai", "pydantic-ai-slim 2.68.0"

    def take(self, value: Delta, event: int) -> None:
        first = value.get("choices")
        if isinstance(first, list) and first and isinstance(first[0], dict):
            self.choice(first[0] | {"index": 0}, event)

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        function, index = function_of(call), call.get("index")
        name = function.get("name") if function else None
        arguments = function.get("arguments") if function else None
        part = self._match(choice, index, name)
        if part is None:
            part = new_call(choice)
            part.name = str(index)
        if isinstance(name, str):
            part.add("name", name, event)
        if string_at(call, "id"):
            part.put("id", string_at(call, "id"), event)
        if isinstance(arguments, dict):
            if part.text("arguments"):
                raise Stop("UnexpectedModelBehavior", "arguments are an object, but an earlier delta sent text")
            part.value = ({**(part.value[0] if part.value else {}), **arguments},)
        elif arguments and part.value:
            raise Stop("UnexpectedModelBehavior", "arguments are text, but an earlier delta sent an object")
        else:
            part.add("arguments", arguments if isinstance(arguments, str) else "", event)

    def _match(self, choice: HeldChoice, index: JsonValue, name: JsonValue) -> PartBuffer | None:
        if index is not None:
            return next((part for part in choice.calls if part.name == str(index)), None)
        return choice.calls[-1] if choice.calls and name is None else None

    def finish(self) -> None:
        for state in self.choices.values():
            parts = [part for part in state.calls if "name" in part.strings]
            if len(parts) < len(state.calls):
                self.remarks["a call without a name is ignored"] = None
            state.calls = parts
            for part in parts:
                if "id" not in part.strings:
                    part.put("id", MADE_UP, -1)


POLICIES: Sequence[type[ChatPolicy]] = (OpenAIPythonChat, LangChain, PydanticAI)
