"""Converts a streaming answer part by part; emits what can no longer change, the rest at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from workbench.convert.declared_tools import NO_TOOLS, DeclaredTools
from workbench.convert.fit import MessageReducer
from workbench.convert.losses import LossReport
from workbench.convert.names import AnswerIds
from workbench.convert.normal import normal_parts
from workbench.convert.reasoning import SINGLE
from workbench.ir import NOTHING, Carrier, Part, Reasoning, Text, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.protocols import Capabilities, StreamingPart, StreamWriter
from workbench.protocols.common import Splitter, string_of, write_part

_PROVING = (Carrier.THINKING, Carrier.REASONING_BLOCK, Carrier.ENCRYPTED_ITEM)
"""Carriers with a place for a proof: a signature, or encrypted state."""

_EMPTY_LINE = "\n\n"


class _EmittedPart:
    """A part that was emitted, with its string in pieces."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.texts: list[str] = []

    def whole(self) -> Part:
        text = "".join(self.texts)
        return replace(self.part, text=text) if isinstance(self.part, Text | Reasoning) else self.part


class StreamConverter:
    """Emits the parts of one answer in sequence.

    Args:
        writer: writes them in the target protocol.
        capabilities: of the target.
        ids: assigns ids to calls.
        prove: returns the proof of reasoning.
        sign_call: returns the signature of a call.
        declared: the tools that the client declared.
    """

    def __init__(
        self,
        writer: StreamWriter,
        capabilities: Capabilities,
        ids: AnswerIds,
        prove: Callable[[Reasoning], str | None] | None = None,
        sign_call: Callable[[ToolCallIR], str | None] | None = None,
        declared: DeclaredTools = NO_TOOLS,
    ) -> None:
        self._writer = writer
        self._capabilities = capabilities
        self._ids = ids
        self._prove = prove
        self._sign_call = sign_call if Carrier.THOUGHT_SIGNATURE in capabilities.reasoning.carriers else None
        self._proof_carrier = (
            next((c for c in _PROVING if c in capabilities.reasoning.carriers), None) if prove else None
        )
        self._reducer = MessageReducer(capabilities, LossReport(), ids, NOTHING, declared, is_answer=True)
        self._declared = declared
        self._count = 0  # number of parts opened
        self._read_pieces = 0  # pieces of the growing part read so far
        self._splitter: Splitter | None = None
        self._source_part: Part | None = None  # in the source protocol; None while its type is unknown
        self._waiting: list[str] = []  # pieces that wait for the part to be opened
        self._target_part: Part | None = None  # in the target protocol
        self._emitted_texts: list[str] = []  # pieces of it that were emitted
        self._length = 0  # characters in them
        self._is_in_stream = False  # the writer has emitted them, and does not wait for the end
        self.unwrapped_calls: list[ToolCallIR] = []  # calls emitted unwrapped that should be wrapped
        self._high_surrogate = ""  # half of a surrogate pair
        self._emitted: list[_EmittedPart] = []
        self._single: dict[object, _EmittedPart] = {}
        self._current: _EmittedPart | None = None
        self._last: type[Part] | None = None  # type of the last part that was emitted as its own

    def emit_available(self, part: StreamingPart, out: list[bytes]) -> None:
        """Emit the beginning of a part that can no longer change."""
        if self._source_part is None:
            self._source_part = part.opening()
            if self._source_part is None:
                return
            if part.is_tagged and isinstance(self._source_part, Text):
                self._splitter = Splitter()
        pieces = part.since(self._read_pieces)
        self._read_pieces += len(pieces)
        text = "".join(pieces)
        if self._splitter:
            self._split(self._splitter.feed(text), out)
        elif text:
            self._append_text(text, out)

    def finish_part(self, part: StreamingPart, out: list[bytes]) -> None:
        """Emit the rest of a complete part."""
        if self._splitter:
            self._split(self._splitter.close(), out)
            self._close(None, out)
        else:
            for n, whole in enumerate(normal_parts(part.parts())):
                if n:
                    self._source_part = whole
                self._close(whole, out)
        self._splitter, self._read_pieces, self._source_part = None, 0, None

    def break_off(self, part: StreamingPart, out: list[bytes]) -> None:
        """End inside a part: emit the rest of it, unless it is a tool call."""
        if self._splitter:
            self._split(self._splitter.close(), out)
        elif self._target_part is None:
            for whole in normal_parts(part.parts()):
                if not isinstance(whole, ToolCallIR):
                    self._close(whole, out)
        if self._target_part is not None and self._high_surrogate:
            self._send("", out, is_last=True)
        if isinstance(self._target_part, ToolCallIR) and not self._is_in_stream:
            self._emitted.pop()

    def _split(self, pieces: Iterable[tuple[bool, str]], out: list[bytes]) -> None:
        """Split text with ``<think>`` tags; each change between text and reasoning starts a new part."""
        for is_thought, text in pieces:
            head: Part = Reasoning(Carrier.THINK_TEXT, "") if is_thought else Text("")
            if type(head) is not type(self._source_part):
                self._close(None, out)
                self._source_part = head
            if text:
                self._append_text(text, out)

    def _append_text(self, text: str, out: list[bytes]) -> None:
        if self._target_part is None:
            self._waiting.append(text)
            if not text.strip() and not (self._capabilities.request.empty_text and isinstance(self._source_part, Text)):
                return
            if not self._open(out):
                return
            text = "".join(self._waiting)
            self._waiting = []
        self._send(text, out)

    def _open(self, out: list[bytes]) -> bool:
        """Open the part if the target can hold it with any remaining content."""
        source_part = self._source_part
        if isinstance(source_part, Text):
            head: Part | None = source_part
        elif isinstance(source_part, Reasoning):
            head = self._open_reasoning(source_part)
        elif isinstance(source_part, ToolCallIR) and self._declared.is_free_text(source_part.name):
            head = None  # its text is inside an object
        elif isinstance(source_part, ToolCallIR):
            first = next(text for text in self._waiting if text.strip())
            is_object = first.lstrip().startswith("{") or self._capabilities.tools.arguments == "string"
            head = self._fit(replace(source_part, input={}, raw="{}")) if is_object else None
        else:
            head = None
        if head is None:
            return False
        self._enter(head, out)
        return True

    def _open_reasoning(self, reasoning: Reasoning) -> Part | None:
        """Open reasoning; None if only its end shows whether the target accepts it."""
        capabilities = self._capabilities
        if (
            self._proof_carrier
            and reasoning.carrier not in capabilities.reasoning.carriers - capabilities.reasoning.proved
        ):
            return _with_proof(reasoning, self._proof_carrier, "")
        fitted = self._fit(replace(reasoning, text="-"))
        return replace(fitted, text="") if isinstance(fitted, Reasoning) else None

    def _fit(self, part: Part) -> Part | None:
        self._count += 1
        place = (0, self._count)
        if isinstance(part, ToolCallIR) and not part.is_server:
            new = self._target_part.id if isinstance(self._target_part, ToolCallIR) else self._ids.assign(part.id)
            if new and not part.id:
                self._ids.by_place[place] = new
        return self._reducer.fit_part(place, part, "")

    def _enter(self, head: Part, out: list[bytes]) -> None:
        """Open a part in the target, or continue an earlier one if the target has a single string for both."""
        one, border = self._continued_part(head), ""
        if one:
            border = "" if isinstance(head, Text) and self._last is Text else _EMPTY_LINE
            self._current = one
        else:
            self._current = _EmittedPart(head)
            self._emitted.append(self._current)
            if string := self._string_key(head):
                self._single[string] = self._current
        if not one or isinstance(head, Text):
            self._last = type(head)
        self._target_part, self._length, self._is_in_stream = head, 0, False
        proof = self._sign_call(head) if self._sign_call and isinstance(head, ToolCallIR) else None
        if proof is not None:
            out.append(write_part(self._writer, Reasoning(Carrier.THOUGHT_SIGNATURE, None, proof)))
        out.append(self._writer.open(head))
        if border:
            out.append(self._writer.grow(border))
            self._current.texts.append(border)

    def _close(self, whole: Part | None, out: list[bytes]) -> None:
        """Finish a part. ``whole`` is the complete part; None for text that was split at ``<think>`` tags."""
        if whole is None:
            text = "".join((*self._emitted_texts, *self._waiting, self._high_surrogate))
            whole = replace(self._source_part, text=text) if isinstance(self._source_part, Text | Reasoning) else None
        if whole is not None and whole != Text(""):
            self._finish_whole(whole, out)
        self._target_part, self._waiting, self._emitted_texts, self._high_surrogate, self._source_part = (
            None,
            [],
            [],
            "",
            None,
        )

    def _finish_whole(self, whole: Part, out: list[bytes]) -> None:
        fitted = self._fit_with_proof(whole)
        if self._target_part is None:
            if fitted is None:
                return
            self._enter(fitted, out)
        elif self._is_in_stream and isinstance(whole, ToolCallIR) and getattr(fitted, "input", None) != whole.input:
            self.unwrapped_calls.append(whole)
        fitted = fitted or self._target_part
        assert fitted is not None and self._current is not None
        self._high_surrogate = ""
        rest = _join_surrogates(string_of(fitted if self._length == 0 else whole))[self._length :]
        if rest:
            self._send(rest, out, is_last=True)
        if self._current.part is self._target_part:
            self._current.part = fitted
        out.append(self._writer.close(fitted))

    def _fit_with_proof(self, whole: Part) -> Part | None:
        """A part as the target accepts it, with the proof that it requires."""
        fitted = self._fit(whole)
        if not isinstance(whole, Reasoning) or not self._proof_carrier or (fitted and _is_proved(fitted)):
            return fitted
        proof = self._prove(whole) if self._prove else None
        if proof is None:
            return fitted
        return _with_proof(Reasoning(self._proof_carrier, whole.text or ""), self._proof_carrier, proof)

    def _continued_part(self, head: Part) -> _EmittedPart | None:
        """The emitted part that this one continues, if the target has a single string for both."""
        return self._single.get(self._string_key(head))

    def _string_key(self, part: Part) -> object:
        """Key of the single string that a part belongs to in the target; None if it is a part of its own."""
        if isinstance(part, Text) and "answer" in self._capabilities.request.one_text:
            return Text
        return part.carrier if isinstance(part, Reasoning) and part.carrier in SINGLE else None

    def _send(self, text: str, out: list[bytes], *, is_last: bool = False) -> None:
        """Emit text; the first half of a surrogate pair waits for the second."""
        text = self._high_surrogate + text
        self._high_surrogate = text[-1] if "\ud800" <= text[-1] <= "\udbff" and not is_last else ""
        text = _join_surrogates(text[:-1] if self._high_surrogate else text)
        if text:
            assert self._current is not None
            self._length += len(text)
            self._emitted_texts.append(text)
            self._current.texts.append(text)
            data = self._writer.grow(text)
            self._is_in_stream = self._is_in_stream or bool(data)
            out.append(data)

    # -- when the answer is over

    def unsent_parts(self, parts: Sequence[Part], report: LossReport, *, is_broken: bool) -> list[Part]:
        """Parts (or tails of parts) of the final answer that have not been emitted.

        Args:
            parts: of the answer as fitted when it was complete.
            report: collects differences between what was emitted and what would be written now.
            is_broken: the stream broke off.
        """
        sent_parts = [emission.whole() for emission in self._emitted]
        by_key: dict[object, list[Part]] = {}
        for part in sent_parts:
            by_key.setdefault(_key(part), []).append(part)
        rest = list[Part]()
        for part in parts:
            same = by_key.get(_key(part))
            twin = same.pop(0) if same else None
            if twin is None:
                rest.append(part)
            elif twin != part and isinstance(part, ToolCallIR) and not is_broken:
                report.lose("", f"the arguments of the tool call {part.id!r:.80}", "forwarded unchanged")
        unlike = [part for same_key in by_key.values() for part in same_key]
        texts: dict[type, str] = {
            kind: "".join(string_of(p) for p in unlike if isinstance(p, kind)) for kind in (Text, Reasoning)
        }
        return [*self._unsent(rest, unlike, texts, report, is_broken=is_broken)]

    def _unsent(
        self,
        parts: Sequence[Part],
        unlike: Sequence[Part],
        texts: Mapping[type, str],
        report: LossReport,
        *,
        is_broken: bool,
    ) -> Iterator[Part]:
        for part in parts:
            if isinstance(part, ToolCallIR) and is_broken:
                report.lose("", f"the tool call {part.name!r:.80}, because the stream ends inside it")
            elif not isinstance(part, Text | Reasoning):
                yield part
            elif beginning := self._emitted_beginning(part, unlike):
                yield replace(part, text=string_of(part)[len(string_of(beginning)) :])
            elif part.text and any(part.text in text for text in texts.values()):
                report.lose("", "the order of reasoning, text and tool calls", "kept in the order of arrival")
            else:
                yield part

    def _emitted_beginning(self, part: Text | Reasoning, unlike: Sequence[Part]) -> Part | None:
        """The emitted beginning of a part that the target has a single string for."""
        if not self._continued_part(part):
            return None
        alike = (p for p in unlike if type(p) is type(part) and string_of(part).startswith(string_of(p)))
        return next(alike, None)


def _key(part: Part) -> object:
    """Identity of a part."""
    if isinstance(part, ToolCallIR):
        return ToolCallIR, part.id, part.name
    if isinstance(part, Text | Reasoning):
        return type(part), _join_surrogates(part.text or ""), getattr(part, "signature", None)
    return type(part), repr(part)


def _with_proof(part: Reasoning, carrier: Carrier, proof: str) -> Reasoning:
    if carrier is Carrier.ENCRYPTED_ITEM:
        return replace(part, carrier=carrier, data=proof)
    return replace(part, carrier=carrier, signature=proof)


def _is_proved(part: Part) -> bool:
    return isinstance(part, Reasoning) and bool(part.signature or part.data is not None)


def _join_surrogates(text: str) -> str:
    """Join surrogate halves that meet into one character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
