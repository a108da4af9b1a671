"""One request under every contract: accepted or refused, by which rule, and at which pointer.

For a contract that does not support the request's protocol it is converted, as a gateway would. Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench import contracts, protocols
from workbench.contracts import Contract, Finding, Refusal, Verdict, refusal_of
from workbench.convert import Loss, WholeRequest, convert, old_names, rename_fields, with_held_history
from workbench.errors import LocalProtocolError, ProfileError, UsageError, WireError
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import Inspector, SharedResults, judge
from workbench.wire import CONNECTION, Body, Exchange, HttpRequest


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """Verdict of one contract.

    Attributes:
        contract: label, ``"deepseek:v4"``.
        title: name of the provider.
        protocol: that it was judged in.
        verdict: accepts, refuses, suspicious or unknown.
        finding: that the verdict rests on, with a pointer into ``body``; None if there is none.
        refusal: the provider's response if it refuses.
        findings: all findings on the request under this contract.
        losses: of the conversion; empty if it was not converted.
        is_converted: it was converted.
        earlier: indices of the exchanges whose turns are in it, for only the provider of the recording holds them.
        body: the request as judged.
        note: reason why the verdict is unknown.
    """

    contract: str
    title: str
    protocol: str
    verdict: Verdict
    finding: Finding | None = None
    refusal: Refusal | None = None
    findings: tuple[Finding, ...] = ()
    losses: tuple[Loss, ...] = ()
    is_converted: bool = False
    earlier: tuple[int, ...] = ()
    body: bytes = b""
    note: str = ""


@dataclass(frozen=True, slots=True)
class _HistoryForm:
    """The history in one protocol, decoded once for every contract that supports it."""

    decoded: DecodedExchange
    losses: tuple[Loss, ...] = ()
    is_converted: bool = False
    earlier: tuple[int, ...] = ()
    shared: SharedResults = field(default_factory=SharedResults)


def longest(inspector: Inspector) -> int:
    """Index of the exchange with the longest history in bytes (the last of several), the default to judge.

    Raises LocalProtocolError if the session contains no request to a model.
    """
    rows = [row for row in inspector.run().rows if row.conversation is not None and row.summary.request_bytes]
    if not rows:
        raise LocalProtocolError("not a request to a model", where=inspector.session.name)
    return max(rows, key=lambda row: (row.summary.request_bytes, row.index)).index


def labels(selection: Iterable[str] = ()) -> list[str]:
    """Contracts to use: every variant of those named, or of all contracts if none is named.

    Raises UsageError, ProfileError.
    """
    found: dict[str, None] = {}
    names = tuple(selection)
    for name in names:
        contracts.demand(name)
    for name in names or contracts.names():
        contracts.get(name)
        found |= dict.fromkeys([name] if ":" in name or name not in contracts.names() else contracts.variants(name))
    return list(found)


class MatrixHistory:
    """One request to judge under any number of contracts; it is converted to each protocol once.

    Args:
        inspector: of the session; exchanges up to ``index`` are inspected first.
        index: of the exchange in the session.

    Raises:
        LocalProtocolError: the exchange has no request that can be decoded.
    """

    def __init__(self, inspector: Inspector, index: int) -> None:
        original = inspector.detail(index).decoded
        if original.request is None or original.protocol not in protocols.protocols():
            raise LocalProtocolError("not a request to a model", where=f"exchange {index + 1}")
        self._inspector, self._original = inspector, original
        self._own = inspector.detail(index).row.provider or ""
        self._whole = with_held_history(original, inspector.session.exchange)
        self.protocol: str = original.protocol or ""
        self._forms: dict[str, _HistoryForm | str] = {
            self.protocol: _HistoryForm(self._read(original.exchange.request, self.protocol))
        }
        self._spellings: dict[tuple[str, ...], _HistoryForm] = {}

    def row(self, label: str) -> MatrixRow:
        """Verdict of one contract. Raises UsageError if it does not exist."""
        try:
            protocol = _protocol(label, self.protocol)
            contract = contracts.get(label, protocol=protocol)
        except ProfileError as error:
            return MatrixRow(label, label, "", Verdict.UNKNOWN, note=str(error))
        history = self._in(protocol, contract)
        if isinstance(history, str):
            return MatrixRow(label, contract.title, protocol, Verdict.UNKNOWN, note=history)
        is_alone = history.is_converted or bool(history.earlier)
        trial = self._inspector.judge(history.decoded, label, is_alone=is_alone, shared=history.shared)
        found = judge(trial.findings, trial.contract)
        return MatrixRow(
            contract=label,
            title=contract.title,
            protocol=protocol,
            verdict=found.verdict,
            finding=found.finding,
            refusal=refusal_of(found.finding, trial.contract) if found.finding else None,
            findings=tuple(f for f in trial.findings if f.side == REQUEST),
            losses=history.losses,
            is_converted=history.is_converted,
            earlier=history.earlier,
            body=history.decoded.request_text,
            note=trial.contract.note,
        )

    def _in(self, protocol: str, contract: Contract) -> _HistoryForm | str:
        """The history in a protocol as this provider spells it, or the reason why there is none."""
        if protocol == self.protocol and self._whole and contract.label != self._own:
            return self._forms.setdefault("", self._with_turns(self._whole))
        if protocol not in self._forms:
            self._forms[protocol] = self._convert(protocol)
        form = self._forms[protocol]
        if isinstance(form, str) or not form.is_converted:
            return form
        spelling = (protocol, *old_names(contract.knows_field))
        if spelling not in self._spellings:
            self._spellings[spelling] = self._with_old_names(form, contract)
        return self._spellings[spelling]

    def _with_old_names(self, form: _HistoryForm, contract: Contract) -> _HistoryForm:
        """A converted history with the names of fields that a provider knows."""
        body = rename_fields(form.decoded.request_text, contract.knows_field)
        if body == form.decoded.request_text:
            return form
        request = replace(form.decoded.exchange.request or HttpRequest(), body=Body(body))
        return replace(form, decoded=self._read(request, form.decoded.protocol or ""), shared=SharedResults())

    def _with_turns(self, whole: WholeRequest) -> _HistoryForm:
        """The history with the turns that another provider does not hold."""
        return _HistoryForm(self._read(whole.exchange.request, self.protocol), earlier=whole.earlier)

    def _convert(self, protocol: str) -> _HistoryForm | str:
        """The history in another protocol, or the reason why there is none."""
        whole, source = self._whole, self._original
        if whole:
            source = DecodedExchange(source.index, whole.exchange, self.protocol)
        try:
            conversion = convert(source, protocol, is_typed=False)
            request = HttpRequest(url=conversion.path, body=Body(conversion.body))
            return _HistoryForm(self._read(request, protocol), conversion.losses, True, whole.earlier if whole else ())
        except (LocalProtocolError, WireError, UsageError) as error:
            return f"cannot be converted to {protocol}: {error}"

    def _read(self, request: HttpRequest | None, protocol: str) -> DecodedExchange:
        """The request alone: the response of one provider says nothing about another."""
        index, own = self._original.index, self._original.exchange
        connection = {name: value for name, value in own.meta.items() if name == CONNECTION}
        exchange = Exchange(own.id, request, meta=connection)
        return DecodedExchange(index, exchange, protocol, known=self._inspector.known)


def rows(inspector: Inspector, index: int, names: Iterable[str] = ()) -> Iterator[MatrixRow]:
    """Verdicts of contracts on one request, one row after another.

    Args:
        inspector, index: as for ``History``.
        names: contracts, with or without a variant; all if none is named.

    Raises:
        UsageError: a contract does not exist.
        LocalProtocolError: the exchange holds no request that can be decoded.
    """
    history = MatrixHistory(inspector, index)
    return (history.row(label) for label in labels(names))


def _protocol(label: str, own: str) -> str:
    """Protocol to judge in: that of the history if the contract supports it, else the contract's first."""
    name = label.partition(":")[0]
    supported: Sequence[str] = contracts.read(name).protocols if name in contracts.names() else ()
    known = [protocol for protocol in supported if protocol in protocols.protocols()]
    return own if own in supported or not known else known[0]
