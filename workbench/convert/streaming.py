"""A stream of one protocol as the stream of another, while it comes.

What leaves at once is what is certain by then: a text, reasoning or the arguments of a call in the pieces in which they
come, a call's name and id before them. What shows its meaning only when it is over waits for that. At the end the whole
answer is fitted as any other (``fit``), which gives the losses, the end of the stream, and what has not left yet.

So the stream says what ``convert.response_as`` makes of the whole answer, but for what had left before it was known:

* parts stand in the order in which they came;
* arguments that turn out to be no JSON, or to hold what a double cannot, are passed on as they are;
* a stream that breaks off breaks off in the target, too: its last part stays open, and an unfinished call is not made
  one that could be run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from workbench import protocols
from workbench.convert._framing import EventReader
from workbench.convert._parts import WRAPPED
from workbench.convert._passing import StreamConverter
from workbench.convert.declared import NONE, Declared
from workbench.convert.fit import fit_response
from workbench.convert.losses import Ledger, Loss
from workbench.convert.names import AnswerIds
from workbench.convert.normal import normal_response
from workbench.ir import ApiError, ModelResponse, Part, Reasoning, ToolCallIR, Usage
from workbench.protocols import Growing
from workbench.protocols.common.writing import write_part

AS_IT_IS = "passed on as they came"
AGAIN = "the answer began again behind what had been passed on"


class StreamConversion:
    """Converts one stream. Linear in it, and the same for any chunking of the bytes.

    Args:
        source, target: names of protocols; of the same the bytes stay what they are.
        prove: gives the proof (signature, or encrypted state) of reasoning where the target has a place for one and
            the part has none that counts there; None for none. Without it such reasoning is lost.
        sign_call: gives the signature that a call stands with where the target has such (Gemini); None for none.
        choose_id: id of a call (None where it has none) → the id to write; None for the one that is made here.
        name: the id of the answer in the place of its own, "" for that.
        declared: the tools of whom the answer is for.

    Raises:
        UsageError: no such protocol.
    """

    def __init__(
        self,
        source: str,
        target: str,
        *,
        prove: Callable[[Reasoning], str | None] | None = None,
        sign_call: Callable[[ToolCallIR], str | None] | None = None,
        choose_id: Callable[[str | None], str | None] | None = None,
        name: str = "",
        declared: Declared = NONE,
    ) -> None:
        self._target = protocols.get(target)
        self._is_same = source == target
        self._decoder = protocols.get(source).stream_decoder()
        self._reader = EventReader()
        self._writer = self._target.stream_writer()
        self._ids = AnswerIds(self._target.capabilities, choose_id)
        self._passage = StreamConverter(self._writer, self._target.capabilities, self._ids, prove, sign_call, declared)
        self._name, self._declared = name, declared
        self._at = 0  # the part that grows
        self._is_started = self._is_again = self._is_over = False
        self._whole: ModelResponse | None = None
        self.losses: tuple[Loss, ...] = ()

    @property
    def content_type(self) -> str:
        """Of the stream that is written."""
        return self._writer.content_type

    @property
    def ids(self) -> Mapping[str, str | None]:
        """Id that was written → id that came (None where there was none), for those that differ."""
        return dict(self._ids.origin) if self._target.capabilities.call_ids and not self._is_same else {}

    @property
    def response(self) -> ModelResponse:
        """What has come so far, in the protocol in which it came; whole after ``end``."""
        return self._whole or self._decoder.result()

    def feed(self, data: bytes) -> bytes:
        """Take content-decoded bytes of the stream; the bytes that can be passed on now."""
        written = list[bytes]()
        for event in self._reader.feed(data):
            self._decoder.feed(event)
            if not self._is_same:
                self._advance(written)
        return data if self._is_same else b"".join(written)

    def end(self) -> bytes:
        """The stream is over: what is left of it. One that broke off is given no end."""
        if self._is_over:
            return b""
        self._is_over = True
        written = list[bytes]()
        for event in self._reader.close():
            self._decoder.feed(event)
        self._whole = self._decoder.result()
        if self._is_same:
            return b""
        self._advance(written)
        self._finish(self._whole, written)
        return b"".join(written)

    # -- while it comes

    def _advance(self, written: list[bytes]) -> None:
        growing = self._decoder.growing
        if len(growing) < self._at or self._is_again:
            self._is_again = True
            return
        if not self._is_started:
            self._start(written, is_needed=bool(growing))
        while self._at < len(growing):
            part = growing[self._at]
            self._passage.pass_on(part, written)
            if not part.is_over:
                return
            self._passage.leave(part, written)
            self._at += 1

    def _start(self, written: list[bytes], *, is_needed: bool) -> None:
        """The beginning of the answer, as soon as all is known that it says."""
        about, capabilities = self._decoder.about(), self._target.capabilities
        if not is_needed and any(getattr(about, name) is None for name in ("id", *capabilities.answer_fields)):
            return
        self._is_started = True
        own = {name: getattr(about, name) for name in capabilities.answer_fields}
        own |= {"id": self._name} if self._name and "id" in own else {}
        usage = (about.usage or Usage(0, 0)) if capabilities.usage_required else about.usage
        begun = ModelResponse(self._target.name, **own, usage=usage, is_stream=True)
        written += (self._writer.start(begun), self._writer.choice(0))

    # -- when it is over

    def _finish(self, whole: ModelResponse, written: list[bytes]) -> None:
        if not self._is_again:
            self._leave_rest(self._decoder.growing[self._at :], whole, written)
        if self._is_again:
            whole = replace(whole, error=ApiError(AGAIN))
        whole = replace(whole, id=self._name) if self._name else whole
        normal, capabilities = normal_response(whole), self._target.capabilities
        fitted = fit_response(normal, capabilities, given=self._ids, declared=self._declared)
        meant, ledger = replace(fitted.meant, protocol=self._target.name), Ledger()
        wrapped = WRAPPED if self._passage.passed_on else None
        for loss in fitted.losses:
            ledger.lose(loss.pointer, loss.what, AS_IT_IS if loss.instead == wrapped else loss.instead)
        if not self._is_started and (meant.messages or not meant.error):
            self._start(written, is_needed=True)
        if not self._is_again:
            self._write_rest(meant, ledger, written)
        written.append(self._writer.end(meant))
        self.losses = ledger.losses()

    def _leave_rest(self, growing: Sequence[Growing], whole: ModelResponse, written: list[bytes]) -> None:
        """Parts that were not over when the stream was; the last one of a stream that broke off never is."""
        for n, part in enumerate(growing, 1):
            self._passage.pass_on(part, written)
            if whole.is_complete or whole.error or n < len(growing):
                self._passage.leave(part, written)
            else:
                self._passage.break_off(part, written)

    def _write_rest(self, meant: ModelResponse, ledger: Ledger, written: list[bytes]) -> None:
        """What has not left yet: further choices, and parts that the stream showed in no order."""
        for number, message in enumerate(meant.messages):
            parts: Sequence[Part] = message.parts
            if number:
                written.append(self._writer.choice(number))
            else:
                parts = self._passage.missing(parts, ledger, is_broken=not (meant.is_complete or meant.error))
            written += (write_part(self._writer, part) for part in parts)
