"""Differences of one turn between two hops: value by value in one protocol, by meaning between two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from workbench.contracts import FaultOrigin, Finding, Severity
from workbench.diff import ContentLoss, content_losses
from workbench.diff.damage import SPELLING, DamageKind, ValueChange, changes_of, is_inside
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.hop_rules import ALTERED, DROPPED, ERROR, RESHAPED, WARNING
from workbench.rules._shared.wording import quote, weaker, with_related
from workbench.wire import dumps

INFO = Severity.INFO


class _DamageMeaning(NamedTuple):
    """Meaning of a kind of damage for a rule."""

    rule: Rule
    verb: str


_LOST, _CHANGED = _DamageMeaning(DROPPED, "lost"), _DamageMeaning(ALTERED, "changed")
_RESHAPED, _ADDED, _RESPELLED = (
    _DamageMeaning(RESHAPED, "reshaped"),
    _DamageMeaning(RESHAPED, "added"),
    _DamageMeaning(ALTERED, "rewritten"),
)
_DEEDS = {
    DamageKind.FIELD_DROPPED: _LOST,
    DamageKind.EMPTY_DROPPED: _LOST,
    DamageKind.FIELD_ADDED: _ADDED,
    **dict.fromkeys(
        (DamageKind.FIELD_RENAMED, DamageKind.FIELD_MOVED, DamageKind.ORDER_CHANGED, DamageKind.RESHAPED), _RESHAPED
    ),
    **dict.fromkeys((DamageKind.CONTENT_SHAPE, DamageKind.TEXTS_MERGED, DamageKind.TEXTS_SPLIT), _RESHAPED),
    **dict.fromkeys((*SPELLING, DamageKind.DUPLICATES_LOST), _RESPELLED),
}
"""Kinds of damage by kind of change; every other change is a changed value."""

_HEADERS = ("anthropic-beta", "anthropic-version", "openai-beta")
"""Headers that change how a provider reads a body."""

_BESIDE = frozenset({"cache_control", "citations", "annotations", "refusal", "logprobs", "index", "caller", "strict"})
"""Members of messages and tools whose loss has a cost but breaks nothing."""

_CHAIN = frozenset(
    {
        *("id", "call_id", "tool_call_id", "tool_use_id", "name", "arguments", "input", "args", "partial_json"),
        *("signature", "thinking", "data", "reasoning_content", "reasoning", "reasoning_details", "encrypted_content"),
        *("thoughtSignature", "thought_signature", "toolUseId"),
    }
)
"""Members on which calls, results and reasoning rest: a changed byte breaks them."""


def check_request(case: RuleContext, outer: DecodedExchange) -> Iterator[Finding]:
    """Differences between the request that arrived and the one that was forwarded."""
    if outer.protocol == case.decoded.protocol:
        found = changes_of(outer.request_text, case.decoded.request_text)
        yield from _check_damage(case, outer, REQUEST, found)
        yield from _headers(case, outer)
    else:
        yield from _check_content(case, outer, REQUEST)


def check_answer(case: RuleContext, inner: DecodedExchange) -> Iterator[Finding]:
    """Differences between the response of the model and the one that the client received, after a single attempt."""
    mine, theirs = case.decoded.exchange.response, inner.exchange.response
    if not mine or not theirs or (mine.status >= 400) != (theirs.status >= 400):
        return
    if inner.protocol == case.decoded.protocol and not case.decoded.events and not inner.events:
        found = changes_of(inner.response_text, case.decoded.response_text)
        yield from _check_damage(case, inner, RESPONSE, found)
        return
    if case.request and case.request.stream and bool(case.decoded.events) != bool(inner.events):
        was, became = ("a stream", "one body") if inner.events else ("one body", "a stream")
        message = f"the response was received as {was} and forwarded as {became} {_between(case, inner, RESPONSE)}"
        yield _with_places(case, inner, case.finding(RESHAPED, RESPONSE, "", message))
    if case.decoded.answer and inner.answer:
        yield from _check_content(case, inner, RESPONSE)


def _check_damage(
    case: RuleContext, other: DecodedExchange, side: str, found: Iterable[ValueChange]
) -> Iterator[Finding]:
    """A finding for each kind of change; further places of the same kind are related ones."""
    by_severity = sorted(
        ((_severity(c, side), _DEEDS.get(c.kind, _CHANGED), c) for c in _spelling_changes(list(found))),
        key=lambda s: (s[1].verb, s[2].shape, s[0].rank),
    )
    for (severity, deed, _), group in groupby(by_severity, key=lambda s: (s[0], s[1], s[2].shape)):
        places = [change for _, _, change in group]
        first = places[0]
        message = f"{_what(first, deed)} {_between(case, other, side)}"
        if len(places) > 1:
            message += f", here and in {len(places) - 1:,} other place{'s' if len(places) > 2 else ''}"
        finding = case.finding(
            weaker(deed.rule, severity), side, first.at, message, evidence=_change_evidence(first, deed)
        )
        yield with_related(_with_places(case, other, finding, first.was), (c.at for c in places[1:]))


def _spelling_changes(found: list[ValueChange]) -> list[ValueChange]:
    """Every other spelling as one change of the whole."""
    how = dict.fromkeys(_HOW.get(c.kind, c.kind.value) for c in found if _DEEDS.get(c.kind) is _RESPELLED)
    words = ", ".join(sorted(how, key=_SHOWN.index))
    rest = [c for c in found if _DEEDS.get(c.kind) is not _RESPELLED]
    return [*rest, ValueChange(DamageKind.RESPELLED, "", "", words=words)] if how else rest


_HOW = {DamageKind.RESPELLED: "different bytes"}
_SHOWN = ("whitespace", "key order", "escapes", "number spelling", "duplicate key lost", "different bytes")


def _severity(change: ValueChange, side: str) -> Severity:
    """An error where the chain rests on it, a warning where something is lost all the same."""
    deed, is_said = _DEEDS.get(change.kind, _CHANGED), is_inside(change)
    if deed is _RESPELLED or (deed is _ADDED and not is_said):
        return INFO
    if change.kind in (DamageKind.ARGUMENTS_RESPELLED, DamageKind.IDS_MAPPED, DamageKind.EMPTY_DROPPED):
        return INFO
    if deed is _LOST:
        if side == RESPONSE and not is_said:
            return INFO
        return ERROR if is_said and change.name not in _BESIDE else WARNING
    if deed is _CHANGED:
        if change.name == "model" or (side == RESPONSE and not is_said):
            return INFO
        return ERROR if is_said and change.name in _CHAIN else WARNING
    if deed is _ADDED:
        return WARNING if change.at.count("/") == 2 else INFO
    return INFO if change.kind is DamageKind.CONTENT_SHAPE else WARNING


def _what(change: ValueChange, deed: _DamageMeaning) -> str:
    name = change.name or "the body"
    if deed is _RESPELLED:
        return f"the same JSON was serialised again ({change.words}): only the bytes differ"
    words = change.words or (
        change.kind.value if deed is _CHANGED and change.kind is not DamageKind.VALUE_CHANGED else ""
    )
    how = f" ({words})" if words else ""
    place = change.was if deed is _LOST else change.at if deed is _ADDED else ""
    which = "an item of " if place.rpartition("/")[2].isdecimal() else ""
    return f"{which}{quote(name, 60)} was {deed.verb}{how}"


def _change_evidence(change: ValueChange, deed: _DamageMeaning) -> str:
    if deed in (_RESPELLED, _RESHAPED) and change.before is None:
        return ""
    before, after = _quote_value(change.before), _quote_value(change.after)
    if deed is _LOST:
        return f"it was {before}"
    return f"now {after}" if deed is _ADDED else f"{before} became {after}"


def _quote_value(value: JsonValue) -> str:
    """A text quoted, everything else as JSON."""
    return quote(value) if isinstance(value, str) else quote(dumps(value).decode("utf-8", "replace"))[1:-1]


def _headers(case: RuleContext, outer: DecodedExchange) -> Iterator[Finding]:
    """Headers that switch on what the body asks for."""
    before, after = outer.exchange.request, case.decoded.exchange.request
    for name in _HEADERS if before and after and len(after.headers) else ():
        old, new = (", ".join(sorted(http.headers.all(name))) for http in (before, after) if http)
        if not old or old == new:
            continue
        rule, verb = (ALTERED, "changed") if new else (DROPPED, "lost")
        message = f"the header {name} was {verb} {_between(case, outer, REQUEST)}"
        seen = f"{quote(old)} became {quote(new)}" if new else f"it was {quote(old)}"
        finding = case.finding(weaker(rule), REQUEST, f"/headers/{name}", message, evidence=seen)
        yield _with_places(case, outer, finding, f"/headers/{name}")


def _check_content(case: RuleContext, other: DecodedExchange, side: str) -> Iterator[Finding]:
    """Compare by meaning: between two protocols, and between streams."""
    losses = list(content_losses(side, other.messages(side), case.decoded.messages(side)))
    mapped = _mapped_ids(losses, case.decoded, side)
    for loss in losses:
        if loss.field in _LINKS and (loss.old, loss.new) in mapped:
            continue
        yield _with_places(case, other, _loss(case, other, side, loss), _pointer(other, loss))


def _mapped_ids(losses: Iterable[ContentLoss], mine: DecodedExchange, side: str) -> set[tuple[str, str]]:
    """Ids that became others, one for one, in calls and results alike."""
    pairs = {(loss.old, loss.new) for loss in losses if loss.field in _LINKS}
    if any(len({pair[n] for pair in pairs}) < len(pairs) for n in (0, 1)):
        return set()
    calls = {c.id for m in mine.messages(side) for _, c in m.tool_calls()}
    results = {r.tool_call_id for m in mine.messages(side) for _, r in m.tool_results()}
    return pairs if side == RESPONSE or results <= calls else set()


_LINKS = ("id", "tool_call_id")


def _loss(case: RuleContext, other: DecodedExchange, side: str, loss: ContentLoss) -> Finding:
    rule = ALTERED if loss.after and loss.new is not None else DROPPED
    name = f"the {loss.field} of a {loss.what}" if loss.field and loss.what != "text" else f"a {loss.what}"
    verb = "changed" if rule is ALTERED else "lost"
    is_vital = loss.what in ("call", "result") and loss.field != "is_error"
    if loss.what == "reasoning":
        is_vital = other.protocol == case.decoded.protocol
    final_rule = rule if is_vital else weaker(rule)
    message = f"{name} was {verb} {_between(case, other, side)}"
    seen = f"{quote(loss.old)} became {quote(loss.new)}" if rule is ALTERED else f"it was {quote(loss.old)}"
    if loss.after is None:
        messages = case.decoded.messages(side)
        near = messages[min(loss.before.message, len(messages) - 1)].pointer if messages else ""
        return case.finding(final_rule, side, near, message, evidence=seen)
    return case.at(final_rule, loss.after, message, name=loss.field or None, evidence=seen)


def _pointer(other: DecodedExchange, loss: ContentLoss) -> str:
    message = other.messages(loss.before.side)[loss.before.message]
    return message.absolute(message.parts[loss.before.part], loss.field or None)


def _between(case: RuleContext, other: DecodedExchange, side: str) -> str:
    """``between client (exchange 1) and upstream``, in the direction it travelled."""
    there = f"{_hop(other)} (exchange {other.index + 1})"
    return f"between {there} and {_hop(case.decoded)}"


def _hop(decoded: DecodedExchange) -> str:
    return quote(decoded.exchange.hop, 40) if decoded.exchange.hop else "the unnamed hop"


def _with_places(case: RuleContext, other: DecodedExchange, finding: Finding, was: str = "") -> Finding:
    """A copy with the place where the damage is first seen, and the last place where the value was complete."""
    whole = f" at {was}" if was else ""
    words = f"complete in exchange {other.index + 1}, recorded at {_hop(other)}{whole}"
    origin = FaultOrigin(finding.exchange, finding.side, finding.pointer, words, case.decoded.exchange.hop)
    return replace(finding, origin=origin)
