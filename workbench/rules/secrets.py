"""Credentials that travel in bodies: everybody who keeps the conversation keeps them too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from workbench.contracts import Finding, Severity
from workbench.ir import JsonValue, Media, Message, Part
from workbench.lazy_dataclass import dataclass, replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange, history
from workbench.provenance import Leaf, leaves, scalars, texts
from workbench.rules._shared.body_values import fact_of_fields
from workbench.rules._shared.context import Rule, RuleContext
from workbench.wire.secrets import Family, family, find, is_secret, may_have, public_prefix, secret_kind

IN_BODY = Rule("secret.in-body", Severity.WARNING, "A body contains a credential.", is_advice=True)

RULES = (IN_BODY,)

MOST = 20
"""Credentials told of one side of an exchange."""

_WORDS = {
    "api-key": "an API key",
    "bearer": "a bearer token",
    "password": "a password or secret",
    "private-key": "a private key",
    "cookie": "a cookie",
}
_LEAST = 8
_STATE = ("signature", "data", "id", "tool_call_id")
"""Fields that look random and grant nothing."""


class _Secret(NamedTuple):
    """Characters of a text that are a credential."""

    start: int
    end: int
    kind: str


class _CredentialPlace(NamedTuple):
    """A credential in a body."""

    pointer: str
    text: str
    secret: _Secret
    message: Message | None = None
    leaf: Leaf | None = None

    @property
    def value(self) -> str:
        return self.text[self.secret.start : self.secret.end]


@dataclass(frozen=True, slots=True)
class _EarlierTexts:
    """Facts of a conversation so far: the exchange before, and the request where the answer is looked at."""

    last: DecodedExchange | None
    now: DecodedExchange | None = None

    def __contains__(self, value: object) -> bool:
        texts = [self.last.request_text, self.last.response_text] if self.last else []
        texts += [self.now.request_text] if self.now else []
        return isinstance(value, bytes) and any(value in text for text in texts)


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on both bodies; each credential where the conversation shows it first."""
    last, exchange = case.peek(case.earlier.exchanges[-1]) if case.earlier.exchanges else None, case.decoded.exchange
    for side, http in ((REQUEST, exchange.request), (RESPONSE, exchange.response)):
        places = list(_places(case, side, last))
        if not places and not (http and http.redactions):
            continue
        known, found = _EarlierTexts(last, case.decoded if side == RESPONSE else None), dict[str, _CredentialPlace]()
        for place in places:
            if place.value.encode("utf-8", "replace") not in known:
                found.setdefault(place.value, place)
        yield from (_secret_finding(case, side, place) for place in islice(found.values(), MOST))
        yield from islice(_check_marked(case.decoded, case, side, known, found), MOST)


def _places(case: RuleContext, side: str, last: DecodedExchange | None) -> Iterator[_CredentialPlace]:
    before = last.request if last else None
    if side == REQUEST and case.request:
        in_system, in_tools, in_params = fact_of_fields(case.decoded, _places_in_fields)
        if before is None or before.system != case.request.system:
            yield from in_system
        if before is None or before.tools != case.request.tools:
            yield from in_tools
        yield from in_params
    is_asked = side == REQUEST
    messages = (
        (m for _, m in case.suspects(_is_telling)) if is_asked else filter(_is_telling, case.decoded.messages(side))
    )
    yield from (place for m in messages for leaf in leaves(m) for place in _of_leaf(m, leaf))


def _places_in_fields(
    decoded: DecodedExchange,
) -> tuple[list[_CredentialPlace], list[_CredentialPlace], list[_CredentialPlace]]:
    """Credentials in the system prompt, in the tools, and in the parameters."""
    if decoded.request is None:
        return [], [], []
    system = Message("system", decoded.request.system)
    in_system = [place for leaf in leaves(system) for place in _of_leaf(system, leaf)]
    in_tools = [
        place
        for tool in decoded.request.tools
        for text in (tool.description, tool.schema, dict(tool.extra))
        for place in _of_value(text, tool.pointer, whole=True)
    ]
    return in_system, in_tools, [*_of_value(dict(decoded.request.params), "")]


def _may_tell(messages: Iterable[Message]) -> bool:
    """A credential may be in one of the messages: one look for all, as most have none."""
    pairs = [pair for message in messages for pair in _long_texts(message)]
    return any(map(_family_of, {key for key, _ in pairs})) or _may_have("\n".join([text for _, text in pairs]))


@history.asked_together(_may_tell)
def _is_telling(message: Message) -> bool:
    return _may_tell((message,)) and any(_secrets(text, key) for key, text in _long_texts(message))


def _long_texts(message: Message) -> list[tuple[str, str]]:
    """(last step of the pointer, text) of the texts in which a credential may be."""
    return [
        (key, text)
        for part in message.parts
        for holder, name, key, text in texts(part)
        if len(text) >= _LEAST and name not in _STATE and not isinstance(holder, Media)  # as ``_is_state``
    ]


def _may_have(text: str) -> bool:
    return may_have(text.encode("utf-8", "replace"))


@lru_cache(maxsize=1024)
def _family_of(name: str) -> Family | None:
    """What is in a field of this name, if that is a secret."""
    return family(name.encode("utf-8", "replace"))


def _of_leaf(message: Message, leaf: Leaf) -> Iterator[_CredentialPlace]:
    if _is_state(leaf.part, leaf.name) or not isinstance(leaf.value, str):
        return
    for secret in _secrets(leaf.value, leaf.pointer.rpartition("/")[2]):
        yield _CredentialPlace(leaf.pointer, leaf.value, secret, message, leaf)


def _is_state(part: Part, name: str) -> bool:
    """A field whose text may look like a credential, and is none."""
    return name in _STATE or isinstance(part, Media)


def _of_value(value: JsonValue, pointer: str, *, whole: bool = False) -> Iterator[_CredentialPlace]:
    """Texts of a JSON value. With ``whole`` their own places are not known, and the value's is given."""
    for at, text in scalars(value, pointer):
        if isinstance(text, str):
            for secret in _secrets(text, at.rpartition("/")[2]):
                yield _CredentialPlace(pointer if whole else at, text, secret)


def _secrets(text: str, name: str) -> tuple[_Secret, ...]:
    family = _family_of(name) if len(text) >= _LEAST else None
    if family and family is not Family.COOKIE and is_secret(text.encode("utf-8", "replace"), family):
        return (_Secret(0, len(text), secret_kind(name.encode("utf-8", "replace"))),)
    return _in_text(text)


@lru_cache(maxsize=1024)
def _in_text(text: str) -> tuple[_Secret, ...]:
    """Credentials by their shape, or by what is before them."""
    if len(text) < _LEAST:
        return ()
    raw, secrets = text.encode("utf-8", "replace"), list[_Secret]()
    for start, end, kind in find(raw):
        first = len(raw[:start].decode("utf-8", "replace"))
        secrets.append(_Secret(first, first + len(raw[start:end].decode("utf-8", "replace")), kind))
    return tuple(secrets)


def _secret_finding(case: RuleContext, side: str, place: _CredentialPlace) -> Finding:
    text = f"{_WORDS[place.secret.kind]} is in the {side} body: {_describe(place.value)}"
    finding = case.finding(IN_BODY, side, place.pointer, text)
    if place.message and place.leaf and place.pointer == place.message.absolute(place.leaf.part, place.leaf.name):
        piece = (place.secret.start, place.secret.end)
        where = case.decoded.place_within(side, place.message, place.leaf.part, place.leaf.name, piece)
        return replace(finding, span=where.span, events=where.events)
    return finding


def _describe(value: str) -> str:
    """The length of a credential and the beginning that all of its kind share; never the credential itself."""
    prefix = value[: public_prefix(value)]
    return f"{len(value)} characters" + (f", beginning with {prefix}" if prefix else "")


def _check_marked(
    decoded: DecodedExchange, case: RuleContext, side: str, known: _EarlierTexts, places: dict[str, _CredentialPlace]
) -> Iterator[Finding]:
    """Values that a recorder replaced: they have no shape of a secret any more."""
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    if http is None or not http.redactions:
        return
    text = decoded.request_text if side == REQUEST else decoded.response_text
    seen = {value.encode("utf-8", "replace") for value in places}
    for mark in http.redactions:
        value = text[mark.start : mark.end]
        if mark.where != "body" or not value or value in known or any(value in other for other in seen):
            continue
        seen.add(value)
        events = [n for n, event in enumerate(decoded.events) if event.start <= mark.start < event.end]
        index = decoded.request_index if side == REQUEST else decoded.response_index
        pointer = "" if side == RESPONSE and decoded.events else index.pointer_at(mark.start)
        what = f"a credential ({mark.kind}) was sent in the {side} body; the recording contains a stand-in for it"
        finding = case.finding(IN_BODY, side, pointer, f"{what}: {len(value)} characters", events=events)
        yield replace(finding, span=(mark.start, mark.end))
