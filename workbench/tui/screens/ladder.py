"""Arguments screen: parsing of the arguments of every tool call of an exchange, calls in text included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container

from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import argument_steps
from workbench.tui.models.argument_steps import LadderCall, LadderRung
from workbench.tui.models.rowtable import Range
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.worklist import ELSEWHERE, ListPane, Worklist, WorklistScreen, WorklistSource
from workbench.tui.selection import SessionSpot
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import REQUEST, RESPONSE, Line, Span, line, size, wrap

if TYPE_CHECKING:
    from workbench.chain import Closure
    from workbench.contracts import Finding
    from workbench.ir import NodeRef, ToolDef
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.tui.service import Job

NO_CALLS = f"no tool calls: none in the history, in the response or in text\n\n{ELSEWHERE}"
FREE_TEXT = ("openai-custom",)
"""Formats of calls with free text instead of JSON as input."""


class RungsPane(LineView):
    """Problems of a call in text, then each parsing step with before and after."""

    subject: LadderCall | None = None
    rungs: Sequence[LadderRung] = ()
    why = ""

    def show(self, subject: LadderCall | None, rungs: Sequence[LadderRung], why: str) -> None:
        """Show another call."""
        if subject is not self.subject:
            self.cursor = 0
        self.subject, self.rungs, self.why = subject, rungs, why
        self.opened_items = set(range(self.count()))
        self.reload()

    @property
    def _problems(self) -> Sequence[tuple[Line, str]]:
        return argument_steps.problems(self.subject) if self.subject else ()

    def count(self) -> int:
        return len(self._problems) + len(self.rungs)

    def head(self, item: int, width: int) -> Line:
        above = len(self._problems)
        return self._problems[item][0] if item < above else argument_steps.rung_line(self.rungs[item - above], width)

    def further(self, item: int, width: int) -> list[Line]:
        above = len(self._problems)
        if item < above:
            return wrap(self._problems[item][1], width, indent=4)
        number = item - above
        if argument_steps.is_told_next(self.rungs, number):
            return []
        return argument_steps.rung_body(self.rungs[number], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


FOLLOWING = 8
"""Later requests of the conversation in which the result of a call of a response is looked for."""


class SentResult(NamedTuple):
    """The result of a call as a request carries it. ``exchange`` and ``message`` count from 0."""

    body: bytes
    exchange: int
    message: int


class ReadCall(NamedTuple):
    """A call as it was read: its steps, where it is in which body, and its result if a request carries one."""

    rungs: tuple[LadderRung, ...]
    body: bytes
    spans: tuple[Range, ...]
    result: SentResult | None = None


class LadderSource(WorklistSource[LadderCall, ReadCall]):
    """Finds the tool calls of an exchange, and parses their arguments step by step.

    Args:
        index: index of the exchange.

    Attributes:
        response: content-decoded body of the response, once the calls were looked for.
    """

    def __init__(self, index: int) -> None:
        self._index = index
        self.response = b""

    def subjects_in(self, inspector: Inspector) -> Sequence[LadderCall]:
        decoded = inspector.detail(self._index).decoded
        self.response = decoded.response_text
        declared = decoded.request.tools if decoded.request else ()
        findings = inspector.rows[self._index].findings
        calls = [*_calls(decoded, declared), *_in_text(decoded, declared)]
        return [call._replace(findings=_about(decoded, call, findings)) for call in calls]

    def judge(self, inspector: Inspector, subject: LadderCall) -> ReadCall:
        decoded = inspector.detail(self._index).decoded
        body = decoded.request_text if subject.side == REQUEST else decoded.response_text
        return ReadCall(self._rungs(subject), body, _spans(decoded, subject), self._result(inspector, subject))

    def _result(self, inspector: Inspector, subject: LadderCall) -> SentResult | None:
        """The result of a call: in its own request, or in one of the next requests of the conversation."""
        if not subject.id:
            return None
        rows, own = inspector.rows, inspector.rows[self._index].conversation
        later = (row.index for row in rows[self._index + 1 :] if row.conversation == own is not None)
        for index in (self._index,) if subject.side == REQUEST else islice(later, FOLLOWING):
            detail = inspector.detail(index)
            if ref := _result_in(detail.closure, subject):
                decoded = detail.decoded
                message = decoded.messages(REQUEST)[ref.message]
                spans = decoded.place_of(REQUEST, message, message.parts[ref.part]).spans
                whole = decoded.request_text[spans[0][0] : spans[-1][1]] if spans else b""
                return SentResult(whole, index, ref.message)
        return None

    def _rungs(self, subject: LadderCall) -> tuple[LadderRung, ...]:
        from workbench.ir import ToolCallIR
        from workbench.toolcalls.arguments import steps

        if subject.found:
            tool_call_ir = ToolCallIR(subject.id, subject.name, subject.found.input, subject.found.format)
            return argument_steps.text_rungs(subject.found, steps(tool_call_ir, subject.tool))
        if subject.call is None or subject.call.format in FREE_TEXT:
            return ()
        return argument_steps.rungs(steps(subject.call, subject.tool))


class LadderScreen(WorklistScreen):
    """Tool calls and their parsing steps. Dismissed with the place of a call, or None.

    Args:
        ask: puts a question to the inspector's thread.
        index: index of the exchange.
        node_refs: selected parts; the first call that is one of them, or in one, is shown first.
        why_none: text to show if there are no calls.
        branch: name of the shown branch, for the title; empty for the recorded request.
    """

    CSS_PATH = "ladder.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.LADDER
    BINDINGS = keys.bindings(keys.LADDER)

    calls = getters.query_one("#calls", ListPane)
    rungs = getters.query_one("#rungs", RungsPane)
    schema = getters.query_one("#schema", BodyPane)
    sent = getters.query_one("#sent", BodyPane)
    result = getters.query_one("#result", BodyPane)

    def __init__(
        self, ask: Callable[[Job], None], index: int, node_refs: Sequence[NodeRef], why_none: str, branch: str
    ) -> None:
        super().__init__(index, branch)
        self.source = LadderSource(index)
        self.worklist = Worklist(self, self.source, ask)
        self.wanted, self.why_none = node_refs, why_none
        self._declared: ToolDef | str | None = "not shown yet"

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="sides"):
            with Container(id="choices"):
                yield ListPane(id="calls")
                yield BodyPane(id="sent")
            with Container(id="steps"):
                yield RungsPane(id="rungs")
                yield BodyPane(id="schema")
                yield BodyPane(id="result")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_CALL, *keys.LADDER])
        self.entitle(line(Span(f" Arguments of exchange {self.index + 1} …", "muted")))
        self.calls.title(line(" Calls "))
        self.rungs.title(line(" Steps "))
        self.schema.title(line(" Schema "))
        self.sent.title(line(" Bytes of the call "))
        self.result.title(line(" Result "))
        self.calls.focus()
        self.worklist.begin()

    # What is shown.

    def cursor_number(self) -> int:
        return self.calls.cursor

    def show_subjects(self) -> None:
        subjects = self.worklist.subjects or ()
        self.entitle(argument_steps.headline(self.index + 1, subjects))
        self._show_calls()
        at = next((n for ref in self.wanted for n, s in enumerate(subjects) if s.ref == ref), len(subjects) - 1)
        self.calls.move_to(at, center=True)
        self._show_call()
        if not subjects:
            self.sent.show(self.source.response, why="there is no response")
            self.sent.title(line(f" Response · {size(len(self.source.response))} "))

    def show_judgement(self, number: int) -> None:
        self._show_calls()
        if number == self.cursor_number():
            self._show_call()

    def _show_calls(self) -> None:
        work = self.worklist
        self.calls.show(len(work.subjects or ()), self._call_line, work.trouble or self.why_none)

    def _call_line(self, item: int) -> Line:
        work = self.worklist
        read = work.judgements.get(item)
        return argument_steps.subject_line(work.subjects[item], read and read.rungs) if work.subjects else ()

    def _show_call(self) -> None:
        subject, read = self.worklist.subject, self.worklist.judgement
        self._show_schema(subject)
        self._show_bytes(read)
        if subject is None:
            self.rungs.show(None, (), "")
            return
        why = "the input is free text; nothing to parse" if read else self.worklist.why_none("parsing …")
        self.rungs.show(subject, read.rungs if read else (), why)
        self.rungs.title(line(f" {subject.name or '(no name)'} {subject.id or ''}".rstrip() + " "))

    def _show_bytes(self, read: ReadCall | None) -> None:
        if read is None or read.body is not self.sent.body:
            self.sent.show(read.body if read else b"", why=self.worklist.why_none("reading …"))
        self.sent.mark_range(read.spans if read else ())
        self._show_result(read and read.result)

    def _show_result(self, result: SentResult | None) -> None:
        why = "no request carries a result with the id of this call"
        if result is None or result.body is not self.result.body:
            self.result.show(result.body if result else b"", why=why)
        where = f" · request {result.exchange + 1}, message {result.message + 1} " if result else " "
        self.result.title(line(f" Result{where}"))

    def _show_schema(self, subject: LadderCall | None) -> None:
        """Show the declared schema of a call's tool, unless it is shown."""
        from workbench.wire import dumps

        tool = subject.tool if subject else None
        if subject is None or tool is self._declared:
            return
        self._declared = tool
        why = "the tool declares no schema" if tool else "the request declares no tool of this name"
        self.schema.show(dumps(tool.schema) if tool and tool.schema is not None else b"", why=why)
        self.schema.title(line(f" Schema of {subject.name or '(no name)'} "))

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.calls:
            self._show_call()
            self.worklist.ask_next()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Go to the bytes of the call."""
        subject, index = self.worklist.subject, self.index
        if subject is None:
            return

        def find(decoded: DecodedExchange) -> SessionSpot | None:
            spans = _spans(decoded, subject)
            return SessionSpot(index, subject.side, spans[0][0]) if spans else None

        self.worklist.leave_for(find)

    # Keys.

    def action_pane(self) -> None:
        all_panes: list[LineView] = [self.calls, self.rungs, self.schema, self.result, self.sent]
        panes = [pane for pane in all_panes if pane.display]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        panes[(at + 1) % len(panes)].focus()


def _result_in(closure: Closure, subject: LadderCall) -> NodeRef | None:
    """The first result of a call in a request: of calls with the same id, those of a response are the last."""
    line_of_call = closure.line_of(subject.ref) if subject.side == REQUEST and subject.call else None
    alike = [line_of_call] if line_of_call else [each for each in closure.lines if each.id == subject.id]
    return next((ref for each in alike[-1:] for ref in each.results if ref.side == REQUEST), None)


def _spans(decoded: DecodedExchange, subject: LadderCall) -> tuple[Range, ...]:
    """Where a call is in the body of its side; of a call in text the text."""
    message = decoded.messages(subject.side)[subject.ref.message]
    part = message.parts[subject.ref.part]
    piece = (subject.found.start, subject.found.end) if subject.found else None
    whole = decoded.place_of(subject.side, message, part)
    place = decoded.place_within(subject.side, message, part, "text", piece) if piece else whole
    return tuple(place.spans or whole.spans)


def _calls(decoded: DecodedExchange, declared: Sequence[ToolDef]) -> Iterator[LadderCall]:
    """Tool calls of the protocol, those of the history first."""
    from workbench.ir import NodeRef, ToolCallIR

    named = {tool.name: tool for tool in declared}
    for side in (REQUEST, RESPONSE):
        for m, message in enumerate(decoded.messages(side)):
            for p, part in enumerate(message.parts):
                if isinstance(part, ToolCallIR):
                    yield LadderCall(side, NodeRef(side, m, p), part.name, part.id, part, named.get(part.name))


def _about(decoded: DecodedExchange, call: LadderCall, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings about a call of the protocol: at its place, or within it."""
    if call.call is None:
        return ()
    pointer = decoded.messages(call.side)[call.ref.message].absolute(call.call)
    return tuple(one for one in findings if one.side == call.side and f"{one.pointer}/".startswith(f"{pointer}/"))


def _in_text(decoded: DecodedExchange, declared: Sequence[ToolDef]) -> Iterator[LadderCall]:
    """Tool calls that the model wrote as text, in its texts and its reasoning."""
    from workbench.ir import NodeRef, Reasoning, Text
    from workbench.toolcalls.formats import find_calls

    named = {tool.name: tool for tool in declared}
    for side in (REQUEST, RESPONSE):
        for m, message in enumerate(decoded.messages(side)):
            for p, part in enumerate(message.parts if message.role == "assistant" else ()):
                text = part.text if isinstance(part, Text | Reasoning) else None
                for found in find_calls(text, declared) if text else ():
                    ref, tool = NodeRef(side, m, p), named.get(found.name)
                    in_reasoning = isinstance(part, Reasoning) or found.is_nested
                    yield LadderCall(side, ref, found.name, found.id, None, tool, found, in_reasoning)
