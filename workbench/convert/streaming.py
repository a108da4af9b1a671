"""Converts a stream of one protocol into the stream of another while it arrives.

Text, reasoning and call arguments are forwarded in the pieces in which they arrive, a call's name and id before its
arguments. Parts that can only be interpreted when complete wait until then. At the end the whole response is reduced as
any other (``fit``), which gives the losses, the end of the stream, and the parts not forwarded yet.

The result equals ``convert.convert_response`` of the whole response, except for what was forwarded too early to know:

* parts are in the order in which they arrived;
* arguments that turn out not to be JSON, or to hold a number out of the range of a double, are forwarded unchanged;
* a stream that breaks off breaks off in the target as well: its last part stays open, and an unfinished call never
    becomes one that could be run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench import protocols
from workbench.convert._parts import WRAPPED
from workbench.convert._stream_converter import StreamConverter
from workbench.convert.declared_tools import NO_TOOLS, DeclaredTools
from workbench.convert.fit import fit_response
from workbench.convert.losses import Loss, LossReport
from workbench.convert.names import AnswerIds
from workbench.convert.normal import normal_response
from workbench.ir import ApiError, ModelResponse, Part, Reasoning, ToolCallIR, Usage
from workbench.lazy_dataclass import replace
from workbench.protocols import StreamingPart
from workbench.protocols.common import write_part
from workbench.wire import EventReader

AS_IT_IS = "forwarded unchanged"
RESTARTED = "the response began again after part of it was forwarded"


class StreamConversion:
    """Converts one stream. Linear in its length; the result does not depend on chunk boundaries.

    Args:
        source, target: names of protocols; if they are equal the bytes are not changed.
        prove: returns the proof (signature or encrypted state) for reasoning that has none valid for the target, or
            None. Without it such reasoning is lost.
        sign_call: returns the signature of a call for targets that need one (Gemini), or None.
        choose_id: id of a call, or None if it has none → the id to write; None to generate one.
        name: replaces the id of the response; empty to keep it.
        model: of a response that names none (Realtime has no place for it); empty for none.
        declared: the tools that the client declared.

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
        model: str = "",
        declared: DeclaredTools = NO_TOOLS,
    ) -> None:
        self._target = protocols.get(target)
        self._is_same = source == target
        self._decoder = protocols.get(source).stream_decoder()
        self._reader = EventReader()
        self._writer = self._target.stream_writer()
        self._ids = AnswerIds(self._target.capabilities, choose_id)
        self._converter = StreamConverter(
            self._writer, self._target.capabilities, self._ids, prove, sign_call, declared
        )
        self._name, self._model, self._declared = name, model, declared
        self._growing_part = 0
        self._is_started = self._has_restarted = self._is_over = False
        self._whole: ModelResponse | None = None
        self.losses: tuple[Loss, ...] = ()

    @property
    def content_type(self) -> str:
        """Content type of the stream that is written."""
        return self._writer.content_type

    @property
    def ids(self) -> Mapping[str, str | None]:
        """Written id → received id, for changed ids only; None if none was received."""
        return dict(self._ids.origin) if self._target.capabilities.tools.call_ids and not self._is_same else {}

    @property
    def response(self) -> ModelResponse:
        """The response so far in the source protocol; complete after ``end``."""
        return self._whole or self._decoder.result()

    def feed(self, data: bytes) -> bytes:
        """Read content-decoded bytes of the stream, and return the bytes that can be forwarded now."""
        out = list[bytes]()
        for event in self._reader.feed(data):
            self._decoder.feed(event)
            if not self._is_same:
                self._advance(out)
        return data if self._is_same else b"".join(out)

    def end(self) -> bytes:
        """Finish the stream and return its rest. A stream that broke off gets no end."""
        if self._is_over:
            return b""
        self._is_over = True
        out = list[bytes]()
        for event in self._reader.close():
            self._decoder.feed(event)
        self._whole = self._decoder.result()
        if self._is_same:
            return b""
        self._advance(out)
        self._finish(self._whole, out)
        return b"".join(out)

    # -- while it comes

    def _advance(self, out: list[bytes]) -> None:
        growing = self._decoder.growing
        if len(growing) < self._growing_part or self._has_restarted:
            self._has_restarted = True
            return
        if not self._is_started:
            self._start(out, is_needed=bool(growing))
        while self._growing_part < len(growing):
            part = growing[self._growing_part]
            self._converter.emit_available(part, out)
            if not part.is_over:
                return
            self._converter.finish_part(part, out)
            self._growing_part += 1

    def _start(self, out: list[bytes], *, is_needed: bool) -> None:
        """Write the start of the response as soon as all its fields are known."""
        about, capabilities = self._decoder.about(), self._target.capabilities
        if not is_needed and any(getattr(about, name) is None for name in ("id", *capabilities.answer.fields)):
            return
        self._is_started = True
        own = {name: getattr(about, name) for name in capabilities.answer.fields}
        own |= {"id": self._name} if self._name and "id" in own else {}
        own |= {"model": self._model} if self._model and own.get("model", "") is None else {}
        usage = (about.usage or Usage(0, 0)) if capabilities.answer.usage_required else about.usage
        model_response = ModelResponse(self._target.name, **own, usage=usage, is_stream=True)
        out += (self._writer.start(model_response), self._writer.choice(0))

    # -- when it is over

    def _finish(self, whole: ModelResponse, out: list[bytes]) -> None:
        if not self._has_restarted:
            self._leave_rest(self._decoder.growing[self._growing_part :], whole, out)
        if self._has_restarted:
            whole = replace(whole, error=ApiError(RESTARTED))
        whole = replace(whole, id=self._name) if self._name else whole
        whole = replace(whole, model=whole.model or self._model or None)
        normal, capabilities = normal_response(whole), self._target.capabilities
        fitted = fit_response(normal, capabilities, assigned_ids=self._ids, declared=self._declared)
        response, report = replace(fitted.normal, protocol=self._target.name), LossReport()
        wrapped = WRAPPED if self._converter.unwrapped_calls else None
        for loss in fitted.losses:
            report.lose(loss.pointer, loss.what, AS_IT_IS if loss.instead == wrapped else loss.instead)
        if not self._is_started and (response.messages or not response.error):
            self._start(out, is_needed=True)
        if not self._has_restarted:
            self._write_rest(response, report, out)
        out.append(self._writer.end(response))
        self.losses = report.losses()

    def _leave_rest(self, growing: Sequence[StreamingPart], whole: ModelResponse, out: list[bytes]) -> None:
        """Finish parts that were open when the stream ended; the last one of a broken stream stays open."""
        for n, part in enumerate(growing, 1):
            self._converter.emit_available(part, out)
            if whole.is_complete or whole.error or n < len(growing):
                self._converter.finish_part(part, out)
            else:
                self._converter.break_off(part, out)

    def _write_rest(self, response: ModelResponse, report: LossReport, out: list[bytes]) -> None:
        """Write what has not been sent: further choices, and parts that the stream had in no order."""
        for number, message in enumerate(response.messages):
            parts: Sequence[Part] = message.parts
            if number:
                out.append(self._writer.choice(number))
            else:
                parts = self._converter.unsent_parts(
                    parts, report, is_broken=not (response.is_complete or response.error)
                )
            out += (write_part(self._writer, part) for part in parts)
