"""Requests that a provider accepted in a recording: they outweigh a fact that says it refuses them.

A request is *accepted* when it was recorded on the wire and answered with 2xx by a message, or by a stream that has
begun one. Rebuilt and simulated exchanges, and those that an adapter of ours answered, show nothing of a provider.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from workbench.contracts import SIMULATED, Breaks, Finding, Severity
from workbench.fronts import late
from workbench.hashing import blake2b
from workbench.ir import HISTORIES, ModelResponse
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange, fact
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.wording import quote
from workbench.undo_log import Journal
from workbench.wire import Headers, Origin, translation_of, urls

(was_judged,) = late("workbench.rules._shared.failure_place", "was_judged")

ON_THE_WIRE = (Origin.RECORDED, Origin.IMPORTED, Origin.RESENT)
"""Origins of exchanges in which a server read the bytes of the request."""

NOBODY = "the server"
"""Name of the server that accepted a request, if its host is unknown."""

_MADE_UP = "x-workbench-breakpoint"
_BETA = "beta"


class AcceptedExchange(NamedTuple):
    """The exchange that was accepted (its index), and who accepted it."""

    exchange: int
    by: str


def accepted_by(decoded: DecodedExchange) -> str:
    """The host that accepted a recorded request; an empty string where the recording does not show that."""
    return fact(decoded, _accepted_by)


def _accepted_by(decoded: DecodedExchange) -> str:
    exchange, answer = decoded.exchange, decoded.response
    http = exchange.response
    if decoded.request is None or http is None or answer is None or not 200 <= http.status < 300:
        return ""
    if not _is_on_the_wire(decoded) or not _is_answer(answer):
        return ""
    return host_of(decoded)


def host_of(decoded: DecodedExchange) -> str:
    """The host of a request, with its port where it names one."""
    request = decoded.exchange.request
    parts = urls.split_url(request.url if request else "")
    return parts.netloc.rpartition("@")[2] or NOBODY


def is_answered(answer: ModelResponse | None) -> bool:
    """There is an answer, and it is no error."""
    return answer is not None and _is_answer(answer)


def _is_answer(answer: ModelResponse) -> bool:
    """A model has spoken. An error behind its first words is one of the answer, before them it may be a refusal."""
    if answer.error is not None:
        return answer.is_stream and any(message.parts for message in answer.messages)
    if answer.is_stream:
        return bool(answer.messages)
    return bool(answer.messages or answer.finish_reason or answer.usage)


def _is_on_the_wire(decoded: DecodedExchange) -> bool:
    exchange = decoded.exchange
    if exchange.origin not in ON_THE_WIRE or translation_of(exchange.branch) or exchange.client == "simulator":
        return False
    if str(exchange.meta.get("target", "")).startswith("sim:") or exchange.meta.get("converted"):
        return False
    headers = exchange.response.headers if exchange.response else Headers()
    return headers.get(_MADE_UP) is None and not (headers.get("server") or "").startswith(SIMULATED)


def says_refused(finding: Finding) -> bool:
    """True for an error that rests on a fact about the provider, not (or not only) on a broken conversation."""
    is_raised = finding.unenforced not in (None, Severity.ERROR)
    return finding.check is not None or finding.breaks is Breaks.REQUEST or is_raised


def may_be_accepted(case: RuleContext) -> bool:
    """True if the response does not show acceptance or refusal: open, cut off, or failed for other reasons."""
    error = case.response.error if case.response else None
    if case.response is not None and error is None:
        return False
    return not 200 <= case.status < 500 or (case.status >= 400 and not was_judged(error, case.decoded))


@dataclass(slots=True)
class Acceptances:
    """Facts that say that something is refused, and what was accepted all the same. Exchanges come in order.

    Args:
        journal: by which what an exchange taught can be taken back.
    """

    journal: Journal
    _first: dict[Hashable, AcceptedExchange] = field(default_factory=dict, repr=False)

    @property
    def is_empty(self) -> bool:
        """Nothing was accepted against a fact."""
        return not self._first

    def learn(self, case: RuleContext, findings: Iterable[Finding]) -> None:
        """Note the facts that an accepted request contradicts."""
        index = case.decoded.index
        for finding in findings:
            if finding.contradicts and finding.contradicts.exchange == index:
                key = _key(case, finding, finding.contradicts.rule)
                if key not in self._first:
                    self.journal.put(self._first, key, AcceptedExchange(index, finding.contradicts.by))

    def find(self, case: RuleContext, finding: Finding) -> AcceptedExchange | None:
        """The earlier exchange in which the same bytes were accepted against the same fact, by the same model there."""
        found = self._first.get(_key(case, finding, finding.rule)) if self._first else None
        return found if found and found.exchange <= case.decoded.index else None


def _key(case: RuleContext, finding: Finding, rule: str) -> Hashable:
    """The fact, where and of whom it was asked, the bytes of the part, and what else the rule may depend on."""
    url = case.decoded.exchange.request.url if case.decoded.exchange.request else ""
    model = case.request.model if case.request else None
    pieces = (_digest(case.decoded, pointer) for pointer in (_node(case, finding.pointer), *finding.related))
    request_key = (url.partition("?")[0], model, case.contract.label, rule, finding.fact)
    return (
        *request_key,
        finding.pointer.rpartition("/")[2],
        *pieces,
        _neighbours(case, finding.pointer),
        _conditions(case),
    )


def _node(case: RuleContext, pointer: str) -> str:
    """The part of the history, or the tool, that a pointer leads into; the pointer itself where it is another place."""
    for tool in case.request.tools if case.request else ():
        if tool.pointer and _is_in(pointer, tool.pointer):
            return tool.pointer
    message = _message(case, pointer)
    if message is None:
        return pointer
    holder = case.messages[message]
    inside = (holder.absolute(part) for part in holder.parts)
    return next((place for place in inside if _is_in(pointer, place)), holder.pointer)


def _message(case: RuleContext, pointer: str) -> int | None:
    steps = pointer.split("/")
    if len(steps) < 2 or steps[1] not in HISTORIES:
        return None
    messages = case.messages
    guess = int(steps[2]) if len(steps) > 2 and steps[2].isdecimal() else len(messages)
    if guess < len(messages) and messages[guess].pointer and _is_in(pointer, messages[guess].pointer):
        return guess
    return next((n for n, m in enumerate(messages) if m.pointer and _is_in(pointer, m.pointer)), None)


def _is_in(pointer: str, node: str) -> bool:
    return pointer == node or pointer.startswith(f"{node}/")


def _digest(decoded: DecodedExchange, pointer: str) -> bytes:
    """Digest of the bytes at a pointer, or of a header's values; empty if there is nothing."""
    if pointer.startswith("/headers/"):
        headers = decoded.exchange.request.headers if decoded.exchange.request else ()
        name = pointer.rpartition("/")[2].lower()
        return _hash("\n".join(value for key, value in headers if key.lower() == name).encode("utf-8", "replace"))
    span = decoded.place(REQUEST, pointer).span
    return _hash(decoded.request_text[slice(*span)]) if span else b""


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _neighbours(case: RuleContext, pointer: str) -> tuple[str, ...]:
    """The roles before and behind the message that a pointer leads into."""
    message = _message(case, pointer)
    if message is None:
        return ()
    messages = case.messages
    return tuple(m.role for m in (*messages[max(0, message - 1) : message], *messages[message + 1 : message + 2]))


def _conditions(case: RuleContext) -> bytes:
    """All settings of a request except its history: parameters, names of tools, betas."""
    known = case.decoded.facts.get(_conditions)
    if known is None:
        known = case.decoded.facts[_conditions] = _hash(b"\n".join(_request_keys(case)))
    return bytes(known)


def _request_keys(case: RuleContext) -> Iterator[bytes]:
    decoded = case.decoded
    for key, text in sorted(_members(decoded)):
        if key not in HISTORIES and key != "tools":
            yield key.encode("utf-8", "replace") + b":" + text
    yield repr(sorted(tool.name or "" for tool in case.request.tools)).encode() if case.request else b""
    for name, value in decoded.exchange.request.headers if decoded.exchange.request else ():
        if _BETA in name.lower():
            yield f"{name.lower()}: {value}".encode("utf-8", "replace")


def _members(decoded: DecodedExchange) -> Iterator[tuple[str, bytes]]:
    """(name, text) of the members of a request beside the history."""
    reading = decoded.request_reading
    if reading is not None:
        return reading.texts_of_members()
    return ((key, decoded.request_text[start:end]) for key, (start, end) in decoded.request_index.elements(""))


def who(case: RuleContext, host: str) -> str:
    """Name of whoever accepted a request: a host, or the gateway that answers there for another."""
    inner = case.hops.inner
    if inner is None:
        return host
    hop = case.decoded.exchange.hop
    return f"the gateway {host}" + (f" (hop {quote(hop, 40)})" if hop else "")
