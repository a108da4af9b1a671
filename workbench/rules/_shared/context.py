"""Input of a rule: one exchange of a conversation under a contract."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.chain import CallLine, Closure, Conversation, Entry, Hops, Ledger
from workbench.contracts import Basis, Breaks, Contract, Finding, NotedContract, Repair, Severity, fill, known_values
from workbench.ir import NOTHING, Anomaly, Message, ModelRequest, ModelResponse, NodeRef, Part, ToolDef
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange, HistoryPrefix, WirePlace, where
from workbench.rules._shared.shared_results import SharedResults, of_chain
from workbench.wire import Summary

if TYPE_CHECKING:
    from workbench.rules._shared.acceptance import Acceptances
    from workbench.rules._shared.lasting_findings import KnownFindings

BETA, VERSION = "anthropic-beta", "anthropic-version"
"""Request header that announces beta features."""

MOST_PLACES = 64
"""Number of contracts and URLs for which it is remembered that the same fields have no findings."""


class KnownFields(NamedTuple):
    """What is known of requests that differ only in their messages.

    Attributes:
        contract: under which it is known.
        silent: checks of fields without findings.
        holding: relations → number of one of them → its conditions on the request as a whole hold.
    """

    contract: Contract
    silent: set[object]
    holding: dict[object, dict[int, bool]]


@dataclass(frozen=True, slots=True)
class RuleContext:
    """One exchange under one contract.

    Attributes:
        tools: the declared tools by name; those of earlier requests of the conversation if this one declares none and
            the server keeps them.
        earlier: the conversation so far, without this exchange.
        providers: exchange of ``earlier`` → name of the contract it was checked under.
        summaries: summaries of every exchange of the session; later ones were not known when this one was sent.
        peek: reads another exchange of the session by its index, which decodes it; None if that fails.
        accepted: what the providers of this session have accepted so far; None under a contract that was requested by
            name: the exchange is then checked as if no response had been recorded.
        is_recorded: the response was recorded in this session as the one to this request.
        is_last: no exchange will come after it in this session.
        shared: results already derived from the exchange, also under other contracts.
        carried: findings of the requests that this one continues and that still hold; None if everything is checked
            again.
        rule_prefixes: first words of the rules whose findings alone are wanted ("closure"); None for all.
        start: index of the first message that ``suspects`` and similar members yield: earlier ones are already checked.
        chain: closure and ledger, as far as they were needed, and the case ``limit`` made ("recent").
        request, response: of ``decoded``.
        messages: those of the request.
    """

    decoded: DecodedExchange
    contract: Contract
    earlier: Conversation
    tools: Mapping[str, ToolDef] = field(default_factory=dict)
    providers: Mapping[int, str] = field(default_factory=dict)
    summaries: Sequence[Summary] = ()
    peek: Callable[[int], DecodedExchange | None] = lambda _: None
    accepted: Acceptances | None = None
    is_recorded: bool = False
    is_last: bool = False
    shared: SharedResults = field(default_factory=SharedResults, repr=False, compare=False)
    carried: KnownFindings | None = field(default=None, repr=False, compare=False)
    rule_prefixes: frozenset[str] | None = None
    start: int = 0
    chain: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    request: ModelRequest | None = field(init=False, repr=False, compare=False)
    response: ModelResponse | None = field(init=False, repr=False, compare=False)
    messages: tuple[Message, ...] = field(init=False, repr=False, compare=False)
    _beside: list[KnownFields | None] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put, decoded = object.__setattr__, self.decoded
        put(self, "request", decoded.request)
        put(self, "response", decoded.response)
        put(self, "messages", decoded.request.messages if decoded.request else ())

    @property
    def closure(self) -> Closure:
        """Calls and results of the request and its response."""
        if "closure" not in self.chain:
            self.chain["closure"] = self.shared.closure(self)
        return self.chain["closure"]  # type: ignore[no-any-return]

    @property
    def ledger(self) -> Ledger:
        """The reasoning ledger of the request."""
        if "ledger" not in self.chain:
            self.chain["ledger"] = self.shared.ledger(self)
        return self.chain["ledger"]  # type: ignore[no-any-return]

    @property
    def hops(self) -> Hops:
        """The same turn at the other hops where it was recorded."""
        return self.shared.hops(self)

    def note_reads(self) -> NotedCase:
        """The same case, with notes of what a rule reads."""
        return NotedCase(self)

    @property
    def silent_checks(self) -> set[object] | None:
        """Checks of fields without findings in this request; None if it is unknown how its fields differ."""
        known = self.known_fields
        return None if known is None else known.silent

    @property
    def known_fields(self) -> KnownFields | None:
        """One object for all requests that differ only in their messages; None if it is unknown how they differ."""
        if not self._beside:
            reading = self.decoded.request_reading
            self._beside.append(None if reading is None else self._known_fields(reading.found_of_fields))
        return self._beside[0]

    def _known_fields(self, found_of_fields: dict[Any, Any]) -> KnownFields:
        http, origin = self.decoded.exchange.request, self.decoded.exchange.origin
        around = (http.url, http.headers.all(BETA), http.headers.get(VERSION)) if http else ()
        by_place: dict[Any, KnownFields] = found_of_fields.setdefault(RuleContext, {})
        place = (self.contract.name, self.contract.variant, origin, around)
        known = by_place.get(place)
        if known is None or known.contract is not self.contract:
            if len(by_place) >= MOST_PLACES:
                by_place.clear()
            known = by_place[place] = KnownFields(self.contract, set(), {})
        return known

    @property
    def status(self) -> int:
        """HTTP status of the response; 0 if none was recorded."""
        http = self.decoded.exchange.response
        return http.status if http else 0

    @property
    def is_refused(self) -> bool:
        """True if the provider refused the request itself."""
        return self.response is not None and self.response.error is not None and self.status in (400, 422)

    def suspects(self, test: Callable[..., object], *terms: object) -> Sequence[tuple[int, Message]]:
        """(index, message) of the messages, from ``start`` on, for which ``test(message, *terms)`` is true."""
        messages, start = self.messages, self.start
        if isinstance(messages, HistoryPrefix):  # most rules have no suspect among the new messages
            found = messages.history.ask(test, terms)
            if not found or found[-1] < start:
                return ()
            return [(n, messages[n]) for n in found[bisect_left(found, start) : bisect_left(found, len(messages))]]
        return where(messages, test, *terms, start=start)

    def numbers(self, test: Callable[..., object], *terms: object) -> Sequence[int]:
        """Indices of the messages that ``suspects`` yields."""
        messages, start = self.messages, self.start
        if isinstance(messages, HistoryPrefix):
            found = messages.history.ask(test, terms)
            return found[bisect_left(found, start) : bisect_left(found, len(messages))]
        return [n for n, _ in where(messages, test, *terms, start=start)]

    @property
    def lines(self) -> Sequence[CallLine]:
        """Lines of the closure, from ``start`` on."""
        return self.closure.lines_from(self.start)

    @property
    def flawed_lines(self) -> Sequence[CallLine]:
        """The same lines, without those that are simply closed."""
        return self.closure.flawed_lines_from(self.start)

    @property
    def deviations(self) -> Sequence[Entry]:
        """Entries of reasoning that is missing, empty or altered, from ``start`` on."""
        return self.ledger.deviations_from(self.start)

    @property
    def genuine(self) -> Mapping[NodeRef, Entry]:
        """Entries of reasoning that is sent as it was received, by its first part, from ``start`` on."""
        return self.ledger.genuine_from(self.start) if self.start else self.ledger.genuine

    def limit(self, start: int) -> None:
        """Note that checks of messages need the case from this message on alone (``of_messages``)."""
        if start:
            recent = replace(self, start=start)
            recent.chain.update(self.chain)
            self.chain["recent"] = recent

    @property
    def recent(self) -> RuleContext:
        """The case that ``limit`` made; this one if all messages are to be checked."""
        return self.chain.get("recent", self)  # type: ignore[no-any-return]

    @property
    def request_anomalies(self) -> Sequence[Anomaly]:
        """Anomalies of the decoded request, from ``start`` on."""
        anomalies, reading = self.request.anomalies if self.request else (), self.decoded.request_reading
        if not self.start or reading is None:
            return anomalies
        return reading.anomalies_from(self.start)

    @property
    def response_anomalies(self) -> Sequence[Anomaly]:
        """Anomalies of the decoded response."""
        return self.response.anomalies if self.response else ()

    def message(self, ref: NodeRef) -> Message:
        """The message that a reference points into."""
        return self.decoded.messages(ref.side)[ref.message]

    def part(self, ref: NodeRef) -> Part:
        """The part that a reference points at."""
        return self.message(ref).parts[ref.part]

    def pointer(self, ref: NodeRef, name: str | None = None) -> str:
        """Absolute pointer of a part or of one of its fields."""
        return self.message(ref).absolute(self.part(ref), name)

    def at(self, rule: Rule, ref: NodeRef, message: str, *, name: str | None = None, **more: Any) -> Finding:
        """A finding on a part, or on one field of it.

        Args:
            more: ``evidence``, ``source`` and ``refusal`` of the finding; ``when``: the fault of the rule, if a
                contract has several; ``values``: values of variables in the provider's message (indices, ids and the
                model are filled in).
        """
        holder = self.decoded.messages(ref.side)[ref.message]
        part = holder.parts[ref.part]
        place = self.decoded.place_of(ref.side, holder, part, name)
        return self._finding(rule, ref.side, holder.absolute(part, name), place, message, part, **more)

    def within(self, rule: Rule, ref: NodeRef, name: str, piece: tuple[int, int], message: str, **more: Any) -> Finding:
        """A finding on some characters of a text field of a part."""
        place = self.decoded.place_within(ref.side, self.message(ref), self.part(ref), name, piece)
        return self._finding(rule, ref.side, self.pointer(ref, name), place, message, self.part(ref), **more)

    def finding(
        self, rule: Rule, side: str, pointer: str, message: str, *, events: Iterable[int] = (), **more: Any
    ) -> Finding:
        """A finding on a pointer of one side, or on events of its stream."""
        blocks = tuple(events)
        place = self.decoded.place_events(blocks) if blocks else self.decoded.place(side, pointer)
        return self._finding(rule, side, pointer, place, message, None, **more)

    def _finding(
        self,
        rule: Rule,
        side: str,
        pointer: str,
        place: WirePlace,
        message: str,
        part: Part | None,
        *,
        when: str = "",
        values: Mapping[str, str] = NOTHING,
        evidence: str = "",
        source: str = "",
        refusal: str = "",
        basis: Basis | None = None,
    ) -> Finding:
        enforced = self.contract.check_for(rule.slug, when) if side == REQUEST else None
        known: Mapping[str, str] = NOTHING
        if enforced:
            known = {**known_values(pointer, self.decoded, self.contract, part, place.span), **values}
            refusal = refusal or fill(enforced.template, known)
            source = source or enforced.source
        return Finding(
            rule=rule.slug,
            severity=Severity.ERROR if enforced else rule.severity,
            exchange=self.decoded.index,
            side=side,
            pointer=pointer,
            message=message,
            events=place.events,
            span=place.span,
            evidence=evidence,
            source=source,
            refusal=refusal,
            check=enforced,
            values=known,
            basis=basis or _basis(rule, side, source),
            breaks=rule.breaks,
            fact=":".join(filter(None, (enforced.rule, enforced.when))) if enforced else "",
            unenforced=rule.severity,
        )


class NotedCase(RuleContext):
    """A case that notes what is read from its contract and its chain.

    Attributes:
        contract: the contract, with notes; those of the chain are among them.
    """

    __slots__ = ("_case",)
    _case: RuleContext
    contract: NotedContract

    def __init__(self, case: RuleContext) -> None:
        object.__setattr__(self, "_case", case)
        object.__setattr__(self, "contract", NotedContract(case.contract))
        object.__setattr__(self, "chain", {})

    def __getattr__(self, name: str) -> Any:
        """Any other field: its slot is empty here."""
        return getattr(self._case, name)

    @property
    def silent_checks(self) -> set[object] | None:
        """None: every check runs, so that what it reads is noted."""
        return None

    @property
    def known_fields(self) -> KnownFields | None:
        """None, too."""
        return None

    @property
    def closure(self) -> Closure:
        self.contract.reads.setdefault((of_chain, "closure"))
        return self._case.closure

    @property
    def ledger(self) -> Ledger:
        self.contract.reads.setdefault((of_chain, "ledger"))
        return self._case.ledger


def _basis(rule: Rule, side: str, source: str) -> Basis:
    """Basis of a finding that does not state it: its source, else the usual basis of the rule."""
    if source:
        return Basis.MEASURED if source.startswith("measured") else Basis.CONTRACT
    return Basis.COMMON if side == REQUEST and rule.breaks is Breaks.REQUEST else rule.basis


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by its slug.

    Attributes:
        severity: severity if the contract does not enforce the rule; if it does, findings on requests are errors.
        summary: one sentence, as on the page of the rule.
        is_advice: findings are about a cost or a risk: tool calls still work, and verdicts ignore them.
        breaks: what its faults break; None for advice, which breaks nothing. The finding of a third-party rule without
            it stays as it is, whether the provider accepted the request or not.
        basis: basis of a finding that rests neither on a fact of a contract nor on common practice.
    """

    slug: str
    severity: Severity
    summary: str
    is_advice: bool = False
    breaks: Breaks | None = None
    basis: Basis = Basis.FORM


__all__ = ["Breaks", "Repair", "Rule", "RuleContext"]
