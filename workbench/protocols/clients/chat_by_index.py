"""Clients of Chat Completions that keep one call for each index."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from workbench.ir import JsonValue
from workbench.protocols.clients._chat import ChatPolicy, Delta, HeldChoice, calls_of, function_of, new_call, string_at
from workbench.protocols.clients.buffers import MADE_UP, NAIVE, PartBuffer, Stop


class _ByIndex(ChatPolicy):
    """A table of calls by the value of ``index``, of each choice."""

    def __init__(self) -> None:
        super().__init__()
        self.table: dict[tuple[int, JsonValue], PartBuffer] = {}

    def at(self, choice: HeldChoice, index: JsonValue) -> tuple[PartBuffer, bool]:
        """The call at an index, and whether it is new."""
        key = (id(choice), index if isinstance(index, int | str) else None)
        found = self.table.get(key)
        if found is None:
            found = self.table[key] = new_call(choice)
            found.name = str(index) if type(index) is int else ""
            return found, True
        return found, False


class OpenAINode(_ByIndex):
    """``openai`` 6.49.0 (Node), ``lib/ChatCompletionStream.js``: ``#accumulateChatCompletion`` and the end.

    Later ids and names replace earlier ones; arguments are appended. A call without an index is put on a property
    that no list shows. Reasoning fields are assigned, so that the last piece is all that is left. At the end a missing
    finish reason, role, type or function raises.
    """

    name, package = "openai-node", "openai 6.49.0 (Node)"

    def choice(self, choice: Delta, event: int) -> None:
        delta = choice.get("delta")
        super().choice(choice, event)
        for name, part in self.held_choice(choice).reasoning.items():
            if isinstance(delta, dict) and isinstance(delta.get(name), str):
                part.put("text", delta[name], event)

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        if type(call.get("index")) is not int:
            self.remarks["a call without an index is lost"] = None
            return
        part, _ = self.at(choice, call["index"])
        function = function_of(call)
        for field, value in (("id", string_at(call, "id")), ("name", string_at(function, "name"))):
            if value:
                part.put(field, value, event)
        if string_at(call, "type"):
            part.put("type", string_at(call, "type"), event)
        if function is not None:
            part.strings.setdefault("name", [])
            arguments = function.get("arguments")
            argument_text = arguments if isinstance(arguments, str) else "[object Object]" if arguments else ""
            part.add("arguments", argument_text, event)

    def finish(self) -> None:
        for state in self.choices.values():
            state.calls.sort(key=lambda part: int(part.name or 0))
            if not state.finish_reason:
                raise Stop("OpenAIError", "missing finish_reason")
            if not state.role:
                raise Stop("OpenAIError", "missing role")
            if [part.name for part in state.calls] != [str(n) for n in range(len(state.calls))]:
                raise Stop("OpenAIError", "an index is missing: the list of calls has a gap")
            for n, part in enumerate(state.calls):
                for field, label in (("type", "type"), ("name", "function.name"), ("arguments", "function.arguments")):
                    if field not in part.strings:
                        raise Stop("OpenAIError", f"missing tool_calls[{n}].{label}")
                if "id" not in part.strings:
                    part.put("id", MADE_UP, -1)


class LiteLLM(_ByIndex):
    """``litellm`` 1.109.1, ``streaming_chunk_builder_utils.py``: ``get_combined_tool_content``.

    One call for each index (0 where there is none); later ids and names replace earlier ones, arguments are joined.
    A call that got no id or no name is left out.
    """

    name, package = "litellm", "litellm 1.109.1"

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        function = function_of(call)
        if function is None:
            return
        part, _ = self.at(choice, call.get("index", 0))
        for field, value in (("id", string_at(call, "id")), ("name", string_at(function, "name"))):
            if value:
                part.put(field, value, event)
        arguments = function.get("arguments")
        if arguments and not isinstance(arguments, str):
            raise Stop("APIError", "arguments that are not strings cannot be joined")
        part.add("arguments", arguments or "", event)

    def finish(self) -> None:
        for choice in self.choices.values():
            whole = [part for part in choice.calls if part.text("id") and part.text("name")]
            if len(whole) < len(choice.calls):
                self.remarks["a call without an id or name is ignored"] = None
            choice.calls = sorted(whole, key=lambda part: int(part.name or 0))


class OpenAIAgentsChat(_ByIndex):
    """``openai-agents`` 0.24.0, ``models/chatcmpl_stream_handler.py``: ``ChatCmplStreamHandler.handle_stream``.

    One call for each index, without one too; later ids and names replace earlier ones, arguments are appended. What
    does not come is an empty string. The first choice alone.
    """

    name, package = "openai-agents", "openai-agents 0.24.0"

    def take(self, value: Delta, event: int) -> None:
        first = value.get("choices")
        if isinstance(first, list) and first and isinstance(first[0], dict):
            self.choice(first[0] | {"index": 0}, event)

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        part, is_new = self.at(choice, call.get("index"))
        if is_new:
            part.put("id", "", event)
            part.put("name", "", event)
        function = function_of(call)
        arguments = function.get("arguments") if function else None
        if arguments and not isinstance(arguments, str):
            raise Stop("TypeError", "arguments that are not strings cannot be joined")
        part.add("arguments", arguments or "", event)
        for field, value in (("id", string_at(call, "id")), ("name", string_at(function, "name"))):
            if value:
                part.put(field, value, event)


class Llm(_ByIndex):
    """``llm`` 0.36, ``default_plugins/openai_models.py``: ``Chat.execute``.

    The first delta of an index, or of none, is the call; of later ones the arguments alone are read. A call without
    an id gets one. Reasoning is not read. Arguments are parsed at the end and raise where they do not parse.
    """

    name, package = "llm", "llm 0.36"

    def choice(self, choice: Delta, event: int) -> None:
        state, delta = self.held_choice({}), choice.get("delta")
        if isinstance(delta, dict):
            state.take_text(delta, event)
            for call in calls_of(delta):
                self.call(state, call, event)

    def take(self, value: Delta, event: int) -> None:
        first = value.get("choices")
        if isinstance(first, list) and first and isinstance(first[0], dict):
            self.choice(first[0], event)

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        function = function_of(call)
        if function is None:
            raise Stop("AttributeError", "a delta of a call without a function")
        part, is_new = self.at(choice, call.get("index"))
        if is_new:
            for field, of in (("id", call), ("name", function)):
                if string_at(of, field):
                    part.put(field, string_at(of, field), event)
        arguments = function.get("arguments")
        if arguments and not isinstance(arguments, str):
            raise Stop("TypeError", "arguments that are not strings cannot be joined")
        part.add("arguments", arguments or "", event)

    def finish(self) -> None:
        for part in (part for choice in self.choices.values() for part in choice.calls):
            if part.text("arguments"):
                part.settle()
                if part.value is None:
                    raise Stop("JSONDecodeError", "the arguments of a call do not parse")
                part.value = None
            if "id" not in part.strings:
                part.put("id", MADE_UP, -1)


class JoinedByPosition(ChatPolicy):
    """A client with one loop: the n-th delta of a list goes to the n-th call; indices are ignored."""

    name, package = NAIVE, "a hand-written loop that joins all deltas by position"

    def __init__(self) -> None:
        super().__init__()
        self.positions = count()

    def choice(self, choice: Delta, event: int) -> None:
        self.positions = count()
        super().choice(choice, event)

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        position = next(self.positions)
        while len(choice.calls) <= position:
            new_call(choice)
        part, function = choice.calls[position], function_of(call)
        for field, of in (("id", call), ("name", function), ("arguments", function)):
            if string_at(of, field):
                part.add(field, string_at(of, field), event)


POLICIES: Sequence[type[ChatPolicy]] = (OpenAINode, LiteLLM, OpenAIAgentsChat, Llm, JoinedByPosition)
