"""One history under every contract: who accepts it, who refuses it, by which rule and at which place.

A contract that does not speak the protocol of the history gets it converted, as a gateway would send it. Nothing is
sent anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench import adapters
from workbench.conversion import Loss, convert
from workbench.decode import Decoded
from workbench.errors import LocalProtocolError, UsageError, WireError
from workbench.inspection import Inspector
from workbench.rules import Finding, Refusal, Verdict, contracts, judge, refusal
from workbench.wire.exchange import Body, Exchange, HttpRequest


@dataclass(frozen=True, slots=True)
class Row:
    """What one contract makes of the history.

    Attributes:
        contract: label, ``"deepseek:v4"``.
        title: the provider's own name.
        protocol: the one it was judged in.
        verdict: accepts, refuses, suspicious or unknown.
        finding: what the verdict rests on; its pointer is a place in ``body``. None where there is none.
        refusal: the provider's answer where it refuses.
        findings: all that the rules say of the request under this contract.
        losses: what converting it to this protocol cost; () where it was not converted.
        is_converted: it was.
        body: the request as it was judged.
        note: why nothing is known.
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
    body: bytes = b""
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Said:
    """The history in one protocol, read once for every contract that speaks it."""

    decoded: Decoded
    losses: tuple[Loss, ...] = ()
    is_converted: bool = False


def longest(inspector: Inspector) -> int:
    """The exchange with the longest history (in bytes, of several the last): what every contract is asked about.

    Raises LocalProtocolError where the session holds no request of a model.
    """
    rows = [row for row in inspector.run().rows if row.conversation is not None and row.summary.request_bytes]
    if not rows:
        raise LocalProtocolError("no request of a model", where=inspector.session.name)
    return max(rows, key=lambda row: (row.summary.request_bytes, row.index)).index


def labels(wanted: Iterable[str] = ()) -> list[str]:
    """The contracts to ask: every variant of those named, of every contract where none is. Raises UsageError."""
    found: dict[str, None] = {}
    for name in wanted or contracts.names():
        contracts.get(name)
        found |= dict.fromkeys([name] if ":" in name or name not in contracts.names() else contracts.variants(name))
    return list(found)


def rows(inspector: Inspector, index: int, wanted: Iterable[str] = ()) -> Iterator[Row]:
    """The verdicts of contracts on one request, one row after another.

    Args:
        inspector: has inspected the session, or does so now up to ``index``.
        index: of the exchange in the session.
        wanted: contracts, with a variant or without; all that exist where none is named.

    Raises:
        UsageError: a contract does not exist.
        LocalProtocolError: the exchange holds no request that can be decoded.
    """
    original = inspector.detail(index).decoded
    if original.request is None or original.protocol not in adapters.protocols():
        raise LocalProtocolError("no request of a model", where=f"exchange {index + 1}")
    said: dict[str, _Said | str] = {original.protocol: _Said(_asked(original))}
    for label in labels(wanted):
        yield _row(inspector, original, label, said)


def _asked(original: Decoded) -> Decoded:
    """The request alone: no answer of one provider tells what another one would say."""
    return Decoded(original.index, Exchange(original.exchange.id, original.exchange.request), original.protocol)


def _row(inspector: Inspector, original: Decoded, label: str, said: dict[str, _Said | str]) -> Row:
    spoken = _protocol(label, original.protocol or "")
    contract = contracts.get(label, protocol=spoken)
    if contract.name != label.partition(":")[0]:
        return Row(label, contract.title, spoken, Verdict.UNKNOWN, note=contract.note)
    if spoken not in said:
        said[spoken] = _in(original, spoken)
    history = said[spoken]
    if isinstance(history, str):
        return Row(label, contract.title, spoken, Verdict.UNKNOWN, note=history)
    trial = inspector.judged(history.decoded, label, is_alone=history.is_converted)
    found = judge(trial.findings, trial.contract)
    return Row(
        contract=label,
        title=contract.title,
        protocol=spoken,
        verdict=found.verdict,
        finding=found.finding,
        refusal=refusal(found.finding, trial.contract) if found.finding else None,
        findings=trial.findings,
        losses=history.losses,
        is_converted=history.is_converted,
        body=history.decoded.request_text,
        note=trial.contract.note,
    )


def _protocol(label: str, own: str) -> str:
    """The protocol a contract is asked in: that of the history if it speaks it, else its own first."""
    name = label.partition(":")[0]
    spoken: Sequence[str] = contracts.read(name).protocols if name in contracts.names() else ()
    known = [protocol for protocol in spoken if protocol in adapters.protocols()]
    return own if own in spoken or not known else known[0]


def _in(original: Decoded, protocol: str) -> _Said | str:
    """The history in another protocol, or why there is none."""
    try:
        made = convert(original, protocol)
        request = HttpRequest(url=made.path, body=Body(made.body))
        return _Said(Decoded(original.index, Exchange(original.exchange.id, request), protocol), made.losses, True)
    except (LocalProtocolError, WireError, UsageError) as error:
        return f"it cannot be said in {protocol}: {error}"
