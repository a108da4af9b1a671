"""An answer for a client: ids it can tell apart, calls that stood in text, and handles where it wants signatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench import textcalls
from workbench.adapters import Capabilities
from workbench.bridge.changes import CALL, HANDLE, Change
from workbench.bridge.handles import handle
from workbench.conversion._ledger import Ledger
from workbench.conversion._reasoning import fit_reasoning
from workbench.ir import Carrier, Message, ModelResponse, Part, Reasoning, Text, ToolCallIR, ToolDef
from workbench.textcalls import Prose

_PROVED = {Carrier.THINKING: "signature", Carrier.REASONING_BLOCK: "signature", Carrier.ENCRYPTED_ITEM: "data"}
"""Carriers that clients want a proof in → the field of ``Reasoning`` that holds it."""


class Signer:
    """Makes the reasoning of one answer such that a client brings it back.

    The same for a part that begins, and for all of it: a stream is signed as it comes.

    Args:
        name: of the answer, for its handles.
        capabilities: of the client's protocol.
    """

    def __init__(self, name: str, capabilities: Capabilities) -> None:
        self._name = name
        self._capabilities = capabilities
        self._carrier = next((c for c in _PROVED if c.value in capabilities.reasoning), None)
        self._readable: Carrier | None = None
        self._has_marked = self._has_thought = False
        self.changes: dict[Change, None] = {}

    def __call__(self, part: Part) -> tuple[Part, ...]:
        """The parts that stand for a part of the upstream's answer."""
        if isinstance(part, Reasoning):
            self._has_thought = True
            return self._signed(part)
        if isinstance(part, ToolCallIR) and self._has_thought and not self._has_marked and self._marks_calls:
            self._has_marked = True
            self._tell("stands on the first call: its reasoning is kept here")
            mark = handle(self._name, Carrier.THOUGHT_SIGNATURE)
            return (Reasoning(Carrier.THOUGHT_SIGNATURE, None, mark, source=replace(part.source, fields={})), part)
        return (part,)

    @property
    def _marks_calls(self) -> bool:
        return Carrier.THOUGHT_SIGNATURE.value in self._capabilities.reasoning

    def _signed(self, part: Reasoning) -> tuple[Part, ...]:
        if self._carrier is None:
            own = self._marks_calls and part.carrier is Carrier.THOUGHT_SIGNATURE
            return (part,) if not own or part.text is not None or part.signature else ()
        if part.carrier is not self._carrier and fit_reasoning(part, "", self._capabilities, Ledger()) is not None:
            return (part,)  # its proof is known to this protocol, too
        if part.carrier is self._carrier and (part.signature or part.data is not None):
            return (part,)
        if part.text is None or self._readable not in (None, part.carrier):
            return ()  # it is kept, and said elsewhere
        self._readable = part.carrier
        self._tell(f"in the place of a proof, on reasoning that came as {part.carrier.value}")
        proof = {_PROVED[self._carrier]: handle(self._name, self._carrier)}
        bare = replace(part, carrier=self._carrier, signature=None, data=None, extra={})
        return (replace(bare, **proof),)  # type: ignore[arg-type]

    def _tell(self, words: str) -> None:
        self.changes[Change(HANDLE, f"{handle(self._name, Carrier.THINKING)} {words}")] = None


def signed(response: ModelResponse, signer: Signer) -> ModelResponse:
    """A whole answer, signed."""
    messages = tuple(
        replace(message, parts=tuple(made for part in message.parts for made in signer(part)))
        for message in response.messages
    )
    return replace(response, messages=messages)


def named(part: Part, name: str, number: int) -> Part:
    """A call that came without an id, with one: clients answer calls by their ids."""
    return replace(part, id=f"call_{name}_{number}") if isinstance(part, ToolCallIR) and not part.id else part


def parsed(response: ModelResponse, parser: str, tools: Sequence[ToolDef]) -> tuple[ModelResponse, list[Change]]:
    """An answer with the calls of its text as calls; what cannot be read stays text."""
    changes = list[Change]()
    messages = tuple(_parsed(message, parser, tools, changes) for message in response.messages)
    if not any(change.text.startswith("read") for change in changes):
        return response, changes
    return replace(response, messages=messages, stop="tool_calls", finish_reason="tool_calls"), changes


def _parsed(message: Message, parser: str, tools: Sequence[ToolDef], changes: list[Change]) -> Message:
    if any(message.tool_calls()):
        return message
    parts = list[Part]()
    for part in message.parts:
        parts += _read(part, parser, tools, changes) if isinstance(part, Text) else [part]
    return replace(message, parts=tuple(parts))


def _read(part: Text, parser: str, tools: Sequence[ToolDef], changes: list[Change]) -> Iterator[Part]:
    reader = textcalls.get(parser).parser(tools)
    words = ""
    for found in (*reader.feed(part.text), *reader.close()):
        if isinstance(found, Prose):
            words += found.text
        elif found.name is None or found.input is None:
            changes.append(Change(CALL, f"one as {found.format} stays text: {', '.join(found.problems)}"))
            words += part.text[found.start : found.end]
        else:
            if words.strip():
                yield Text(words)
            words = ""
            changes.append(Change(CALL, f"read from the text, as {found.format}: {found.name}"))
            yield ToolCallIR(found.id, found.name, found.input, "function")
    if words.strip():
        yield Text(words)
