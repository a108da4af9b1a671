"""Parts of an answer on their way into a stream: as much of each as is certain, and the rest when it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from workbench.convert.declared import NONE, Declared
from workbench.convert.fit import Fitter
from workbench.convert.losses import Ledger
from workbench.convert.names import AnswerIds
from workbench.convert.normal import normal_parts
from workbench.convert.reasoning import SINGLE
from workbench.ir import NOTHING, Carrier, Part, Reasoning, Text, ToolCallIR
from workbench.protocols import Capabilities, Growing, StreamWriter
from workbench.protocols.common.think_tags import Splitter
from workbench.protocols.common.writing import string_of, write_part

_PROVING = (Carrier.THINKING, Carrier.REASONING_BLOCK, Carrier.ENCRYPTED_ITEM)
"""Carriers that have a place for a proof: a signature, or encrypted state."""

_EMPTY_LINE = "\n\n"


class _Written:
    """A part that has left: its names, and its string in pieces."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.texts: list[str] = []

    def whole(self) -> Part:
        text = "".join(self.texts)
        return replace(self.part, text=text) if isinstance(self.part, Text | Reasoning) else self.part


class StreamConverter:
    """Passes on the parts of one answer, one after the other.

    Args:
        writer: takes them.
        capabilities: of the target.
        ids: gives the calls their ids.
        prove: gives reasoning its proof.
        sign_call: gives a call the signature that it stands with.
        declared: the tools of whom the answer is for.
    """

    def __init__(
        self,
        writer: StreamWriter,
        capabilities: Capabilities,
        ids: AnswerIds,
        prove: Callable[[Reasoning], str | None] | None = None,
        sign_call: Callable[[ToolCallIR], str | None] | None = None,
        declared: Declared = NONE,
    ) -> None:
        self._writer = writer
        self._capabilities = capabilities
        self._ids = ids
        self._prove = prove
        self._sign_call = sign_call if Carrier.THOUGHT_SIGNATURE in capabilities.reasoning else None
        self._proved = next((c for c in _PROVING if c in capabilities.reasoning), None) if prove else None
        self._cut = Fitter(capabilities, Ledger(), ids, NOTHING, declared, is_answer=True)
        self._declared = declared
        self._count = 0  # parts that have begun
        self._sent = 0  # pieces of the growing part that were looked at
        self._splitter: Splitter | None = None
        self._begun: Part | None = None  # as it came; None while it cannot be told
        self._held: list[str] = []  # pieces that wait for it to be opened
        self._head: Part | None = None  # as it was opened
        self._own: list[str] = []  # pieces of it that have left
        self._length = 0  # characters in them
        self._is_said = False  # they stand in the stream, and do not wait for its end
        self.passed_on: list[ToolCallIR] = []  # calls whose arguments left as they are, and should have been wrapped
        self._high = ""  # half of a surrogate pair
        self._left: list[_Written] = []
        self._single: dict[object, _Written] = {}
        self._now: _Written | None = None
        self._last: type[Part] | None = None  # of the part that left last, but for reasoning that went into one before

    def pass_on(self, part: Growing, written: list[bytes]) -> None:
        """Whatever of a part can leave now."""
        if self._begun is None:
            self._begun = part.begun()
            if self._begun is None:
                return
            if part.is_tagged and isinstance(self._begun, Text):
                self._splitter = Splitter()
        pieces = part.since(self._sent)
        self._sent += len(pieces)
        text = "".join(pieces)
        if self._splitter:
            self._split(self._splitter.feed(text), written)
        elif text:
            self._grow(text, written)

    def leave(self, part: Growing, written: list[bytes]) -> None:
        """The rest of a part that is over."""
        if self._splitter:
            self._split(self._splitter.close(), written)
            self._close(None, written)
        else:
            for n, whole in enumerate(normal_parts(part.parts())):
                if n:
                    self._begun = whole
                self._close(whole, written)
        self._splitter, self._sent, self._begun = None, 0, None

    def break_off(self, part: Growing, written: list[bytes]) -> None:
        """The stream ended inside a part: what of it is no call can still leave."""
        if self._splitter:
            self._split(self._splitter.close(), written)
        elif self._head is None:
            for whole in normal_parts(part.parts()):
                if not isinstance(whole, ToolCallIR):
                    self._close(whole, written)
        if self._head is not None and self._high:
            self._send("", written, is_last=True)
        if isinstance(self._head, ToolCallIR) and not self._is_said:
            self._left.pop()

    def _split(self, pieces: Iterable[tuple[bool, str]], written: list[bytes]) -> None:
        """Text of a model that may think in it: each change between both is the border of two parts."""
        for is_thought, text in pieces:
            wanted: Part = Reasoning(Carrier.THINK_TEXT, "") if is_thought else Text("")
            if type(wanted) is not type(self._begun):
                self._close(None, written)
                self._begun = wanted
            if text:
                self._grow(text, written)

    def _grow(self, text: str, written: list[bytes]) -> None:
        if self._head is None:
            self._held.append(text)
            if not text.strip() and not (self._capabilities.empty_text and isinstance(self._begun, Text)):
                return
            if not self._open(written):
                return
            text = "".join(self._held)
            self._held = []
        self._send(text, written)

    def _open(self, written: list[bytes]) -> bool:
        """Open the part, if the target can hold it whatever is still to come of it."""
        begun = self._begun
        if isinstance(begun, Text):
            head: Part | None = begun
        elif isinstance(begun, Reasoning):
            head = self._thought(begun)
        elif isinstance(begun, ToolCallIR) and self._declared.is_free(begun.name):
            head = None  # its text stands inside an object
        elif isinstance(begun, ToolCallIR):
            first = next(text for text in self._held if text.strip())
            is_object = first.lstrip().startswith("{") or self._capabilities.arguments == "string"
            head = self._fit(replace(begun, input={}, raw="{}")) if is_object else None
        else:
            head = None
        if head is None:
            return False
        self._enter(head, written)
        return True

    def _thought(self, begun: Reasoning) -> Part | None:
        """Reasoning as it begins; None where only its end tells whether the target takes it."""
        capabilities = self._capabilities
        if self._proved and begun.carrier not in capabilities.reasoning - capabilities.proved_reasoning:
            return _with_proof(begun, self._proved, "")
        fitted = self._fit(replace(begun, text="-"))
        return replace(fitted, text="") if isinstance(fitted, Reasoning) else None

    def _fit(self, part: Part) -> Part | None:
        self._count += 1
        place = (0, self._count)
        if isinstance(part, ToolCallIR) and not part.is_server:
            new = self._head.id if isinstance(self._head, ToolCallIR) else self._ids.take(part.id)
            if new and not part.id:
                self._ids.made[place] = new
        return self._cut.part(place, part, "")

    def _enter(self, head: Part, written: list[bytes]) -> None:
        """Open a part in the target, or go on with one before where it has a single string for both."""
        one, border = self._one(head), ""
        if one:
            border = "" if isinstance(head, Text) and self._last is Text else _EMPTY_LINE
            self._now = one
        else:
            self._now = _Written(head)
            self._left.append(self._now)
            if string := self._string(head):
                self._single[string] = self._now
        if not one or isinstance(head, Text):
            self._last = type(head)
        self._head, self._length, self._is_said = head, 0, False
        proof = self._sign_call(head) if self._sign_call and isinstance(head, ToolCallIR) else None
        if proof is not None:
            written.append(write_part(self._writer, Reasoning(Carrier.THOUGHT_SIGNATURE, None, proof)))
        written.append(self._writer.open(head))
        if border:
            written.append(self._writer.grow(border))
            self._now.texts.append(border)

    def _close(self, whole: Part | None, written: list[bytes]) -> None:
        """The part is over; ``whole`` is all of it, None for text that was told apart from reasoning in it."""
        if whole is None:
            text = "".join((*self._own, *self._held, self._high))
            whole = replace(self._begun, text=text) if isinstance(self._begun, Text | Reasoning) else None
        if whole is not None and whole != Text(""):
            self._end(whole, written)
        self._head, self._held, self._own, self._high, self._begun = None, [], [], "", None

    def _end(self, whole: Part, written: list[bytes]) -> None:
        fitted = self._fitted(whole)
        if self._head is None:
            if fitted is None:
                return
            self._enter(fitted, written)
        elif self._is_said and isinstance(whole, ToolCallIR) and getattr(fitted, "input", None) != whole.input:
            self.passed_on.append(whole)
        fitted = fitted or self._head
        assert fitted is not None and self._now is not None
        self._high = ""
        rest = _paired(string_of(fitted if self._length == 0 else whole))[self._length :]
        if rest:
            self._send(rest, written, is_last=True)
        if self._now.part is self._head:
            self._now.part = fitted
        written.append(self._writer.close(fitted))

    def _fitted(self, whole: Part) -> Part | None:
        """A part as the target takes it, with the proof that it asks for."""
        fitted = self._fit(whole)
        if not isinstance(whole, Reasoning) or not self._proved or (fitted and _is_proved(fitted)):
            return fitted
        proof = self._prove(whole) if self._prove else None
        if proof is None:
            return fitted
        return _with_proof(Reasoning(self._proved, whole.text or ""), self._proved, proof)

    def _one(self, head: Part) -> _Written | None:
        """The part that left before and that this one is a piece of, for a target that keeps one string."""
        return self._single.get(self._string(head))

    def _string(self, part: Part) -> object:
        """What of the target a part is a piece of, where it has a single string for all such parts; else None."""
        if isinstance(part, Text) and "answer" in self._capabilities.one_text:
            return Text
        return part.carrier if isinstance(part, Reasoning) and part.carrier in SINGLE else None

    def _send(self, text: str, written: list[bytes], *, is_last: bool = False) -> None:
        """Write a piece; half of a character waits for the other one."""
        text = self._high + text
        self._high = text[-1] if "\ud800" <= text[-1] <= "\udbff" and not is_last else ""
        text = _paired(text[:-1] if self._high else text)
        if text:
            assert self._now is not None
            self._length += len(text)
            self._own.append(text)
            self._now.texts.append(text)
            grown = self._writer.grow(text)
            self._is_said = self._is_said or bool(grown)
            written.append(grown)

    # -- when the answer is over

    def missing(self, parts: Sequence[Part], ledger: Ledger, *, is_broken: bool) -> list[Part]:
        """Those of the whole answer's parts, or what of them, that have not left.

        Args:
            parts: of the answer as it was fitted when all of it was known.
            ledger: takes what left otherwise than it would be written now.
            is_broken: the stream broke off.
        """
        left = [written.whole() for written in self._left]
        by_key: dict[object, list[Part]] = {}
        for part in left:
            by_key.setdefault(_key(part), []).append(part)
        rest = list[Part]()
        for part in parts:
            same = by_key.get(_key(part))
            gone = same.pop(0) if same else None
            if gone is None:
                rest.append(part)
            elif gone != part and isinstance(part, ToolCallIR) and not is_broken:
                ledger.lose("", f"arguments of the call {part.id!r:.80}", "passed on as they came")
        unlike = [part for held in by_key.values() for part in held]
        said: dict[type, str] = {
            kind: "".join(string_of(p) for p in unlike if isinstance(p, kind)) for kind in (Text, Reasoning)
        }
        return [*self._missing(rest, unlike, said, ledger, is_broken=is_broken)]

    def _missing(
        self,
        parts: Sequence[Part],
        unlike: Sequence[Part],
        said: Mapping[type, str],
        ledger: Ledger,
        *,
        is_broken: bool,
    ) -> Iterator[Part]:
        for part in parts:
            if isinstance(part, ToolCallIR) and is_broken:
                ledger.lose("", f"the call {part.name!r:.80}, inside which the stream breaks off")
            elif not isinstance(part, Text | Reasoning):
                yield part
            elif begun := self._begun_before(part, unlike):
                yield replace(part, text=string_of(part)[len(string_of(begun)) :])
            elif part.text and any(part.text in text for text in said.values()):
                ledger.lose("", "the order of reasoning, texts and calls", "that in which they came")
            else:
                yield part

    def _begun_before(self, part: Text | Reasoning, left: Sequence[Part]) -> Part | None:
        """What has left of a part that the target has a single string for."""
        if not self._one(part):
            return None
        alike = (p for p in left if type(p) is type(part) and string_of(part).startswith(string_of(p)))
        return next(alike, None)


def _key(part: Part) -> object:
    """What tells a part from others."""
    if isinstance(part, ToolCallIR):
        return ToolCallIR, part.id, part.name
    if isinstance(part, Text | Reasoning):
        return type(part), _paired(part.text or ""), getattr(part, "signature", None)
    return type(part), repr(part)


def _with_proof(part: Reasoning, carrier: Carrier, proof: str) -> Reasoning:
    if carrier is Carrier.ENCRYPTED_ITEM:
        return replace(part, carrier=carrier, data=proof)
    return replace(part, carrier=carrier, signature=proof)


def _is_proved(part: Part) -> bool:
    return isinstance(part, Reasoning) and bool(part.signature or part.data is not None)


def _paired(text: str) -> str:
    """A text in which halves of a character are one where they meet."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
