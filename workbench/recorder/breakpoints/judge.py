"""``python -m workbench.recorder.breakpoints.judge``: evaluates breakpoints for a recording in progress.

A separate process: its work delays only the exchange that it checks. It follows the session file, so a
request is judged after everything that had ended when it began, as everywhere else in this program; the request itself
comes with the question where the file need not be waited for. What ends is inspected once: between two questions, by
all rules, or before a question that needs it, by the rules of the breakpoints that were asked about so far, so that it
waits for no others. An open request is inspected for its question.

Its task: {"out": FILE}. It answers {} once it has read the existing exchanges of the file. Then, line by line:

    {"ask": N, "do": "request", "exchange": ID, "kinds": [NAME], "within": SECONDS, "ended": [ID], "request": REQUEST}
    {"ask": N, "do": "response", …, "status", "reason", "headers": [[NAME, VALUE]], "version", "body": BASE64}
    {"ask": N, "do": "answer", "exchange": ID, "contract": LABEL, "within": SECONDS}
    {"ask": N, "do": "answer", "exchange": ID, "file": SESSION ("" for this one), "within": SECONDS}   (a tools/call)

"ended" are the exchanges that have ended since the last question; REQUEST, where it is given, is {"method", "url",
"headers", "version", "body": BASE64, "started_at", "hop", "client"}, as it came: it is redacted here as in the file.

They are answered by {"ask": N, "reasons": [{"kind", "rule", "words", "pointer"}]}, by {"ask": N, "status", "headers",
"pieces": [BASE64], "is_cut"}, or by {"ask": N, "unjudged": WHY}: then the exchange could not be judged.
"""

from __future__ import annotations

import base64
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue

from workbench import protocols
from workbench.errors import UsageError, WireError, WorkbenchError
from workbench.filters import Facts, turn_numbers
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.recorder.breakpoints.ended_first import EndedFirst
from workbench.recorder.breakpoints.kinds import (
    Breakpoint,
    JudgedSide,
    PauseReason,
    as_json,
    parse,
    reasons_to_pause,
    request_rule_prefixes,
)
from workbench.recorder.capture.keeper import redactor_for
from workbench.recorder.capture.keeper_process import salt_of
from workbench.recorder.child import send_line, serve
from workbench.rules import InspectedExchange, Inspector
from workbench.send import with_query_of
from workbench.simulator import Simulator, recorded_response, simulator_history
from workbench.wire import (
    Body,
    Exchange,
    ExchangeKind,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    Redactor,
    State,
    Summary,
    decode_body,
    detect_encoding,
    loads,
    summarize,
)
from workbench.wire.session import Session, exchanges_of, open_session

LOOK_AGAIN = 0.01
"""Seconds between two looks at the file for a request that is not in it yet."""

IDLE = 0.25
"""Seconds without a question after which what has ended is read, so that the next question need not wait for that."""


class NotJudged(WorkbenchError):
    """An exchange cannot be judged; the message says why."""


class BreakpointJudge:
    """Evaluates breakpoints for the exchanges of one session file.

    Args:
        clock, sleep: of a monotonic clock, in seconds.
        redactor: makes of a request what the file has of it; None for one that is without secrets.
    """

    def __init__(
        self,
        session: Session,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        redactor: Redactor | None = None,
    ) -> None:
        self._session, self._redactor = session, redactor
        self._rule_prefixes: frozenset[str] | None = None  # of the rules that checked all of the ended exchanges
        self._begin()
        self._at: dict[str, int] = {}
        self._clock, self._sleep = clock, sleep
        self.catch_up()

    def _begin(self) -> None:
        """Read the session from its beginning."""
        self._view = EndedFirst(self._session)
        self._inspector = Inspector(self._view)

    @property
    def is_waiting(self) -> bool:
        """Exchanges are under way, which are to be read when they have ended."""
        return self._view.is_waiting

    def look(self) -> None:
        """Read from the file which exchanges there are."""
        self._inspector.refresh()
        for summary in self._session.summaries()[len(self._at) :]:
            self._at[summary.id] = summary.index

    def catch_up(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Read the exchanges that have ended, as long as that is wanted."""
        self.look()
        while is_wanted() and (self._view.let_in(most=1) or not self._inspector.is_done):
            self._inspect()

    def _inspect(self, rule_prefixes: frozenset[str] | None = None) -> None:
        """Inspect what is there by the rules that begin with these words; None for all rules."""
        self._inspector.rule_prefixes = rule_prefixes
        try:
            for _ in self._inspector.steps():
                pass
        finally:
            self._inspector.rule_prefixes = None

    def _inspect_ended(self, rule_prefixes: frozenset[str] | None, before: float | None) -> None:
        """Inspect what had ended by these rules at least; all of the session, if they are new."""
        known = self._rule_prefixes
        if known is not None and (rule_prefixes is None or not rule_prefixes <= known):
            self._rule_prefixes = rule_prefixes = None if rule_prefixes is None else rule_prefixes | known
            self._begin()
        elif known is not None:
            rule_prefixes = known
        self._view.let_in(before)
        if not self._inspector.is_done:
            self._rule_prefixes = rule_prefixes
            self._inspect(rule_prefixes)

    def request(
        self, exchange: str | Exchange, kinds: tuple[Breakpoint, ...], within: float
    ) -> tuple[PauseReason, ...]:
        """Reasons to pause a request, which is in the file or given. Raises NotJudged."""
        with self._row(exchange, within, request_rule_prefixes(kinds)) as row:
            facts = self._facts(row, kinds, partial(self._view.exchange, row.index))
            seen = JudgedSide(REQUEST, row.findings, facts, is_tool_hop=_is_tool_hop(row))
            return reasons_to_pause(kinds, seen)

    def response(
        self, exchange: str | Exchange, response: HttpResponse, kinds: tuple[Breakpoint, ...], within: float
    ) -> tuple[PauseReason, ...]:
        """Reasons to pause this response. A filter that the request has passed already is not asked again."""
        with self._row(exchange, within, request_rule_prefixes(kinds)) as row:
            return self._response_reasons(row, response, kinds)

    def _response_reasons(
        self, row: InspectedExchange, response: HttpResponse, kinds: tuple[Breakpoint, ...]
    ) -> tuple[PauseReason, ...]:
        recorded = self._view.exchange(row.index)
        if recorded.request is None:
            raise NotJudged("the recording has no request")
        if _is_tool_hop(row):
            found = self._inspector.tool_trial(row.index, response)
            facts = self._facts(row, kinds, lambda: replace(recorded, response=response))
            return reasons_to_pause(kinds, JudgedSide(RESPONSE, found, facts, is_tool_hop=True))
        trial = self._inspector.trial(row.index, recorded.request, response=response)
        answer = trial.decoded.response
        messages = answer.messages if answer else ()
        whole = replace(recorded, response=response, state=State.COMPLETE)
        answered = replace(
            row,
            summary=summarize(row.index, whole, row.model),
            calls=tuple(call.name or "" for message in messages for _, call in message.tool_calls()),
            has_reasoning=any(True for message in messages for _ in message.reasoning()),
            finish_reason=answer.finish_reason if answer else None,
            findings=trial.findings,
        )
        alone = replace(row, calls=(), has_reasoning=False, finish_reason=None)
        unanswered = replace(recorded, response=None)
        before = JudgedSide(REQUEST, row.findings, self._facts(alone, kinds, lambda: unanswered))
        asked_already = {reason.kind for reason in reasons_to_pause(kinds, before)}
        remaining = tuple(each for each in kinds if not each.is_filter or each.name not in asked_already)
        facts = self._facts(answered, remaining, lambda: whole)
        return reasons_to_pause(remaining, JudgedSide(RESPONSE, trial.findings, facts, trial.decoded))

    def answer(self, exchange: str, contract: str, within: float) -> Mapping[str, JsonValue]:
        """Response of a simulator that remembers this session to the request. Raises NotJudged, UsageError."""
        decoded = self._decode(exchange, within)
        http, request = decoded.exchange.request, decoded.request
        if http is None or request is None or decoded.protocol is None:
            raise NotJudged("the request cannot be read")
        simulator = Simulator(contract, known=simulator_history(self._session, exchange))
        if decoded.protocol not in (simulator.protocols or (decoded.protocol,)):
            hint = f"supported: {', '.join(simulator.protocols)}"
            raise UsageError(f"sim:{contract} does not support {decoded.protocol}", hint=hint)
        path = with_query_of(protocols.get(decoded.protocol).path(request), http.url, is_same=False)
        headers = [(name, value) for name, value in http.headers if name.lower() not in _OF_THE_BYTES]
        reply = simulator.send(http.method, path, headers, decoded.request_text)
        pieces = [base64.b64encode(piece.data).decode() for piece in reply.pieces]
        return {"status": reply.status, "headers": reply.headers, "pieces": pieces, "is_cut": reply.is_cut}

    def recorded_answer(self, exchange: str, file: str, within: float) -> Mapping[str, JsonValue]:
        """The recorded response to a ``tools/call`` with the same arguments. Raises NotJudged, UsageError.

        Args:
            file: the session to take it from; empty for this one.
        """
        message = self._decode(exchange, within).request_text
        if not file:
            return _tool_reply(recorded_response(exchanges_of(self._session), message))
        with closing(open_session(Path(file))) as other:
            return _tool_reply(recorded_response(exchanges_of(other), message))

    def _decode(self, exchange: str, within: float) -> DecodedExchange:
        """An exchange, after everything that has ended."""
        self.catch_up()
        with self._row(exchange, within, frozenset()) as row:
            return self._inspector.detail(row.index).decoded

    def wait_for_ended(self, ended: Iterable[str], within: float) -> None:
        """Wait until these exchanges are in the file as a whole. Raises NotJudged."""
        missing, until = set(ended), self._clock() + within
        while missing := {exchange for exchange in missing if not self._has_ended(exchange)}:
            self.look()
            if all(map(self._has_ended, missing)):
                return
            if self._clock() >= until:
                raise NotJudged(f"the earlier exchanges did not appear in the file within {within:g} seconds")
            self._sleep(LOOK_AGAIN)

    def _has_ended(self, exchange: str) -> bool:
        index = self._at.get(exchange)
        return index is not None and self._session.summaries()[index].state is not State.OPEN

    @contextmanager
    def _row(
        self, exchange: str | Exchange, within: float, rule_prefixes: frozenset[str] | None
    ) -> Iterator[InspectedExchange]:
        """The row of an exchange, once its request is in the file; what had ended when it began is there, too.

        Args:
            rule_prefixes: first words of the rules that are to check it; None for all.
        """
        if isinstance(exchange, Exchange):
            safe = self._redactor.exchange(exchange) if self._redactor else exchange
            self._inspect_ended(rule_prefixes, exchange.started_at)
            last = self._view.with_guest(safe)
        else:
            index = self._index(exchange, within)
            self._inspect_ended(rule_prefixes, self._session.summaries()[index].started_at)
            if (known := self._view.place(index)) is not None:
                yield self._inspector.rows[known]
                return
            last = self._view.with_last(index)
        with last as place:
            try:
                self._inspect(rule_prefixes)
                yield self._inspector.rows[place]
            finally:
                self._inspector.take_back(place)

    def _index(self, exchange: str, within: float) -> int:
        """Index of an exchange in the file, once its request is there."""
        until = self._clock() + within
        while True:
            if (index := self._index_in_file(exchange)) is not None:
                return index
            self.look()
            if (index := self._index_in_file(exchange)) is not None:
                return index
            if self._clock() >= until:
                raise NotJudged(f"the request did not appear in the file within {within:g} seconds")
            self._sleep(LOOK_AGAIN)

    def _index_in_file(self, exchange: str) -> int | None:
        """Index of an exchange; None if its request was not in the file at the last look."""
        index = self._at.get(exchange)
        return index if index is not None and _is_whole(self._session.summaries()[index]) else None

    def _facts(self, row: InspectedExchange, kinds: Iterable[Breakpoint], read: Callable[[], Exchange]) -> Facts:
        """Facts of an exchange; the number of its turn, for which all rows are counted, only for filters."""
        is_counted = any(each.is_filter for each in kinds)
        return Facts(row, turn_numbers(self._inspector.rows[: row.index + 1])[-1] if is_counted else None, read)


def _is_whole(summary: Summary) -> bool:
    """The request is in the file."""
    return bool(summary.request_bytes) or summary.state is not State.OPEN


def _is_tool_hop(row: InspectedExchange) -> bool:
    return row.summary.kind is ExchangeKind.MCP


def _tool_reply(body: bytes) -> Mapping[str, JsonValue]:
    headers = [["Content-Type", "application/json"]]
    return {"status": 200, "headers": headers, "pieces": [base64.b64encode(body).decode()], "is_cut": False}


_OF_THE_BYTES = frozenset(("content-encoding", "content-length", "transfer-encoding", "host", "connection"))
"""Headers of the body as it was sent, and of the connection."""


def main(task: Mapping[str, JsonValue]) -> int:
    """Answer questions until the input ends; what has ended meanwhile is read between them."""
    lines = SimpleQueue[bytes]()
    with closing(open_session(Path(task["out"]))) as session:
        judge = BreakpointJudge(session, redactor=redactor_for(os.environ, salt_of(session.id)))
        send_line({})
        threading.Thread(target=_listen, args=(lines,), daemon=True).start()
        while line := _next_line(lines, judge):
            question = loads(line)
            send_line({"ask": question["ask"], **_answer_line(judge, question)})
    return 0


def _listen(lines: SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    lines.put(b"")


def _next_line(lines: SimpleQueue[bytes], judge: BreakpointJudge) -> bytes:
    """The next question; empty at the end."""
    while True:
        try:
            return lines.get(timeout=IDLE if judge.is_waiting else None)
        except Empty:
            judge.catch_up(lines.empty)


def _answer_line(judge: BreakpointJudge, question: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    try:
        if "file" in question:
            return judge.recorded_answer(question["exchange"], question["file"], question["within"])
        if question["do"] == "answer":
            return judge.answer(question["exchange"], question["contract"], question["within"])
        kinds = tuple(each for name in question["kinds"] for each in parse(name))
        judge.wait_for_ended(question.get("ended", ()), question["within"])
        exchange = _read_request(question) if "request" in question else question["exchange"]
        if question["do"] == "request":
            reasons = judge.request(exchange, kinds, question["within"])
        else:
            reasons = judge.response(exchange, _response(question), kinds, question["within"])
    except WorkbenchError as error:
        return {"unjudged": str(error)}
    except Exception as error:  # a fault of ours: this exchange is not judged, others are
        return {"unjudged": f"{type(error).__name__}: {error}"}
    return {"reasons": as_json(reasons)}


def _read_request(question: Mapping[str, JsonValue]) -> Exchange:
    """The exchange of a request that came with its question."""
    asked = question["request"]
    headers, body = _read_content(asked)
    return Exchange(
        question["exchange"],
        HttpRequest(asked["method"], asked["url"], headers, body, asked["version"]),
        state=State.OPEN,
        origin=Origin.RECORDED,
        started_at=asked["started_at"],
        hop=asked["hop"],
        client=asked["client"],
    )


def _read_content(message: Mapping[str, JsonValue]) -> tuple[Headers, Body]:
    headers = Headers(tuple((name, value) for name, value in message["headers"]))
    raw = base64.b64decode(message["body"])
    return headers, Body(raw, detect_encoding(raw, headers.get("content-encoding") or ""))


def _response(question: Mapping[str, JsonValue]) -> HttpResponse:
    headers, body = _read_content(question)
    try:
        decode_body(body)
    except WireError as error:
        raise NotJudged(str(error)) from error
    return HttpResponse(question["status"], headers, body, question["reason"], question["version"])


if __name__ == "__main__":
    raise SystemExit(serve(main))
