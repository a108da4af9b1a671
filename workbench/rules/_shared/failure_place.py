"""Kind of a recorded failure, and the place in the request that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench import contracts, regex
from workbench.contracts import Contract, ErrorPlace, explain, find_place, names_whole
from workbench.errors import WireError
from workbench.ir import NOTHING, ApiError, JsonValue, Media, Part, ToolResultIR
from workbench.protocols import REQUEST, DecodedExchange, grammars, refusals
from workbench.protocols.common import read_error
from workbench.provenance import escape, scalars
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.place_in_error_text import spoken_place
from workbench.rules._shared.wording import quote
from workbench.wire import loads, value_at

if TYPE_CHECKING:
    from workbench.protocols.refusals import KnownRefusal

PASSES = 3
"""Levels of a body below which a parameter is looked for: ``generationConfig.thinkingConfig.thinkingBudget``."""

_WORD = regex.compile(r"(?<![\w$.])[A-Za-z_$][\w$]{1,60}")
"""A word that is no step of a path behind its first."""
_QUOTED = regex.compile(r"[`'\"“‘]([A-Za-z_$][\w$.]{0,80})[`'\"”’]")
_HISTORY = frozenset(("messages", "contents", "input", "tools", "system", "instructions", "prompt"))
_CHOICES = ("toolchoice", "toolconfig", "functioncall")
_STATES = ("previousresponseid", "thread", "conversation", "previousmessageid", "container", "cachedcontent")
_IN_WORDS = ("", "message", "model", "field", "parameter", "tools", "media")
"""Subjects of refusals (``RefusalKind.at``) of which a text may name the place in plain words."""
_KINDS = {"image": "image", "picture": "image", "vision": "image", "图": "image", "audio": "audio", "video": "video",
          "pdf": "document", "document": "document", "file": "document"}  # fmt: skip
"""Word of an error text → kind of medium it is about."""


def refusal_of(error: ApiError, decoded: DecodedExchange) -> KnownRefusal | None:
    """The kind of an error that was recorded."""
    http = decoded.exchange.response
    return refusals.of_error(error, http.status if http else 0, http.headers if http else None)


_VAGUE = ("gateway", "provider-failed")
"""Kinds that say only that something failed."""


_OF_SERVERS = (500, 501)
"""Statuses with which local servers and gateways refuse a request, too: their words tell that it is at fault."""


def is_about_the_request(refusal: KnownRefusal | None, status: int) -> bool:
    """True if the provider refused the request itself: the error shows that, or nothing shows otherwise."""
    if refusal is None:
        return 400 <= status < 500
    is_in_words = bool(refusal.rule) and refusal.by == "status" and status in _OF_SERVERS
    if refusal.kind.name in _VAGUE and (status in (400, 422) or is_in_words):
        return True  # a gateway's words, and the status of what is behind it
    return refusal.kind.cause is refusals.FailureSide.REQUEST and (400 <= status < 500 or status in _OF_SERVERS)


def was_judged(error: ApiError | None, decoded: DecodedExchange) -> bool:
    """True if the refusal concerns the content of the request, and not a key, a limit or a server failure."""
    http = decoded.exchange.response
    return is_about_the_request(refusal_of(error or ApiError(""), decoded), http.status if http else 0)


def place_of(
    refusal: KnownRefusal | None,
    error: ApiError,
    decoded: DecodedExchange,
    contract: Contract,
    captured: Mapping[str, str] = NOTHING,
    prefers: str = "",
) -> ErrorPlace | None:
    """The place in the request that a refusal names, or is about: a path, an id, a parameter, a medium, the model.

    Args:
        captured, prefers: as of ``named``.
    """
    place = find_place(error, decoded, contract, captured, prefers)
    if place and place.pointer.count("/") > 1:
        return place
    at = refusal.kind.at if refusal else ""
    has_path = place is not None and place.pointer != ""
    if refusal and at not in ("", "message") and not (has_path and at in ("field", "parameter", "state")):
        place = next(_places(at, refusal, error, decoded), None) or (place if has_path else None)
    is_ours = refusal is None or refusal.kind.cause is refusals.FailureSide.REQUEST
    if (has_path and at != "model") or error.param or not is_ours or at not in _IN_WORDS:
        return place
    by_words = _place_by_words(error, decoded, prefers, refusal.values.get("field", "") if refusal else "")
    is_vague = place is None or place.pointer in ("", "/model")
    is_inner = by_words and place and at != "media" and by_words.pointer.startswith(f"{place.pointer}/")
    return by_words if by_words and (is_vague or is_inner) else place


def _place_by_words(error: ApiError, decoded: DecodedExchange, rule: str, field: str) -> ErrorPlace | None:
    """The place that a text has the plain name of."""
    try:
        body = loads(decoded.request_text)
    except WireError:
        return None
    return spoken_place(error.message, body, decoded, rule, field)


def place_of_text(text: str, decoded: DecodedExchange, contract: Contract) -> ErrorPlace | None:
    """The place in a request that a pasted error message is about: a body, a line of a log, a sentence."""
    error = _error_in(text)
    matches = explain(text, is_answer=True)
    match = next((m for m in matches if m.rule), None)
    captured, rule = (match.captured, match.rule) if match else (NOTHING, "")
    refusal = refusals.classify(text)
    return place_of(refusal, error, decoded, contract, captured, rule)


def _error_in(text: str) -> ApiError:
    """The error of a pasted body, else the text itself."""
    try:
        return read_error(loads(text.encode())) or ApiError(text)
    except WireError:
        return ApiError(text)


def places_beside(
    refusal: KnownRefusal, place: ErrorPlace, error: ApiError, decoded: DecodedExchange
) -> tuple[str, ...]:
    """The other places that a refusal may equally be about: further media of its kind."""
    if refusal.kind.at not in ("media", "url"):
        return ()
    return tuple(p.pointer for p in _media(error.message, decoded) if p.pointer != place.pointer)


def _places(at: str, refusal: KnownRefusal, error: ApiError, decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    try:
        body = loads(decoded.request_text)
    except WireError:
        return
    text = f"{error.message} {' '.join(error.details.values())}"[: contracts.LONGEST]
    if at == "model":
        yield from _model(body, refusal, decoded)
    elif at in ("parameter", "field"):
        field = refusal.values.get("field", "")
        yield from _parameters(body, text, (error.param or "", field), decoded)
        yield from _results_without(field, body, text, decoded)
    elif at in ("media", "url"):
        yield from _address(body, refusal.values.get("url", ""), decoded)
        yield from _media(text, decoded)
    elif at == "tools":
        yield from _keys(body, ("tools", "toolconfig", "functions"), decoded)
    elif at == "tool_choice":
        yield from _keys(body, _CHOICES, decoded)
    elif at == "state":
        yield from _references(body, text, decoded)
        yield from _keys(body, _STATES, decoded)


def _named_place(pointer: str, decoded: DecodedExchange, how: str) -> ErrorPlace:
    return ErrorPlace(pointer, decoded.request_index.span(pointer), how)


def _model(body: JsonValue, refusal: KnownRefusal, decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    model = body.get("model") if isinstance(body, dict) else None
    if isinstance(model, str) and model:
        yield _named_place("/model", decoded, model)


def _parameters(body: JsonValue, text: str, names: tuple[str, ...], decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    """Members of the body, and of its groups of parameters, that the text names: in quotes, or as a word of its own."""
    members = {_plain(pointer.rpartition("/")[2]): pointer for pointer in _members(body, "", PASSES)}
    for name in (*names, *_QUOTED.findall(text), *(w for w in _WORD.findall(text) if "_" in w or len(w) > 3)):
        for candidate in (name, name.rpartition(".")[2]):
            pointer = members.get(_plain(candidate)) if candidate else None
            if pointer and _has_parents(body, pointer, name, decoded):
                yield _named_place(pointer, decoded, candidate)


def _results_without(field: str, body: JsonValue, text: str, decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    """Tool results that lack a field, where a text says that results need it."""
    if not field or not _OF_RESULTS.search(text):
        return
    for message in decoded.messages(REQUEST):
        for _, result in message.tool_results():
            for pointer in (message.absolute(result), message.pointer):
                value = value_at(body, pointer)
                if isinstance(value, dict):
                    if field not in value:
                        yield _named_place(pointer, decoded, field)
                    break


_OF_RESULTS = regex.compile(r"(?i)\b(?:tool|function)[ _](?:response|result|message|output)")


def _has_parents(body: JsonValue, pointer: str, path: str, decoded: DecodedExchange) -> bool:
    """All steps of a path before its last are above a place; the first may be a name that is given to the whole."""
    above = {_plain(step) for step in pointer.split("/")}
    first, *others = (step.partition("[")[0] for step in path.split(".")[:-1] or ("",))
    return {_plain(step) for step in others} <= above and (
        _plain(first) in above
        or (isinstance(body, dict) and names_whole(body, first, grammars.grammar_of(decoded.protocol or "")))
    )


def error_parameters(body: JsonValue, text: str, param: str, decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    """Parameters of a request that an error text, or the field that it is about, names."""
    yield from _parameters(body, text, (param,), decoded)


def _members(value: JsonValue, pointer: str, depth: int) -> Iterator[str]:
    """Pointers of parameters, the deeper ones first, so that a shallow one of the same name wins."""
    if not isinstance(value, dict) or not depth:
        return
    for key, inner in value.items():
        at = f"{pointer}/{escape(key)}"
        if pointer or key not in _HISTORY:
            yield from _members(inner, at, depth - 1)
    yield from (f"{pointer}/{escape(key)}" for key in value if pointer or key not in _HISTORY)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _keys(body: JsonValue, names: tuple[str, ...], decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    members = {_plain(key): key for key in body} if isinstance(body, dict) else {}
    for name in names:
        if name in members:
            yield _named_place(f"/{escape(members[name])}", decoded, members[name])


def _references(body: JsonValue, text: str, decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    """An id of the request that the text repeats."""
    for pointer, value in scalars(body):
        if isinstance(value, str) and 6 <= len(value) <= 300 and pointer.count("/") < 8 and value in text:
            yield _named_place(pointer, decoded, value)


def _address(body: JsonValue, url: str, decoded: DecodedExchange) -> Iterator[ErrorPlace]:
    """A URL of the request that the text names, whole or cut."""
    for pointer, value in scalars(body) if url else ():
        if isinstance(value, str) and (value == url or (len(url) > 12 and value.startswith(url.rstrip(".…")))):
            yield _named_place(pointer, decoded, url)


def _media(text: str, decoded: DecodedExchange) -> list[ErrorPlace]:
    """Media of the request: of the kind that the text speaks of where there are such; those the client named first."""
    small = text.lower()
    kinds = {kind for word, kind in _KINDS.items() if word in small}
    found = [
        (part, ErrorPlace(message.pointer + pointer, None, part.kind))
        for message in decoded.messages(REQUEST)
        for part, pointer in _within(message.parts)
    ]
    fits = [f for f in found if f[0].kind in kinds or (f[0].media_type or "?") in text] or found
    if "url" in small:
        fits = [f for f in fits if f[0].url] or fits
    return [_named_place(place.pointer, decoded, place.how) for _, place in fits]


def _within(parts: tuple[Part, ...]) -> Iterator[tuple[Media, str]]:
    for part in parts:
        if isinstance(part, Media):
            yield part, part.source.pointer
        elif isinstance(part, ToolResultIR):
            yield from _within(part.content)


def cause_words(refusal: KnownRefusal) -> str:
    """Place of the cause, in words; empty if the request shows it."""
    kind = refusal.kind
    if kind.cause is refusals.FailureSide.REQUEST:
        return ""
    if kind.cause is refusals.FailureSide.ANSWER:
        return "the request is not at fault"
    if kind.at == "model":
        return "the request cannot show this: only the provider knows its models"
    return "nothing in the request causes this" + (
        "; the same request may succeed later" if kind.again is refusals.RetryAdvice.LATER else ""
    )


def who_says(refusal: KnownRefusal) -> str:
    """Name of the client or gateway that reports the failure; empty if it is the provider."""
    return "" if refusal.speaker.who == "provider" else f"from the {refusal.speaker}"


def in_stream(message: str, refusal: KnownRefusal | None, known_as: str) -> str:
    """A sentence on an error inside a stream, with its kind, its author, and the place of the cause."""
    if refusal is None or not refusal.is_telling:
        return message + known_as
    words = f"{message}: {refusal.says()}{known_as}"
    return "; ".join(filter(None, (words, who_says(refusal), cause_words(refusal))))


def error_words(case: RuleContext, error: ApiError, refusal: KnownRefusal | None) -> str:
    """Description of the failure, by the kind and the status of the error."""
    words = refusal.says() if refusal else "the provider returned an error instead of a message"
    if case.status >= 400:
        words = f"status {case.status}: {words}"
    if refusal and refusal.kind.at == "model" and "model" not in refusal.values and case.request and case.request.model:
        words += f": {quote(case.request.model, 200)}"
    return words
