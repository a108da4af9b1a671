"""Shared code of the policies for Chat Completions: reading chunks, and the parts of one choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.ir import JsonValue
from workbench.protocols.clients.buffers import CALL, REASONING, TEXT, DataBlock, PartBuffer, Stop

REASONINGS = ("reasoning_content", "reasoning")
"""Fields in which reasoning travels as a string."""

Delta = Mapping[str, JsonValue]


class HeldChoice:
    """One choice as a client holds it."""

    def __init__(self) -> None:
        self.text = PartBuffer(TEXT)
        self.reasoning = {name: PartBuffer(REASONING, name) for name in REASONINGS}
        self.calls: list[PartBuffer] = []
        self.finish_reason: str | None = None
        self.role: str | None = None

    def parts(self) -> list[PartBuffer]:
        """Reasoning, text and calls, in this order."""
        return [*self.reasoning.values(), self.text, *self.calls]

    def take_text(self, delta: Delta, event: int) -> None:
        """Append the content of a delta."""
        if isinstance(delta.get("content"), str):
            self.text.add("text", delta["content"], event)

    def take_reasoning(self, delta: Delta, event: int) -> None:
        """Append the reasoning of a delta."""
        for name, part in self.reasoning.items():
            if isinstance(delta.get(name), str):
                part.add("text", delta[name], event)


class ChatPolicy:
    """Reads chunks up to ``[DONE]``; raises where data is no JSON or holds an error."""

    name = package = ""

    def __init__(self) -> None:
        self.choices: dict[int, HeldChoice] = {}
        self.remarks: dict[str, None] = {}

    def feed(self, chunk: DataBlock) -> bool:
        if chunk.data.startswith(b"[DONE]"):
            return True
        if not chunk.is_json:
            raise Stop("JSONDecodeError", "the data of a chunk is not JSON")
        value = chunk.value if isinstance(chunk.value, dict) else {}
        if value.get("error"):
            raise Stop("APIError", "the stream contains an error")
        self.take(value, chunk.event)
        return False

    def take(self, value: Delta, event: int) -> None:
        """One chunk."""
        for choice in choices_of(value):
            self.choice(choice, event)

    def choice(self, choice: Delta, event: int) -> None:
        """One choice of a chunk: its text, its reasoning and its calls."""
        state = self.held_choice(choice)
        delta = choice.get("delta")
        if choice.get("finish_reason"):
            state.finish_reason = str(choice["finish_reason"])
        if isinstance(delta, dict):
            state.role = state.role or delta.get("role")
            state.take_text(delta, event)
            state.take_reasoning(delta, event)
            for call in calls_of(delta):
                self.call(state, call, event)

    def held_choice(self, choice: Delta) -> HeldChoice:
        """The choice of this index."""
        index = choice.get("index")
        return self.choices.setdefault(index if type(index) is int else 0, HeldChoice())

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        """One delta of a call."""
        raise NotImplementedError

    def finish(self) -> None:
        return

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        return [self.choices[n].parts() for n in sorted(self.choices)]

    def notes(self) -> tuple[str, ...]:
        return tuple(self.remarks)


def choices_of(value: Delta) -> Iterator[Delta]:
    """The choices of a chunk that are objects."""
    found = value.get("choices")
    return (c for c in (found if isinstance(found, list) else ()) if isinstance(c, dict))


def calls_of(delta: Delta) -> Iterator[Delta]:
    """The deltas of calls that are objects."""
    found = delta.get("tool_calls")
    return (c for c in (found if isinstance(found, list) else ()) if isinstance(c, dict))


def function_of(call: Delta) -> Delta | None:
    """The function of a call; None where there is none."""
    found = call.get("function")
    return found if isinstance(found, dict) else None


def string_at(of: Delta | None, key: str) -> str:
    """A string of an object; "" where it is missing or no string."""
    found = of.get(key) if of else None
    return found if isinstance(found, str) else ""


def new_call(choice: HeldChoice) -> PartBuffer:
    """Another call at the end."""
    call = PartBuffer(CALL)
    choice.calls.append(call)
    return call
