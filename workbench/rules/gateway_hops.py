"""What a gateway dropped, changed or reshaped between two places where one turn was recorded.

Requests are judged where they went on (the place nearer to the model), answers where the client got them. Bodies of
one protocol are held against one another value by value, those of two protocols by what they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from workbench.chain.said import Lost, lost
from workbench.damage.bodies import SAME_JSON, Damage, Deed, damages
from workbench.decode import REQUEST, RESPONSE, Decoded
from workbench.ir import JsonValue
from workbench.rules._case import Case, Rule
from workbench.rules._finding import Finding, Origin, Severity
from workbench.rules._words import quote, weaker, with_related
from workbench.wire.jsontext import dumps

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

DROPPED = Rule("gateway.dropped-field", ERROR, "A field is lost between client and provider.")
ALTERED = Rule("gateway.altered-bytes", ERROR, "A value is changed between client and provider.")
RESHAPED = Rule("gateway.altered-shape", WARNING, "The body is wrapped or reshaped.")

RULES = (DROPPED, ALTERED, RESHAPED)

_RULE = {
    Deed.DROPPED: DROPPED,
    Deed.ALTERED: ALTERED,
    Deed.RESHAPED: RESHAPED,
    Deed.ADDED: RESHAPED,
    Deed.RESPELLED: ALTERED,
}
_VERB = {
    Deed.DROPPED: "lost",
    Deed.ALTERED: "changed",
    Deed.RESHAPED: "reshaped",
    Deed.ADDED: "added",
    Deed.RESPELLED: "spelled anew",
}
_HEADERS = ("anthropic-beta", "anthropic-version", "openai-beta")
"""Headers that change what a provider makes of a body."""

_BESIDE = frozenset({"cache_control", "citations", "annotations", "refusal", "logprobs", "index", "caller", "strict"})
"""Members of messages and tools whose loss costs something and breaks nothing."""

_CHAIN = frozenset(
    {
        *("id", "call_id", "tool_call_id", "tool_use_id", "name", "arguments", "input", "args", "partial_json"),
        *("signature", "thinking", "data", "reasoning_content", "reasoning", "reasoning_details", "encrypted_content"),
        *("thoughtSignature", "thought_signature", "toolUseId"),
    }
)
"""Members on which calls, results and reasoning rest: a changed byte breaks them."""


def check(case: Case) -> Iterator[Finding]:
    """Against the same turn one place nearer to the client, and nearer to the model."""
    outer, inner = case.hops.outer, case.hops.inner
    if outer is not None:
        yield from _requests(case, outer)
    if inner is not None and not case.decoded.is_arriving and not inner.is_arriving:
        yield from _answers(case, inner)


def _requests(case: Case, outer: Decoded) -> Iterator[Finding]:
    """What went on is not what came in."""
    if outer.protocol == case.decoded.protocol:
        found = damages(outer.request_text, case.decoded.request_text)
        yield from _damaged(case, outer, REQUEST, _consistent(found, outer.request_text, case.decoded.request_text))
        yield from _headers(case, outer)
    else:
        yield from _said(case, outer, REQUEST)


def _answers(case: Case, inner: Decoded) -> Iterator[Finding]:
    """What the client got is not what the model sent. Answers of different statuses are those of different attempts."""
    mine, theirs = case.decoded.exchange.response, inner.exchange.response
    if not mine or not theirs or (mine.status >= 400) != (theirs.status >= 400):
        return
    if inner.protocol == case.decoded.protocol and not case.decoded.events and not inner.events:
        found = damages(inner.response_text, case.decoded.response_text)
        yield from _damaged(case, inner, RESPONSE, found)
        return
    if case.request and case.request.stream and bool(case.decoded.events) != bool(inner.events):
        was, became = ("a stream", "one body") if inner.events else ("one body", "a stream")
        message = f"the answer came as {was} and was passed on as {became} {_between(case, inner, RESPONSE)}"
        yield _placed(case, inner, case.finding(RESHAPED, RESPONSE, "", message))
    if case.decoded.answer and inner.answer:
        yield from _said(case, inner, RESPONSE)


def _damaged(case: Case, other: Decoded, side: str, found: Iterable[Damage]) -> Iterator[Finding]:
    """A finding for each kind of change; further places of the same kind are related ones."""
    ranked = sorted(((_severity(d, side), d) for d in found), key=lambda s: (s[1].deed.value, s[1].shape, s[0].rank))
    for (severity, _, _), group in groupby(ranked, key=lambda s: (s[0], s[1].deed, s[1].shape)):
        places = [damage for _, damage in group]
        first = places[0]
        message = f"{_what(first)} {_between(case, other, side)}"
        if len(places) > 1:
            message += f", here and in {len(places) - 1:,} more place{'s' if len(places) > 2 else ''}"
        rule = weaker(_RULE[first.deed], severity)
        finding = case.finding(rule, side, first.at, message, evidence=_seen(first))
        yield with_related(_placed(case, other, finding, first.was), (d.at for d in places[1:]))


def _severity(damage: Damage, side: str) -> Severity:
    """An error where the chain rests on it, a warning where something is lost all the same."""
    if damage.deed is Deed.RESPELLED or (damage.deed is Deed.ADDED and not damage.is_inside):
        return INFO
    if damage.words == SAME_JSON or damage.words.startswith(MAPPED):
        return INFO
    if damage.deed is Deed.DROPPED:
        if _is_nothing(damage.before) or (side == RESPONSE and not damage.is_inside):
            return INFO
        return ERROR if damage.is_inside and damage.name not in _BESIDE else WARNING
    if damage.deed is Deed.ALTERED:
        if damage.name == "model" or (side == RESPONSE and not damage.is_inside):
            return INFO
        return ERROR if damage.is_inside and damage.name in _CHAIN else WARNING
    if damage.deed is Deed.ADDED:
        return WARNING if damage.at.count("/") == 2 else INFO
    return INFO if damage.words in ("a text became a list", "a list became a text") else WARNING


def _is_nothing(value: JsonValue) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


MAPPED = "renamed on both sides"


def _consistent(found: list[Damage], before: bytes, after: bytes) -> list[Damage]:
    """Ids that were mapped in every place are another spelling: the chain is whole."""
    made = []
    for damage in found:
        old, new = damage.before, damage.after
        if damage.deed is Deed.ALTERED and damage.name in _IDS and isinstance(old, str) and isinstance(new, str):
            a, b = quote_json(old), quote_json(new)
            if old and new and b not in before and a not in after and before.count(a) == after.count(b):
                damage = replace(damage, words=f"{MAPPED}, wherever it stands")
        made.append(damage)
    return made


_IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"})


def quote_json(text: str) -> bytes:
    """A text as it stands in a body."""
    return f'"{text}"'.encode("utf-8", "replace")


def _what(damage: Damage) -> str:
    name = damage.name or "the body"
    if damage.deed is Deed.RESPELLED:
        return f"the same JSON was written anew ({damage.words}): nothing but the bytes differs"
    how = f" ({damage.words})" if damage.words else ""
    place = {Deed.DROPPED: damage.was, Deed.ADDED: damage.at}.get(damage.deed, "")
    which = "an item of " if place.rpartition("/")[2].isdecimal() else ""
    return f"{which}{quote(name, 60)} was {_VERB[damage.deed]}{how}"


def _seen(damage: Damage) -> str:
    if damage.deed in (Deed.RESPELLED, Deed.RESHAPED) and damage.before is None:
        return ""
    before, after = _shown(damage.before), _shown(damage.after)
    if damage.deed is Deed.DROPPED:
        return f"it was {before}"
    return f"now {after}" if damage.deed is Deed.ADDED else f"{before} became {after}"


def _shown(value: JsonValue) -> str:
    """A text quoted, everything else as JSON."""
    return quote(value) if isinstance(value, str) else quote(dumps(value).decode("utf-8", "replace"))[1:-1]


def _headers(case: Case, outer: Decoded) -> Iterator[Finding]:
    """Headers that switch on what the body asks for."""
    sent, went = outer.exchange.request, case.decoded.exchange.request
    for name in _HEADERS if sent and went and len(went.headers) else ():
        old, new = (", ".join(sorted(http.headers.all(name))) for http in (sent, went) if http)
        if not old or old == new:
            continue
        rule, verb = (ALTERED, "changed") if new else (DROPPED, "lost")
        message = f"the header {name} was {verb} {_between(case, outer, REQUEST)}"
        seen = f"{quote(old)} became {quote(new)}" if new else f"it was {quote(old)}"
        finding = case.finding(weaker(rule), REQUEST, f"/headers/{name}", message, evidence=seen)
        yield _placed(case, outer, finding, f"/headers/{name}")


def _said(case: Case, other: Decoded, side: str) -> Iterator[Finding]:
    """By what is said: between two protocols, and between streams."""
    losses = list(lost(side, other.messages(side), case.decoded.messages(side)))
    mapped = _mapped(losses, case.decoded, side)
    for loss in losses:
        if loss.field in _LINKS and (loss.old, loss.new) in mapped:
            continue
        yield _placed(case, other, _loss(case, other, side, loss), _pointer(other, loss))


def _mapped(losses: Iterable[Lost], mine: Decoded, side: str) -> set[tuple[str, str]]:
    """Ids that became others, one for one, in calls and results alike."""
    pairs = {(loss.old, loss.new) for loss in losses if loss.field in _LINKS}
    if any(len({pair[n] for pair in pairs}) < len(pairs) for n in (0, 1)):
        return set()
    calls = {c.id for m in mine.messages(side) for _, c in m.tool_calls()}
    results = {r.tool_call_id for m in mine.messages(side) for _, r in m.tool_results()}
    return pairs if side == RESPONSE or results <= calls else set()


_LINKS = ("id", "tool_call_id")


def _loss(case: Case, other: Decoded, side: str, loss: Lost) -> Finding:
    rule = ALTERED if loss.after and loss.new is not None else DROPPED
    name = f"the {loss.field} of a {loss.what}" if loss.field and loss.what != "text" else f"a {loss.what}"
    verb = "changed" if rule is ALTERED else "lost"
    is_vital = loss.what in ("call", "result") and loss.field != "is_error"
    if loss.what == "reasoning":
        is_vital = other.protocol == case.decoded.protocol
    shown = rule if is_vital else weaker(rule)
    message = f"{name} was {verb} {_between(case, other, side)}"
    seen = f"{quote(loss.old)} became {quote(loss.new)}" if rule is ALTERED else f"it was {quote(loss.old)}"
    if loss.after is None:
        messages = case.decoded.messages(side)
        near = messages[min(loss.before.message, len(messages) - 1)].pointer if messages else ""
        return case.finding(shown, side, near, message, evidence=seen)
    return case.at(shown, loss.after, message, name=loss.field or None, evidence=seen)


def _pointer(other: Decoded, loss: Lost) -> str:
    message = other.messages(loss.before.side)[loss.before.message]
    return message.absolute(message.parts[loss.before.part], loss.field or None)


def _between(case: Case, other: Decoded, side: str) -> str:
    """``between client (exchange 1) and upstream``, in the direction it travelled."""
    there = f"{_hop(other)} (exchange {other.index + 1})"
    return f"between {there} and {_hop(case.decoded)}"


def _hop(decoded: Decoded) -> str:
    return quote(decoded.exchange.hop, 40) if decoded.exchange.hop else "the place without a name"


def _placed(case: Case, other: Decoded, finding: Finding, was: str = "") -> Finding:
    """With where the damage is seen first, and where the value was still whole."""
    whole = f" at {was}" if was else ""
    words = f"whole in exchange {other.index + 1}, recorded at {_hop(other)}{whole}"
    origin = Origin(finding.exchange, finding.side, finding.pointer, words, case.decoded.exchange.hop)
    return replace(finding, origin=origin)
