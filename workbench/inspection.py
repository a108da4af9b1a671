"""Inspect a session: decode, group, derive the chain, run the rules. The one entry the app and the commands use.

``Inspector`` goes through a session in order and keeps only what later exchanges need, so that a session of thousands
of exchanges can be inspected step by step; ``detail`` decodes one exchange again for whoever shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from workbench.chain import closure, ledger
from workbench.chain.closure import Closure
from workbench.chain.conversations import Conversation, Conversations
from workbench.chain.ledger import Ledger
from workbench.decode import Decoded
from workbench.errors import SessionFormatError
from workbench.ir import ToolDef
from workbench.rules import Case, Contract, Finding, check, contracts
from workbench.wire.exchange import State, Summary, summarize
from workbench.wire.session import Session

PENDING = "closure.pending"
DETAILS_KEPT = 8
"""Exchanges whose full detail is kept: somebody who walks up and down a timeline comes back to these."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """A row of the timeline.

    Attributes:
        protocol: None for what is no model exchange; ``protocol_from`` says how it was found.
        provider: label of the contract ("deepseek:v4"), None with protocol None.
        provider_from: how the contract was chosen, in words.
        conversation: id, None for what is no model exchange.
        calls: names of the calls in the answer.
        has_reasoning: the answer brought reasoning.
        problems: what could not be decoded, one line each.
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
    findings: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_undecided(self) -> bool:
        """It may hold a break that nobody could see: torn, or of a protocol that is not decoded."""
        return bool(self.problems) and (self.conversation is None or self.summary.state is State.INCOMPLETE)


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about one exchange."""

    row: Inspected
    decoded: Decoded
    contract: Contract
    closure: Closure
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result for a session. ``findings`` are in order of exchange, then severity, then place."""

    name: str
    rows: tuple[Inspected, ...] = ()
    conversations: tuple[Conversation, ...] = ()
    findings: tuple[Finding, ...] = ()
    damage: tuple[str, ...] = ()


@dataclass(slots=True)
class Inspector:
    """Goes through a session in order.

    A row is final but for one thing: a call of its answer that is still open is found pending until its conversation
    goes on. ``rows`` always holds the newest of each.

    Args:
        session: what to inspect.
        provider: contract name, with ``:variant`` or without; None to choose one for each exchange.
        protocol: protocol name; None to find it for each exchange.
    """

    session: Session
    provider: str | None = None
    protocol: str | None = None
    rows: list[Inspected] = field(default_factory=list)
    _conversations: Conversations = field(default_factory=Conversations, repr=False)
    _providers: dict[int, str] = field(default_factory=dict, repr=False)
    _tools: dict[int, Mapping[str, ToolDef]] = field(default_factory=dict, repr=False)
    _held_tools: dict[int, Mapping[str, ToolDef]] = field(default_factory=dict, repr=False)
    _details: dict[int, Detail] = field(default_factory=dict, repr=False)

    def steps(self) -> Iterator[Inspected]:
        """Inspect what is not inspected yet, one exchange at a time; call again when the session has grown."""
        while len(self.rows) < len(self.session):
            row = self._inspect(len(self.rows))
            self.rows.append(row)
            yield row

    def run(self) -> Inspection:
        """Inspect everything."""
        for _ in self.steps():
            pass
        return Inspection(
            name=self.session.name,
            rows=tuple(self.rows),
            conversations=tuple(self._conversations.all),
            findings=tuple(f for row in self.rows for f in row.findings),
            damage=tuple(self.session.damage),
        )

    def detail(self, index: int) -> Detail:
        """One exchange in full. Exchanges up to ``index`` are inspected first.

        Raises:
            IndexError: the session has no such exchange.
            SessionFormatError: it cannot be read.
        """
        for row in self.steps() if index >= len(self.rows) else ():
            if row.index == index:
                break
        row = self.rows[index]
        kept = self._details.pop(index, None)
        if kept is None:
            decoded = Decoded(index, self.session.exchange(index), self.protocol)
            case = self._case(decoded, self._contract(decoded)[0], row.conversation)
            kept = Detail(row, decoded, case.contract, case.closure, case.ledger)
        self._details[index] = kept = replace(kept, row=row)
        while len(self._details) > DETAILS_KEPT:
            self._details.pop(next(iter(self._details)))
        return kept

    def _inspect(self, index: int) -> Inspected:
        try:
            exchange = self.session.exchange(index)
        except SessionFormatError as error:
            summary = self.session.summaries()[index]
            return Inspected(index, summary, None, "unreadable", None, "", None, None, problems=(str(error),))
        decoded = Decoded(index, exchange, self.protocol)
        model = decoded.request.model if decoded.request else decoded.response.model if decoded.response else None
        row = Inspected(
            index=index,
            summary=summarize(index, exchange, model),
            protocol=decoded.protocol,
            protocol_from=decoded.protocol_from,
            provider=None,
            provider_from="",
            model=model,
            conversation=None,
            problems=(*exchange.damage, *(p.message for p in decoded.problems)),
        )
        return self._judged(row, decoded) if decoded.protocol else row

    def _judged(self, row: Inspected, decoded: Decoded) -> Inspected:
        """The row of a model exchange."""
        contract, how = self._contract(decoded)
        row = replace(row, provider=contract.label, provider_from=how)
        conversation = self._conversations.add(decoded)
        if conversation is None:
            return row
        self._remember(decoded, contract, conversation)
        case = self._case(decoded, contract, conversation.id)
        answer = decoded.response
        messages = answer.messages if answer else ()
        return replace(
            row,
            conversation=conversation.id,
            calls=tuple(call.name or "" for m in messages for _, call in m.tool_calls()),
            has_reasoning=any(True for m in messages for _ in m.reasoning()),
            finish_reason=answer.finish_reason if answer else None,
            findings=tuple(check(case)),
        )

    def _contract(self, decoded: Decoded) -> tuple[Contract, str]:
        request, answer = decoded.request, decoded.response
        model, answered_as = request.model if request else None, answer.model if answer else None
        if self.provider is None:
            url = decoded.exchange.request.url if decoded.exchange.request else None
            return contracts.choose(url=url, model=model, protocol=decoded.protocol, answered_as=answered_as)
        contract = contracts.get(self.provider, protocol=decoded.protocol, model=model, answered_as=answered_as)
        if contract.note and contract.name != self.provider.partition(":")[0]:
            return contract, f"as asked; {contract.note}"
        return contract, "as asked" if contract.covers else f"as asked, although it does not cover {decoded.protocol}"

    def _remember(self, decoded: Decoded, contract: Contract, conversation: Conversation) -> None:
        """Note what later exchanges need, and that earlier answers are no longer the end of their conversation."""
        self._providers[decoded.index] = contract.name
        for earlier in conversation.exchanges[-2:-1]:  # those before it were settled when it came
            row = self.rows[earlier] if earlier < len(self.rows) else None
            if row and any(f.rule == PENDING for f in row.findings):
                self.rows[earlier] = replace(row, findings=tuple(f for f in row.findings if f.rule != PENDING))
        request = decoded.request
        if request and request.tools:
            self._tools[conversation.id] = by_name(request.tools)
        elif request and request.previous_id and conversation.id in self._tools:
            self._held_tools[decoded.index] = self._tools[conversation.id]

    def _case(self, decoded: Decoded, contract: Contract, conversation: int | None) -> Case:
        """What the rules see: the exchange, and what its conversation held before it."""
        request, index = decoded.request, decoded.index
        lane = self._conversations.all[conversation] if conversation is not None else Conversation(-1)
        earlier = lane.before(index)
        remembered = earlier.answer(request.previous_id) if request else ()
        return Case(
            decoded=decoded,
            contract=contract,
            closure=closure.derive(request, decoded.response, contract.closure, remembered=remembered),
            ledger=ledger.derive(request, decoded.response, earlier.received, contract.reasoning),
            earlier=earlier,
            tools=by_name(request.tools) if request and request.tools else self._held_tools.get(index, {}),
            providers=self._providers,
        )


def by_name(tools: Iterable[ToolDef]) -> Mapping[str, ToolDef]:
    """Declared tools by their names; of two with one name the first counts."""
    found: dict[str, ToolDef] = {}
    for tool in tools:
        found.setdefault(tool.name or "", tool)
    return found
