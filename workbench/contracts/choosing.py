"""Choice of the contract for an exchange: by its host, by signs in its response, or by its model.

A provider's front end has rules of its own (formats of ids, unknown fields, error messages), which do not follow from
the name of a model: at a host that no contract names, the facts of a known model apply, and ``generic`` for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from workbench.contracts import loading as contracts
from workbench.contracts.contract import Contract
from workbench.contracts.facts import Clues, ContractFile
from workbench.contracts.signs import Sign
from workbench.globs import matches_glob
from workbench.ir import NOTHING
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.protocols import DecodedExchange
from workbench.undo_log import Journal
from workbench.wire import Summary, translation_of

SIMULATED = "workbench-simulator/"
"""Start of the Server header of a simulator; the name of its contract follows."""


def choose(clues: Clues, protocol: str | None, observed: str = "") -> tuple[Contract, str]:
    """The contract of an exchange, and how it was found, in words.

    Args:
        clues: clues in the exchange.
        protocol: protocol of the exchange.
        observed: contract that earlier responses of this host and model showed (``shown_by``); empty if none.
    """
    place = _place(clues.url)
    if not any(_by_host(place)):
        name, how = shown_by(clues, protocol) or (observed, "from other responses of this host and model")
        name, how = (name, how) if name else _asked_for(clues, protocol)
        if name:
            return _whole(name, how, clues, protocol)
    name, how, is_front_end = _choose(place, clues.model, protocol, clues.answered_as)
    if is_front_end or not contracts.outline(name).speaks(protocol):
        return _whole(name, how, clues, protocol)
    variant, why = contracts.outline(name).variant(clues)
    own = f"{name}:{variant}" if variant else name
    why_not = f"no contract for host {place}" if place else f"{clues.model} is the name of a gateway"
    how = f"{why_not}: generic is used, with the reasoning facts of {own} ({how})"
    return contracts.of_model(name, protocol, variant, clues.model), f"{how}; {why}" if why else how


def clues_of(decoded: DecodedExchange) -> Clues:
    """Clues in an exchange to the provider that responds."""
    request, answer = decoded.request, decoded.response
    asked, response = decoded.exchange.request, decoded.exchange.response
    return Clues(
        url=asked.url if asked else None,
        model=request.model if request else None,
        answered_as=answer.model if answer else None,
        params=request.params if request else NOTHING,
        headers={name.lower(): value for name, value in response.headers} if response else NOTHING,
        fields=answer.params if answer else NOTHING,
        error=answer.error.message if answer and answer.error else "",
    )


@dataclass(slots=True)
class Servers:
    """Signs of a server in earlier responses of a session, used for later requests to the same host and model.

    Args:
        journal: undo log: removes what was learned from an exchange that is read again.
    """

    journal: Journal
    _observed_names: dict[tuple[str, str | None], str] = field(default_factory=dict, repr=False)
    _expected: dict[int, str] = field(default_factory=dict, repr=False)

    def learn(self, index: int, clues: Clues, protocol: str | None) -> None:
        """Note what is known before an exchange, and what its own response shows. Exchanges come in order."""
        server = (_place(clues.url), clues.model)
        if server in self._observed_names:
            self.journal.put(self._expected, index, self._observed_names[server])
        elif found := shown_by(clues, protocol):
            self.journal.put(self._observed_names, server, found[0])

    def expected_contract(self, index: int) -> str:
        """The contract that the responses before an exchange showed; empty if none."""
        return self._expected.get(index, "")


def shown_by(clues: Clues, protocol: str | None) -> tuple[str, str] | None:
    """(name, how) of the contract that a header, a field or an error text of the response identifies."""
    server = clues.headers.get("server", "")
    if server.startswith(SIMULATED) and server.removeprefix(SIMULATED) in contracts.names():
        return server.removeprefix(SIMULATED), "from the server header of its response"
    for name, sign in _signs(protocol) if clues.headers or clues.fields else ():
        if sign.request_field:
            continue
        found = clues.headers.get(sign.header) if sign.header else clues.fields.get(sign.field)
        if found is not None and (not sign.value or (isinstance(found, str) and matches_glob(found, sign.value))):
            return name, f"from {sign.words} of its response"
    return _by_error(clues.error, protocol, clues.model) if clues.error else None


def _asked_for(clues: Clues, protocol: str | None) -> tuple[str, str]:
    """(name, how) of the contract whose providers alone have a field of the request; empty if there is none."""
    for name, sign in _signs(protocol) if clues.params else ():
        is_there = sign.request_field and clues.params.get(sign.request_field) is not None
        if is_there and (not sign.model or matches_glob(clues.model or "", sign.model)):
            return name, f"from the field {sign.request_field} of its request"
    return "", ""


@contracts.forgotten_with
@lru_cache(maxsize=64)
def _signs(protocol: str | None) -> tuple[tuple[str, Sign], ...]:
    """(contract, sign) of all whose providers speak a protocol."""
    return tuple((file.name, sign) for file in contracts.outlines() if file.speaks(protocol) for sign in file.signs)


@contracts.forgotten_with
@lru_cache(maxsize=256)
def _by_error(text: str, protocol: str | None, model: str | None) -> tuple[str, str] | None:
    """The one contract that has this text; of several the one whose model was asked."""
    from workbench.contracts.error_texts import explain

    matches = explain(text, is_answer=True)
    whole = [m for m in matches if m.is_whole] or matches
    names = {name for m in whole for name in (m.provider.partition(":")[0], *m.also)}
    speaking = [name for name in names if name in contracts.names() and contracts.outline(name).speaks(protocol)]
    of_model = {name for name, _ in _by_model(model)}
    likely = speaking if len(names) == 1 else [name for name in speaking if name in of_model]
    return (likely[0], "from the text of its error") if len(likely) == 1 else None


def _whole(name: str, how: str, clues: Clues, protocol: str | None) -> tuple[Contract, str]:
    """The contract itself if it covers the protocol; else ``generic``."""
    file = contracts.outline(name)
    if not file.speaks(protocol):
        return _generic(protocol), f"{how}, but the contract of {name} does not cover {protocol}: generic is used"
    variant, why = file.variant(clues)
    return contracts.resolve(name, protocol, variant, clues.model), f"{how}; {why}" if why else how


@contracts.forgotten_with
@lru_cache(maxsize=256)
def _choose(place: str, model: str | None, protocol: str | None, answered_as: str | None) -> tuple[str, str, bool]:
    """(name, how, whether it holds as a whole) from the host, else from its names, else from its protocol.

    Hosts serve several wires, models are served by many: who does not speak the protocol gives way to one that does.
    """
    by_name = [*_by_model(model), *_by_model(answered_as)]
    by_protocol = [] if place else [*_by_protocol(protocol)]  # whose a wire is does not tell who serves it
    for candidates in ([*_by_host(place)], [*by_name, *by_protocol]):
        if candidates:
            speaking = (found for found in candidates if contracts.outline(found[0]).speaks(protocol))
            name, how = next(speaking, candidates[0])
            file = contracts.outline(name)
            is_hosted = (name, how) in _by_host(place) if place else not _is_of_gateway(model, file)
            return name, how, is_hosted or not file.hosts
    return contracts.GENERIC, "no contract matches: generic is used", True


def _is_of_gateway(model: str | None, file: ContractFile) -> bool:
    """A name with its maker before it, which the maker's own API does not take: ``openai/gpt-5`` is a gateway's."""
    vendor, slash, name = (model or "").partition("/")
    makers = {file.name, *file.title.lower().split()}
    return bool(slash) and "/" not in name and vendor.replace("-", "") in makers


@contracts.forgotten_with
@lru_cache(maxsize=256)
def _by_host(place: str) -> tuple[tuple[str, str], ...]:
    """(name, how) of the providers whose hosts fit, with or without the port."""
    hosts = (place, place.partition(":")[0])
    return tuple(
        (file.name, f"from host {host}")
        for file in contracts.outlines()
        for host in hosts
        if any(matches_glob(host, glob) for glob in file.hosts)
    )


def _by_model(model: str | None) -> Iterator[tuple[str, str]]:
    yield from ((file.name, f"from model name {model}") for file in contracts.outlines() if file.claims_model(model))


def _by_protocol(protocol: str | None) -> Iterator[tuple[str, str]]:
    yield from ((file.name, f"from protocol {protocol}") for file in contracts.outlines() if protocol in file.native)


def _generic(protocol: str | None) -> Contract:
    return contracts.resolve(contracts.GENERIC, protocol, "", None)


def _place(url: str | None) -> str:
    """Host of a URL, with its port where it names one: "localhost:11434"."""
    found = re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([^/?#:]+(?::[0-9]+)?)", url or "")
    return found[1].lower() if found else ""


WITHIN = 64
"""Number of exchanges after one among which its translation is looked for."""


class Choice(NamedTuple):
    """The contract of an exchange.

    Attributes:
        how: how it was chosen, in words.
        is_own: host and model chose it, so that what the provider accepts in this session counts.
        is_translated: Workbench wrote the response of the exchange, or its request, in a translation.
    """

    contract: Contract
    how: str
    is_own: bool = False
    is_translated: bool = False


def choose_contract(
    decoded: DecodedExchange, provider: str, expected: Callable[[], str], summaries: Sequence[Summary]
) -> Choice:
    """The contract of an exchange.

    Args:
        provider: contract that was requested; empty to choose one.
        expected: contract that earlier responses of its server showed.
        summaries: summaries of every exchange of the session.
    """
    clues = clues_of(decoded)
    if not provider:
        label, how = _choose_translated(decoded, summaries)
        if label:
            return Choice(contracts.get(label, protocol=decoded.protocol, clues=clues), how, is_translated=True)
        return Choice(*choose(clues, decoded.protocol, expected()), is_own=True)
    contract = contracts.get(provider, protocol=decoded.protocol, clues=clues)
    if not contract.covers and (own := _of_same_hosts(contract.name, decoded.protocol)):
        sibling = contracts.get(own, protocol=decoded.protocol, clues=clues)
        return Choice(sibling, f"as requested; {own} is the contract of this protocol at the same hosts")
    if contract.note and contract.name != provider.partition(":")[0]:
        return Choice(contract, f"as requested; {contract.note}")
    how = "as requested" if contract.covers else f"as requested, although it does not cover {decoded.protocol}"
    return Choice(contract, how)


@contracts.forgotten_with
@lru_cache(maxsize=64)
def _of_same_hosts(name: str, protocol: str | None) -> str:
    """The contract of a provider for another one of its protocols, if that has a contract of its own; else empty."""
    hosts = set(contracts.outline(name).hosts)
    found = (file.name for file in contracts.outlines() if protocol in file.native and hosts & set(file.hosts))
    return next(found, "")


def _choose_translated(decoded: DecodedExchange, summaries: Sequence[Summary]) -> tuple[str, str]:
    """(label, how it was chosen) where a recorder translated: no provider gets what it was made from."""
    translation = translation_of(decoded.exchange.branch)
    if translation:
        known = translation.contract.partition(":")[0] in contracts.names()
        return (translation.contract, "from the upstream it was translated for") if known else ("", "")
    if not decoded.exchange.hop:
        return "", ""
    near = summaries[decoded.index + 1 : decoded.index + WITHIN]
    if any(row.parent == decoded.exchange.id and translation_of(row.branch) for row in near):
        return contracts.GENERIC, "translated by the recorder: no provider received it in this form"
    return "", ""
