"""Inspect a session: decode, group, derive the chain, run the rules. The one entry the app and the commands use.

``Inspector`` reads a session in order and keeps only what later exchanges need, so that a session of thousands of
exchanges can be inspected step by step; ``detail`` decodes one exchange again to show it.

A session may grow meanwhile. The request of an exchange that is still open is checked at once; when the exchange ends,
it and everything after it are inspected again, so that the result is that of a finished session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from workbench import chain, contracts
from workbench.chain import Conversation, Conversations
from workbench.contracts import UNREAD, Choice, Contract, Finding, Judgement, Servers, choose_contract, clues_of
from workbench.errors import SessionFormatError
from workbench.ir import NOTHING, JsonValue, ToolDef
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import ERROR_ALONE, REQUEST, DecodedExchange, KnownMessages
from workbench.rules import Acceptances, Origins, RuleContext, check, check_error_alone, check_undecoded_failure, judge
from workbench.rules._shared.carried_findings import FindingsOfRows, own_findings, with_more, without
from workbench.rules._shared.lasting_findings import KnownFindings, lane_of
from workbench.rules._shared.nodes import by_name
from workbench.rules._shared.shared_results import SharedResults
from workbench.rules._transports import ToolServers, with_transport_findings
from workbench.rules.grammar import is_kept
from workbench.wire import FRAMES, Exchange, ExchangeKind, HttpRequest, HttpResponse, State, Summary, summarize
from workbench.wire.session import ReplacingSession, Session, is_last

PENDING_RULE = "closure.pending"
PEEKED_KEPT = 4
"""Number of kept exchanges that rules looked back at: the last ones of a few conversations."""
DETAILS_KEPT = 8
"""Number of exchanges whose full detail is kept: the app returns to these when the cursor moves back and forth."""


@dataclass(frozen=True, slots=True)
class InspectedExchange:
    """Result of the inspection of one exchange: a row of the list of exchanges.

    Attributes:
        protocol: name; None if it is not a model exchange. ``protocol_from`` states how it was found.
        provider: label of the contract ("deepseek:v4"); None if the protocol is None.
        provider_from: how the contract was chosen, in words.
        conversation: id; None if it is not a model exchange.
        calls: names of the calls in the response.
        has_reasoning: the response has reasoning.
        problems: what could not be decoded, one line each.
        tool_links: requests to tool servers that the new tool results of the request come from, if these are recorded.
        frames: number of messages of a connection; of an exchange in one, their numbers (``workbench.wire.FRAMES``).
    """

    index: int
    summary: Summary
    protocol: str | None
    protocol_from: str
    provider: str | None
    provider_from: str
    model: str | None
    conversation: int | None
    calls: tuple[str, ...] = ()
    has_reasoning: bool = False
    finish_reason: str | None = None
    findings: Sequence[Finding] = ()
    problems: tuple[str, ...] = ()
    tool_links: tuple[chain.ToolLink, ...] = ()
    frames: JsonValue = None

    @property
    def is_refused(self) -> bool:
        """True if the response refuses the request itself."""
        return self.summary.status in (400, 422)

    @property
    def is_judged(self) -> bool:
        """True if rules could check it: an exchange with a model, or with a tool server."""
        return self.conversation is not None or self.summary.kind is ExchangeKind.MCP

    @property
    def is_undecided(self) -> bool:
        """True if it may contain a break that could not be seen: damaged, or not fully decoded."""
        is_damaged = bool(self.problems) and (self.conversation is None or self.summary.state is State.INCOMPLETE)
        return is_damaged or any(finding.rule in UNREAD for finding in own_findings(self.findings))


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about one exchange. ``about`` has the notes in its session file."""

    row: InspectedExchange
    decoded: DecodedExchange
    contract: Contract
    closure: chain.Closure
    ledger: chain.Ledger
    about: Mapping[str, str] = NOTHING


@dataclass(frozen=True, slots=True)
class CheckedVariant:
    """Findings on another request, with its response if there is one, in place of one that was sent."""

    decoded: DecodedExchange
    contract: Contract
    case: RuleContext
    findings: tuple[Finding, ...]

    @property
    def judgement(self) -> Judgement:
        """Judgement under the contract."""
        return judge(self.findings, self.contract)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result for a session, findings by exchange, severity and place. ``about`` has the notes in its file."""

    name: str
    rows: tuple[InspectedExchange, ...] = ()
    conversations: tuple[Conversation, ...] = ()
    findings: Sequence[Finding] = ()
    damage: tuple[str, ...] = ()
    about: Mapping[str, str] = NOTHING


@dataclass(slots=True)
class Inspector:
    """Goes through a session in order.

    A row is final, with two exceptions: a call of its response without a result is pending until the conversation
    continues, and an exchange that is still open is inspected again. ``rows`` always has the newest version of each.

    Args:
        session: what to inspect.
        provider: contract name, with ``:variant`` or without; None to choose one for each exchange.
        protocol: protocol name; None to find it for each exchange.
        known: keeps the messages that later requests repeat; None to read each separately: slower, the same result.
        rule_prefixes: as of a ``RuleContext``, for the exchanges that are inspected next.
    """

    session: Session
    provider: str | None = None
    protocol: str | None = None
    known: KnownMessages | None = field(default_factory=KnownMessages, repr=False)
    rows: list[InspectedExchange] = field(default_factory=list)
    rule_prefixes: frozenset[str] | None = None
    _next: int = 0
    _growing: set[int] = field(default_factory=set, repr=False)
    _open: dict[int, DecodedExchange] = field(default_factory=dict, repr=False)
    _undo_marks: dict[int, int] = field(default_factory=dict, repr=False)
    _conversations: Conversations = field(default_factory=Conversations, repr=False)
    _providers: dict[int, str] = field(default_factory=dict, repr=False)
    _servers: Servers = field(init=False, repr=False)
    _tools: dict[int, Mapping[str, ToolDef]] = field(default_factory=dict, repr=False)
    _held_tools: dict[int, Mapping[str, ToolDef]] = field(default_factory=dict, repr=False)
    _details: dict[int, Detail] = field(default_factory=dict, repr=False)
    _peeked: dict[int, DecodedExchange] = field(default_factory=dict, repr=False)
    _origins: Origins = field(init=False, repr=False)
    _accepted: Acceptances = field(init=False, repr=False)
    _tool_hops: ToolServers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._origins = Origins(self._conversations.journal)
        self._servers = Servers(self._conversations.journal)
        self._accepted = Acceptances(self._conversations.journal)
        self._tool_hops = ToolServers(self._conversations.journal, self.session)

    @property
    def is_done(self) -> bool:
        """True if every exchange known so far is inspected."""
        return self._next >= len(self.session) and not self._growing

    def refresh(self) -> frozenset[int]:
        """Check whether the session has grown; the indices of the exchanges that now have to be inspected."""
        known, before = self.session.summaries(), self._next
        changed = self.session.refresh()
        for index in sorted(changed):
            if index >= self._next:
                break
            then, now = known[index], self.session.summaries()[index]
            is_same = now.state is State.OPEN and (then.url, then.request_bytes) == (now.url, now.request_bytes)
            if index in self._open and is_same:  # what is new is in its answer
                self._growing.add(index)
            elif index in self._undo_marks:  # else it was whole already when it was read
                self._rewind(index)
        if (first := self._tool_hops.overtaken_row(self._next)) in self._undo_marks:
            self._rewind(first)
        return changed | frozenset(range(self._next, before))

    def steps(self) -> Iterator[InspectedExchange]:
        """Inspect what is not inspected yet, one exchange at a time; call again when the session has grown."""
        while not self.is_done:
            yield self._step_again(self._growing.pop()) if self._growing else self._step()

    def _step(self) -> InspectedExchange:
        index, journal = self._next, self._conversations.journal
        exchange = self._read(index)
        if isinstance(exchange, Exchange):
            if exchange.state is State.OPEN:
                journal.is_on = True
            elif not self._open:
                journal.forget()
                self._undo_marks.clear()
            if journal.is_on:
                self._undo_marks[index] = journal.mark()
        row = self._inspect(index, exchange)
        self.rows[index : index + 1], self._next = (row,), index + 1
        return row

    def _step_again(self, index: int) -> InspectedExchange:
        """An exchange that is still open: its row alone; the rows behind it know its request, and that is the same."""
        exchange = self._read(index)
        before, earlier = self._open[index], self.rows[index]  # an answer may show what kind of exchange it is
        if not isinstance(exchange, Exchange) or (exchange.state, exchange.kind) != (State.OPEN, earlier.summary.kind):
            self._rewind(index)
            return self._step()
        decoded = self._open[index] = DecodedExchange(index, exchange, self.protocol, before, among=self._among())
        self._details.pop(index, None)
        row = self._row(decoded)
        if earlier.conversation is not None:
            row = self._with_findings(row, decoded, self._contract(decoded), earlier.conversation)
        row = with_transport_findings(row, decoded, self, before)
        row = self.rows[index] = self._tool_hops.with_findings(row, earlier)
        if (first := self._tool_hops.answered_by(exchange, self._undo_marks)) is not None:
            self._rewind(first)
        return row

    def take_back(self, index: int) -> None:
        """Forget an exchange that is still open, and all behind it: the session may have others in their place."""
        self._rewind(index)
        del self.rows[index:]

    def _rewind(self, index: int) -> None:
        """Take back everything from an exchange on."""
        self._conversations.journal.rewind(self._undo_marks[index])
        self._next = index
        for by_index in (self._undo_marks, self._open, self._details, self._peeked):
            for later in [n for n in by_index if n >= index]:
                del by_index[later]
        self._growing = {n for n in self._growing if n < index}

    def run(self) -> Inspection:
        """Inspect everything."""
        for _ in self.steps():
            pass
        return Inspection(
            name=self.session.name,
            rows=tuple(self.rows),
            conversations=tuple(self._conversations.all),
            findings=FindingsOfRows(row.findings for row in self.rows),
            damage=tuple(self.session.damage),
            about=self.session.about,
        )

    def detail(self, index: int) -> Detail:
        """One exchange in full; those before it are inspected first. Raises IndexError, SessionFormatError."""
        while self._next <= index < len(self.session):
            self._step()
        row, detail = self.rows[index], self._details.pop(index, None)
        if detail is None:
            decoded = self._decode(index, self._tool_hops.complete(self.session.exchange(index), self.read_exchange))
            case = self._case(decoded, self._contract(decoded), row.conversation)
            detail = Detail(row, decoded, case.contract, case.closure, case.ledger)
        self._details[index] = detail = replace(detail, row=row, about=self.session.about)
        while len(self._details) > DETAILS_KEPT:
            self._details.pop(next(iter(self._details)))
        return detail

    def trial(
        self,
        index: int,
        request: HttpRequest,
        *,
        provider: str = "",
        protocol: str | None = None,
        is_answered: bool = False,
        response: HttpResponse | None = None,
        is_own: bool = False,
    ) -> CheckedVariant:
        """Findings on another request in place of a recorded one, after everything that was before that.

        Args:
            index: index of the exchange that it replaces.
            request: URL, headers and body.
            provider: contract to check it by; empty for the one of this inspection.
            protocol: protocol of the request; None to detect it.
            is_answered: check it as if it had the recorded response.
            response: its own response, if it was sent.
            is_own: ``provider`` is the contract of the exchange itself, and what its provider accepted counts.

        Raises IndexError for no such exchange, UsageError for no such contract.
        """
        while self._next <= index < len(self.session):
            self._step()
        read = self._read(index)
        exchange = read if isinstance(read, Exchange) else Exchange(self.rows[index].summary.id)
        answer = exchange.response if is_answered else response
        new = replace(exchange, request=request, response=answer, state=State.COMPLETE, damage=())
        decoded = DecodedExchange(index, new, protocol or self.protocol, known=self.known, among=self._among(provider))
        return self.judge(decoded, provider, is_own=is_own)

    def tool_trial(self, index: int, response: HttpResponse) -> tuple[Finding, ...]:
        """Findings on a request to a tool server, as if it had this response. Raises SessionFormatError."""
        recorded = self._tool_hops.complete(self.session.exchange(index), self.read_exchange)
        tried = replace(recorded, response=response, state=State.COMPLETE)
        return self._tool_hops.trial(DecodedExchange(index, tried, self.protocol), self.read_exchange)

    def judge(
        self,
        decoded: DecodedExchange,
        provider: str = "",
        *,
        is_alone: bool = False,
        is_own: bool = False,
        shared: SharedResults | None = None,
    ) -> CheckedVariant:
        """Findings on a decoded request in place of the inspected exchange with its index.

        Args:
            decoded: the request, decoded once for any number of contracts.
            provider: as for ``trial``.
            is_alone: the earlier exchanges of its conversation are left out, for example because it was converted.
            is_own: as for ``trial``.
            shared: results of checking the same request under other contracts, with the same ``is_alone``.
        """
        row, choice = self.rows[decoded.index], self._contract(decoded, provider)
        counts = (choice.is_own or (is_own and not self.provider)) and not is_alone and not row.is_refused
        lane = None if is_alone else row.conversation
        case = self._case(decoded, choice._replace(is_own=counts), lane, shared=shared)
        findings = tuple(check(case, is_shared=shared is not None and not counts))
        return CheckedVariant(decoded, choice.contract, case, findings)

    def with_exchange(self, index: int, new: Exchange) -> Inspector:
        """An inspector of the same session, as far as it is inspected, with one exchange replaced.

        Only that exchange is checked. The copy inspects nothing further, and is outdated when this one has more rows.

        Args:
            index: index of an exchange that is inspected.
            new: the new request, with its response if it was sent.
        """
        recorded = self._read(index)
        base = recorded if isinstance(recorded, Exchange) else Exchange(self.rows[index].summary.id)
        new = replace(
            base, request=new.request, response=new.response, origin=new.origin, state=State.COMPLETE, damage=()
        )
        from copy import copy  # and weak references

        other = copy(self)
        other.session, other.rows = ReplacingSession(self.session, index, new), list(self.rows)
        other._details, other._peeked = {}, {}
        decoded = DecodedExchange(index, new, self.protocol, among=self._among())
        row, conversation = self._row(decoded), self.rows[index].conversation
        if decoded.protocol and conversation is not None:
            trial, how = other.judge(decoded), self._contract(decoded).how
            provider = trial.contract.label
            row = replace(row, provider=provider, provider_from=how, conversation=conversation, findings=trial.findings)
        other.rows[index] = row
        return other

    def _read(self, index: int) -> Exchange | SessionFormatError:
        try:
            return self._tool_hops.complete(self.session.exchange(index), self.read_exchange)
        except SessionFormatError as error:
            return error

    def _decode(self, index: int, exchange: Exchange) -> DecodedExchange:
        return DecodedExchange(index, exchange, self.protocol, known=self.known, among=self._among(), is_sorted=True)

    def _inspect(self, index: int, exchange: Exchange | SessionFormatError) -> InspectedExchange:
        if isinstance(exchange, SessionFormatError):
            entry = self.session.summaries()[index]
            return InspectedExchange(index, entry, None, "unreadable", None, "", None, None, problems=(str(exchange),))
        decoded = self._decode(index, exchange)
        if exchange.state is State.OPEN:
            self._open[index] = decoded
        self._keep(decoded)
        row = self._row(decoded)
        if decoded.protocol_from == ERROR_ALONE:
            return with_transport_findings(replace(row, findings=check_error_alone(decoded)), decoded)
        if exchange.kind is ExchangeKind.MCP:
            return replace(row, findings=self._tool_hops.check(decoded, self.read_exchange))
        return with_transport_findings(self._judge_row(row, decoded) if decoded.protocol else row, decoded, self)

    def _row(self, decoded: DecodedExchange) -> InspectedExchange:
        """Row with the facts of decoding alone."""
        model = decoded.request.model if decoded.request else decoded.response.model if decoded.response else None
        return InspectedExchange(
            index=decoded.index,
            summary=summarize(decoded.index, decoded.exchange, model),
            protocol=decoded.protocol,
            protocol_from=decoded.protocol_from,
            provider=None,
            provider_from="",
            model=model,
            conversation=None,
            problems=(*decoded.exchange.damage, *dict.fromkeys(p.message for p in decoded.problems)),
            frames=decoded.exchange.meta.get(FRAMES, len(decoded.exchange.frames) or None),
        )

    def _judge_row(self, row: InspectedExchange, decoded: DecodedExchange) -> InspectedExchange:
        self._servers.learn(decoded.index, clues_of(decoded), decoded.protocol)
        choice = self._contract(decoded)
        conversation = self._conversations.add(decoded, is_last=is_last(self.session, decoded.index))
        if conversation is None:  # neither side was decoded: why not is all that is found
            judged_row = self._with_findings(row, decoded, choice, None)
            return replace(judged_row, findings=(*judged_row.findings, *check_undecoded_failure(decoded)))
        self._remember(decoded, choice.contract, conversation)
        judged_row = self._with_findings(row, decoded, choice, conversation.id)
        links, found = self._tool_hops.check_model(decoded, self.read_exchange)
        return replace(judged_row, findings=with_more(judged_row.findings, found), tool_links=links)

    def _with_findings(
        self, row: InspectedExchange, decoded: DecodedExchange, choice: Choice, conversation: int | None
    ) -> InspectedExchange:
        """The row with what the rules say. What an open exchange lacks may come yet: only its request is judged."""
        case, answer = self._case(decoded, choice, conversation, is_recorded=True), decoded.response
        messages, is_open = answer.messages if answer else (), decoded.exchange.state is State.OPEN
        found = self._origins.trace(case, (f for f in check(case) if not is_open or f.side == REQUEST))
        self._accepted.learn(case, found)
        return replace(
            row,
            provider=case.contract.label,
            provider_from=choice.how,
            conversation=conversation,
            calls=tuple([call.name or "" for m in messages for _, call in m.tool_calls()]),
            has_reasoning=any([m.reasoning() for m in messages]),
            finish_reason=answer.finish_reason if answer else None,
            findings=case.carried.finish(case, found) if case.carried else found,
        )

    def _among(self, provider: str = "") -> tuple[str, ...]:
        """The protocols that the provider asked for speaks."""
        return contracts.protocols(provider or self.provider or "")

    def _contract(self, decoded: DecodedExchange, provider: str = "") -> Choice:
        expected = partial(self._servers.expected_contract, decoded.index)
        return choose_contract(decoded, provider or self.provider or "", expected, self.session.summaries())

    def _remember(self, decoded: DecodedExchange, contract: Contract, conversation: Conversation) -> None:
        """Note what later exchanges need, and that earlier answers are no longer the end of their conversation."""
        journal = self._conversations.journal
        journal.put(self._providers, decoded.index, contract.name)
        for earlier in conversation.exchanges[-2:-1]:  # those before it were settled when it came
            row, findings = self.rows[earlier], without(self.rows[earlier].findings, PENDING_RULE)
            if findings is not row.findings:
                self.rows[earlier] = replace(row, findings=findings)
                journal.note(partial(self.rows.__setitem__, earlier, row))
        request = decoded.request
        if request and request.tools:
            journal.put(self._tools, conversation.id, by_name(request.tools))
        elif request and request.previous_id and conversation.id in self._tools:
            journal.put(self._held_tools, decoded.index, self._tools[conversation.id])

    def _case(
        self,
        decoded: DecodedExchange,
        choice: Choice,
        conversation: int | None,
        *,
        is_recorded: bool = False,
        shared: SharedResults | None = None,
    ) -> RuleContext:
        """Input of the rules: the exchange, and the earlier part of its conversation."""
        request, index, lanes = decoded.request, decoded.index, self._conversations.all
        earlier = (lanes[conversation] if conversation is not None else Conversation(-1)).before(index)
        is_end = is_last(self.session, index)
        known = lane_of(request, earlier.id) if is_recorded and (earlier.exchanges or not is_end) else None
        return RuleContext(
            decoded=decoded,
            contract=choice.contract,
            earlier=earlier,
            tools=by_name(request.tools) if request and request.tools else self._held_tools.get(index, {}),
            providers=self._providers,
            summaries=self.session.summaries(),
            peek=self.read_exchange,
            accepted=self._accepted if choice.is_own else None,
            is_recorded=is_recorded and not choice.is_translated,
            is_last=is_end,
            shared=shared or SharedResults(),
            rule_prefixes=self.rule_prefixes,
            carried=KnownFindings(known, is_kept, is_final=not self._conversations.journal.is_on) if known else None,
        )

    def read_exchange(self, index: int) -> DecodedExchange | None:
        """One exchange, decoded but not checked; None if it is unreadable. The last few are kept."""
        found = self._peeked.pop(index, None) or self._open.get(index)
        if found is None and isinstance(exchange := self._read(index), Exchange):
            found = self._decode(index, exchange)
        if found:
            self._keep(found)
        return found

    def _keep(self, decoded: DecodedExchange) -> None:
        """Keep a model exchange that is over, for rules that look back at it."""
        if decoded.protocol and decoded.exchange.state is not State.OPEN:
            self._peeked[decoded.index] = decoded
        while len(self._peeked) > PEEKED_KEPT:
            self._peeked.pop(next(iter(self._peeked)))
