"""Completes a response for a client: ids for tool calls, calls found in text, and handles in place of signatures."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator, Sequence

from workbench import protocols, regex
from workbench.convert import LossReport, fit_reasoning
from workbench.ir import Carrier, Message, ModelResponse, Part, Reasoning, Source, Text, ToolCallIR, ToolDef
from workbench.lazy_dataclass import replace
from workbench.protocols import Capabilities
from workbench.recorder.translation.changes import CALL, HANDLE, TranslationChange
from workbench.toolcalls import formats
from workbench.toolcalls.formats import Prose
from workbench.wire import dumps, loads

MARK = "workbench:"
_HANDLE = regex.compile(re.escape(MARK) + r"([0-9a-z]+)")
_PACKED = b64encode(MARK.encode()[:9]).decode()  # nine bytes are twelve letters, whatever follows


def handle(name: str, carrier: Carrier) -> str:
    """The handle of a response, for one of a client's carriers: Gemini's signatures are bytes."""
    text = MARK + name
    return b64encode(text.encode()).decode() if carrier is Carrier.THOUGHT_SIGNATURE else text


def name_in(proof: object) -> str | None:
    """Name of the response in a handle; empty if it is marked as one and unreadable, None if it is no handle."""
    if not isinstance(proof, str):
        return None
    if proof.startswith(_PACKED):
        try:
            proof = b64decode(proof.replace("-", "+").replace("_", "/"), validate=True).decode()
        except (NotBase64, ValueError):
            return None
    if not proof.startswith(MARK):
        return None
    found = _HANDLE.fullmatch(proof)
    return found[1] if found else ""


def name_of(part: Reasoning) -> str | None:
    """The same for a piece of reasoning, in whichever field it has the handle."""
    found = (name_in(part.signature), name_in(part.data))
    return next((name for name in found if name is not None), None)


_PROVED = {Carrier.THINKING: "signature", Carrier.REASONING_BLOCK: "signature", Carrier.ENCRYPTED_ITEM: "data"}
"""Carriers that clients want a proof in → the field of ``Reasoning`` that holds it."""

_CALL, _DATA = b'"functionCall":', b"data: "


class Signer:
    """Adds proofs to the reasoning of one response, so that the client sends it back.

    Args:
        name: of the answer, for its handles.
        capabilities: of the client's protocol.

    Attributes:
        changes: what was done.
    """

    def __init__(self, name: str, capabilities: Capabilities) -> None:
        self.changes: list[TranslationChange] = []
        self._name = name
        self._capabilities = capabilities
        self._carrier = next((c for c in _PROVED if c.value in capabilities.reasoning.carriers), None)
        self._readable: Carrier | None = None
        self._has_marked = Carrier.THOUGHT_SIGNATURE.value not in capabilities.reasoning.carriers

    def prove(self, part: Reasoning) -> str | None:
        """A proof for reasoning that has none; None if the same reasoning is already proved in another carrier."""
        if self._carrier is None or self._readable not in (None, part.carrier):
            return None
        if self._readable is None:
            note = f"sent instead of a signature: the reasoning received as {part.carrier.value} has none"
            self._record(note)
        self._readable = part.carrier
        return handle(self._name, self._carrier)

    def parts(self, parts: Sequence[Part]) -> Iterator[Part]:
        """Parts of a complete response, with proofs."""
        call_to_mark = next((p for p in parts if isinstance(p, ToolCallIR)), None) if self._needs_mark(parts) else None
        for part in parts:
            if isinstance(part, Reasoning):
                yield from self._prove_part(part)
                continue
            if part is call_to_mark:
                yield Reasoning(Carrier.THOUGHT_SIGNATURE, None, self.mark(), source=Source(part.source.pointer))
                call_to_mark = None
            yield part

    def mark(self) -> str:
        """The proof on a tool call, for protocols in which calls carry that of the reasoning before them."""
        self._record("sent with the first tool call, instead of the signature of its reasoning")
        return handle(self._name, Carrier.THOUGHT_SIGNATURE)

    def mark_first_call(self, data: bytes, parts: Callable[[], Sequence[Part]]) -> bytes:
        """Events of the client's stream, with that proof on the first tool call.

        Args:
            parts: gives those of the upstream that have come.
        """
        if self._has_marked or _CALL not in data:
            return data
        self._has_marked = True
        return _with_mark(data, self.mark()) if self._needs_mark(parts()) else data

    def _needs_mark(self, parts: Sequence[Part]) -> bool:
        """The client's protocol has signatures on calls, and this response has reasoning without one."""
        thoughts = [part for part in parts if isinstance(part, Reasoning)]
        is_signed = any(p.carrier is Carrier.THOUGHT_SIGNATURE and p.signature for p in thoughts)
        has_place = Carrier.THOUGHT_SIGNATURE.value in self._capabilities.reasoning.carriers
        return has_place and bool(thoughts) and not is_signed

    def _prove_part(self, part: Reasoning) -> Iterator[Part]:
        is_own = part.carrier is self._carrier and (part.signature or part.data is not None)
        is_ported = part.carrier is not self._carrier and fit_reasoning(part, "", self._capabilities, LossReport())
        if self._carrier is None or is_own or is_ported:
            yield part
        elif part.text is not None and (proof := self.prove(part)):
            bare = Reasoning(self._carrier, part.text, source=part.source)
            yield replace(bare, **{_PROVED[self._carrier]: proof})  # type: ignore[arg-type]

    def _record(self, words: str) -> None:
        self.changes.append(TranslationChange(HANDLE, f"{MARK}{self._name} {words}"))


def _with_mark(data: bytes, mark: str) -> bytes:
    """Complete events with a signature on the first part that has a call."""
    lines = data.split(b"\n")
    at = next(n for n, line in enumerate(lines) if _CALL in line)
    bare = lines[at].rstrip(b"\r")
    value = loads(bare.removeprefix(_DATA))
    parts = (part for candidate in value["candidates"] for part in candidate["content"]["parts"])
    next(part for part in parts if "functionCall" in part)["thoughtSignature"] = mark
    lines[at] = _DATA + dumps(value) + lines[at][len(bare) :]
    return b"\n".join(lines)


def with_proofs(response: ModelResponse, signer: Signer) -> ModelResponse:
    """A complete response with proofs."""
    messages = tuple(replace(message, parts=tuple(signer.parts(message.parts))) for message in response.messages)
    return replace(response, messages=messages)


class ResponseNamer:
    """Chooses ids for one response and for its calls without ids: clients answer calls by their ids."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0

    def response_id(self, client: str) -> str:
        """Id of the response for a client of that protocol; empty if any will do."""
        prefix = protocols.get(client).serving.answer_prefix
        return f"{prefix}{self._name}" if prefix else ""

    def choose(self, old: str | None) -> str | None:
        """An id for a call without one; None for a call that has one."""
        if old:
            return None
        self._count += 1
        return f"call_{self._name}_{self._count}"

    def with_call_ids(self, response: ModelResponse) -> ModelResponse:
        """A complete response in which every call has an id."""
        messages = tuple(replace(m, parts=tuple(map(self._with_id, m.parts))) for m in response.messages)
        return replace(response, messages=messages)

    def _with_id(self, part: Part) -> Part:
        return replace(part, id=self.choose(None)) if isinstance(part, ToolCallIR) and not part.id else part


def read_text_calls(
    response: ModelResponse, parser: str, tools: Sequence[ToolDef]
) -> tuple[ModelResponse, list[TranslationChange]]:
    """A response with the calls in its text as tool calls; what cannot be read stays text."""
    changes = list[TranslationChange]()
    messages = tuple(_read_message(message, parser, tools, changes) for message in response.messages)
    if not any(new is not old and any(new.tool_calls()) for new, old in zip(messages, response.messages, strict=True)):
        return response, changes
    return replace(response, messages=messages, stop="tool_calls", finish_reason="tool_calls"), changes


def _read_message(message: Message, parser: str, tools: Sequence[ToolDef], changes: list[TranslationChange]) -> Message:
    if any(message.tool_calls()):
        return message
    parts = list[Part]()
    for part in message.parts:
        parts += _read_text(part, parser, tools, changes) if isinstance(part, Text) else [part]
    return replace(message, parts=tuple(parts))


def _read_text(part: Text, parser: str, tools: Sequence[ToolDef], changes: list[TranslationChange]) -> Iterator[Part]:
    reader = formats.get(parser).parser(tools)
    words = ""
    for found in (*reader.feed(part.text), *reader.close()):
        if isinstance(found, Prose):
            words += found.text
        elif found.name is None or found.input is None:
            changes.append(
                TranslationChange(CALL, f"a call in format {found.format} remains text: {', '.join(found.problems)}")
            )
            words += part.text[found.start : found.end]
        else:
            if words.strip():
                yield Text(words)
            words = ""
            changes.append(TranslationChange(CALL, f"parsed from text as {found.format}: {found.name}"))
            yield ToolCallIR(found.id, found.name, found.input, "function")
    if words.strip():
        yield Text(words)
