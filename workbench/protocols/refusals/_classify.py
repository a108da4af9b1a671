"""Find the kind of a failure by status, code words and text, and when a rate limit ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from workbench import regex
from workbench.errors import WireError
from workbench.ir import NOTHING, ApiError, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols.common.error_body import read_error, read_error_text
from workbench.protocols.refusals._kinds import (
    PROVIDER,
    RefusalKind,
    RetryAdvice,
    Speaker,
    table,
)
from workbench.protocols.refusals._phrases import phrase_in
from workbench.protocols.refusals._statements import has_sign, is_borne_out, statement_in
from workbench.protocols.refusals._texts import best, search
from workbench.protocols.refusals._validators import Complaint, complaint_in
from workbench.wire import Headers, loads

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = regex.compile(
    r"(\d{1,9}(?:\.\d{1,12})?) ?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])",
    re.IGNORECASE,
)
_WAIT = regex.compile(
    r"(?:try again|retry|retrying|wait|available again|resets?|reset)(?: \w+){0,3}? "
    r"((?:\d[\d.]{0,14} ?[a-z]{1,12}(?:,? (?:and )?)?){1,4})",
    re.IGNORECASE,
)
_DIGITS = regex.compile(r"\d{1,9}(?:\.\d{1,12})?")
_MEMBERS = ("retrydelay", "retry_after", "retryafter", "retry_after_seconds", "resets_in_seconds", "reset_in")
DEEPEST_DETAIL = 8
LONGEST_WAIT = 1e9
"""Seconds; a longer wait is a point in time, or nonsense."""


def duration(text: str) -> float | None:
    """Seconds of ``20``, ``1.5s``, ``6m0s``, ``2 minutes``; None for anything else."""
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return float(text)
    pieces = _PIECE.findall(text)
    return sum(float(number) * _UNITS[_unit(unit)] for number, unit in pieces) if pieces else None


def _unit(word: str) -> str:
    word = word.lower()
    return "ms" if word.startswith(("ms", "milli")) else word[0]


def told_wait(headers: Headers) -> float | None:
    """Seconds that ``retry-after-ms`` or ``Retry-After`` ask to wait; None where it is a date, or not there."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = (headers.get(name) or "").strip()
        try:
            wait = float(text) * unit
        except ValueError:
            continue
        if 0 <= wait < LONGEST_WAIT:
            return wait
    return None


def reset(text: str, raw: JsonValue, headers: Headers | None) -> str:
    """End of the limit, in words: "in 20 s", "at 2026-11-22T10:00:00Z"; empty if nothing states it."""
    wait = told_wait(headers) if headers else None
    if wait is None:
        wait = next(_in_body(raw, DEEPEST_DETAIL), None)
    if wait is None and (wait_text := _WAIT.search(text)):
        wait = duration(wait_text[1])
    if wait is not None:
        return f"in {_show(wait)}"
    return next(_resets(headers), "") if headers else ""


def _in_body(value: JsonValue, depth: int) -> Iterator[float]:
    """Members that give a wait: RetryInfo of Google, Codex, gateways."""
    if isinstance(value, list) and depth:
        for item in value[:50]:
            yield from _in_body(item, depth - 1)
    if not isinstance(value, dict) or not depth:
        return
    for key, item in list(value.items())[:100]:
        if key.lower() in _MEMBERS and isinstance(item, str | int | float) and not isinstance(item, bool):
            wait = duration(str(item))
            if wait is not None and wait < LONGEST_WAIT:
                yield wait
        yield from _in_body(item, depth - 1)


def _resets(headers: Headers) -> Iterator[str]:
    """Waits that the reset headers state: first of an exhausted limit, then of any."""
    found: Mapping[str, str] = {name.lower(): value.strip() for name, value in headers}
    resets = [(name, value) for name, value in found.items() if "ratelimit" in name and "reset" in name and value]
    resets.sort(key=lambda reset: found.get(reset[0].replace("reset", "remaining")) != "0")
    for name, value in [*resets, *((n, v) for n, v in found.items() if n == "retry-after" and v)]:
        wait = duration(value) if not re.search(r"\d{4}-\d\d-\d\d|\d:\d\d", value) else None
        if wait is None or wait >= LONGEST_WAIT:
            yield f"at {value[:60]} ({name})"
        else:
            yield f"in {_show(wait)} ({name})"


def _show(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


LONGEST = 8_000
"""Characters of a text that are read: its first and its last half of this."""

REFUSED = "request-refused"
"""Kind that says nothing but that."""

FAILED = "provider-failed"
"""Kind that a request may be the reason of."""

OF_VALIDATORS = frozenset({
    "tool-schema", "tool-choice", "message-empty", "json-schema-field", "value-invalid", "field-missing",
    "parameter-range", "parameter-unsupported", "json-invalid", "request-refused", "gateway", "media-unsupported",
    "answer-unreadable",
})  # fmt: skip
"""Kinds that a validator's sentence may be of: there the place and the fault tell the rule."""

OF_STATEMENTS = OF_VALIDATORS | {
    "provider-failed",
    "tools-unsupported",
    "not-found",
    "template-failed",
    "media-unreadable",
    "feature-disabled",
}
"""Kinds that say so little that a statement in plain words says more."""

OF_PHRASES = {
    "parameter-unsupported": ("params.unsupported",),
    "feature-disabled": ("params.unsupported",),
    "tools-unsupported": ("tools.unsupported",),
    "value-invalid": ("params.unsupported", "content.shape"),
    "json-schema-field": ("gateway.unknown-field",),
}
"""Kind whose texts are about any thing → its widest rules: instead of these, a phrase says what the thing is."""

MOST_WORDS = 400
"""Words of a body or a text that are looked up as code words."""

DEEPEST = 12

_QUOTES = str.maketrans({**dict.fromkeys('"`‘’“”', "'"), "\\": None, "’": "'"})
_SMALL = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_BLANKS = regex.compile(r"\s+")
_STEP = regex.compile(
    r"\b(?:failed|unable) to (?:convert|concat|transform|translate) [^:.'{]{3,80}: (?=\w)", re.IGNORECASE
)
"""A program's step that failed, in front of its cause: the cause is what is at fault."""
_ESCAPED = regex.compile(r"(?<!\\)\\+(?:u[0-9a-fA-F]{4}|[nrt])")
_IDENTIFIER = regex.compile(r"[A-Za-z][\w.:-]{3,60}")
_NAMED = regex.compile(r"(?:code|type|status|reason|error_code|__type|error)'?\s?[:=]\s?'?([A-Za-z][\w.-]{2,60})")
_STATUS = regex.compile(r"(?:^\W{0,4}|(?:status|http|code|error|api error|failed|responded|returned)[^\d\n]{0,24})"
                     r"\b([45]\d\d)\b(?![.,]\d)", re.IGNORECASE)  # fmt: skip
_CODE_MEMBERS = ("code", "type", "status", "reason", "error_code", "__type", "errortype", "error_type", "finish_reason")
_NUMBER = regex.compile(r"(?<![\w.\-/])\d{1,3}(?:,\d{3})+(?![\w,])|(?<![\w.\-/])\d{3,10}(?![\w\-/])")
_LIMIT = regex.compile(
    r"(?:max\w*|limit|at most|context (?:length|size|window)|available|allowed|up to|capacity)"
    r"[^\d]{0,40}?(\d[\d,]{2,12}+)(?!-[0-9a-f]{4}\b)"
    r"|(\d[\d,]{2,12}) (?:token )?(?:maximum|max|limit)",
    re.IGNORECASE,
)
_CHARACTERS = regex.compile(r"(?i)(\d[\d,]{0,12}) (?:input |prompt )?characters?")
"""A count of characters beside those of tokens."""
_OVER = regex.compile(r"exceed\w*[^.\d]{0,40} by (?:about )?(\d[\d,]{1,12}) tokens?", re.IGNORECASE)
"""By how much a limit is exceeded."""
_URL = regex.compile(r"(?:https?|gs|s3)://[^\s'<>\"]{3,2000}")


@dataclass(frozen=True, slots=True)
class KnownRefusal:
    """The kind of failure of an error.

    Attributes:
        by: ``"code"``, ``"text"``, ``"word"``, ``"status"`` or ``"phrase"`` (a guess): how it was recognised.
        words: the code word, stretch of text or status that did.
        values: what the text says: ``model``, ``field``, ``url``, ``found``, ``limit`` and ``over``
            (tokens), ``reset``.
        source: where such a text was seen.
        rule: the rule that the text tells; empty if it may be one of several, or none.
    """

    kind: RefusalKind
    by: str
    words: str
    values: Mapping[str, str] = NOTHING
    speaker: Speaker = PROVIDER
    source: str = ""
    rule: str = ""

    @property
    def is_telling(self) -> bool:
        """True if the kind says more than that the request was refused."""
        return bool(self.rule) or self.kind.name not in (REFUSED, "not-found")

    @property
    def is_unjudged(self) -> bool:
        """The request was not judged: a key, a limit, an overload. A server that fails may fail at this request."""
        return not self.kind.is_verdict and self.kind.name != FAILED

    def says(self) -> str:
        """Description of the failure, with details of the error."""
        sentence, values = self.kind.says, self.values
        if self.kind.name == "context-length" and "found" in values:
            sentence += f": {values['found']} tokens of {values['limit']}"
        elif self.kind.name == "context-length" and "over" in values:
            sentence += f": {values['over']} tokens over the limit"
        elif self.kind.at in ("model", "url") and (named := values.get(self.kind.at)):
            sentence += f": '{named[:200]}'"
        if "reset" in values:
            sentence += f", reset {values['reset']}"
        return sentence


def of_error(error: ApiError, status: int = 0, headers: Headers | None = None) -> KnownRefusal | None:
    """The kind of an error that was decoded; None if nothing identifies it."""
    words = [word for word in (error.code, error.type) if word]
    beside = " ".join(error.details.values())
    text = f"{error.message} {beside}" if beside else error.message
    return classify(text, status=status, words=[*words, *_code_words(error.raw, DEEPEST)], raw=error.raw,
                    headers=headers)  # fmt: skip


def of_exchange(status: int, headers: Headers, body: bytes) -> KnownRefusal | None:
    """The kind of a response as received; None if it is not an error."""
    if status < 400:
        return None
    try:
        error = read_error(loads(body))
    except WireError:
        error = None
    return of_error(error or read_error_text(body), status, headers)


def classify(
    text: str,
    *,
    status: int = 0,
    words: Iterable[str] = (),
    raw: JsonValue = None,
    headers: Headers | None = None,
) -> KnownRefusal | None:
    """The kind of a failure; None where neither codes nor text nor status tell it.

    Args:
        text: a message, or a pasted line of a log with whatever is around it.
        words: its codes and types.
        raw: the parsed body, in which waits are looked for.
    """
    plain_text = _plain(text)
    word_list = [word for whole in words for word in (whole, *re.split(r"[/#:]", whole))]
    word_list += [found[1] for found in _NAMED.finditer(plain_text)]
    found = _find(plain_text, word_list, status or _status_in(plain_text))
    if found is None:
        return _of_statement(plain_text)
    kind, by, grounds, source, values = found
    known = {**values, **_values(kind, plain_text)}
    if kind.again is RetryAdvice.LATER and (over := reset(plain_text, raw, headers)):
        known["reset"] = over
    return KnownRefusal(kind, by, grounds, known, _speaker(plain_text), source, _rule_of(kind, plain_text))


def _rule_of(kind: RefusalKind, text: str) -> str:
    """The rule of a text of a kind: a validator's form tells it, then a statement, a phrase, words of the kind."""
    small = text.translate(_SMALL)
    complaint = complaint_in(small) if kind.name in OF_VALIDATORS else None
    if complaint and (complaint.rule or not complaint.is_of_request):
        return complaint.rule
    statement = statement_in(small) if kind.name in OF_STATEMENTS else None
    if statement:
        return statement.rule
    rule = kind.rule_in(small)
    phrase = phrase_in(text) if rule in OF_PHRASES.get(kind.name, ()) else None
    if phrase and phrase.rule != "params.unsupported":
        return phrase.rule
    return rule if is_borne_out(rule, small) else ""


def _of_statement(text: str) -> KnownRefusal | None:
    """The refusal that a statement in plain words shows, where neither code nor known text does."""
    small = text.translate(_SMALL)
    statement = statement_in(small)
    if statement is None or ((complaint := complaint_in(small)) and complaint.rule):
        return None
    at = small.find(statement.words)
    words = text[at : at + len(statement.words)]
    return KnownRefusal(table().kinds[REFUSED], "text", words, speaker=_speaker(text), rule=statement.rule)


def guess(text: str) -> KnownRefusal | None:
    """The refusal that the words of a text speak of, where neither pattern nor template knows it; it may be wrong."""
    plain_text = _plain(text)
    phrase = phrase_in(plain_text)
    if phrase is None or not phrase.rule:
        return None
    return KnownRefusal(table().kinds[REFUSED], "phrase", phrase.words, speaker=_speaker(plain_text), rule=phrase.rule)


def complaint_of(text: str) -> Complaint | None:
    """Fault that a validator's sentence in a text reports."""
    return complaint_in(_plain(text).translate(_SMALL))


def refusal_of_complaint(complaint: Complaint | None) -> KnownRefusal | None:
    """The refusal that a validator's sentence alone shows, where its place and its fault tell the rule."""
    if complaint is None or not complaint.rule:
        return None
    return KnownRefusal(table().kinds[REFUSED], "text", complaint.place, rule=complaint.rule)


def speaks_of_models(text: str) -> bool:
    """A text names something of requests to models; one that does not may be of any program."""
    return has_sign(_plain(text).translate(_SMALL))


def speaker_of(text: str) -> Speaker:
    """Who says a text: a client into its log, a gateway in place of the provider, or the provider."""
    return _speaker(_plain(text))


def _find(text: str, words: list[str], status: int) -> tuple[RefusalKind, str, str, str, Mapping[str, str]] | None:
    known, small = table(), text.translate(_SMALL)
    for patterns, by in ((known.sure, "text"), (None, "code"), (known.texts, "text")):
        if patterns is None:
            code = next((w for w in (*words, *_identifiers(text)) if w.lower() in known.codes), None)
            if code:
                return known.codes[code.lower()], by, code, "", {}
            continue
        found = (
            (m, row.kind.breadth, row.kind.name, row)
            for row in patterns.fitting(small)
            if (m := search(row.pattern, small))
        )
        if match := best(found):
            hit, row = match
            values = {name: text[slice(*hit.span(name))] for name, value in hit.groupdict().items() if value}
            return row.kind, by, text[slice(*hit.span())], row.source, values
    worded = [w for w in words if w.lower() in known.words]
    word = next((w for w in worded if known.words[w.lower()].name != REFUSED), next(iter(worded), None))
    if word and not (status in known.statuses and known.words[word.lower()].name == REFUSED):
        return known.words[word.lower()], "word", word, "", {}
    numbers = [status, *(int(w) for w in words if re.fullmatch(r"[45]\d\d", w))]
    number = next((n for n in numbers if n in known.statuses), None)
    if number is not None:
        return known.statuses[number], "status", str(number), "", {}
    return (known.words[word.lower()], "word", word, "", {}) if word else None


def _plain(text: str) -> str:
    cut = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} {text[-LONGEST // 2 :]}"
    plain = _BLANKS.sub(" ", _ESCAPED.sub(_unescape, cut).translate(_QUOTES)).strip()
    return _STEP.sub("", plain)


def _unescape(match: re.Match[str]) -> str:
    code = match[0].lstrip("\\")
    return chr(int(code[1:], 16)) if code.startswith("u") and len(code) == 5 else " "


def _identifiers(text: str) -> Iterator[str]:
    """Words of a text that look like codes: with an underscore or a capital inside."""
    for n, found in enumerate(_IDENTIFIER.finditer(text)):
        if n >= MOST_WORDS:
            return
        word = found[0].rstrip(".:-")
        if "_" in word or any(c.isupper() for c in word[1:]):
            yield word


def _code_words(value: JsonValue, depth: int) -> list[str]:
    """Texts under the names that codes are under, at any depth of a body."""
    if isinstance(value, list) and depth:
        return [word for item in value[:50] for word in _code_words(item, depth - 1)][:MOST_WORDS]
    if not isinstance(value, dict) or not depth:
        return []
    own = [str(v) for k, v in value.items() if k.lower() in _CODE_MEMBERS and isinstance(v, str | int)]
    inner = [word for item in value.values() for word in _code_words(item, depth - 1)]
    return [*inner, *own][:MOST_WORDS]  # the innermost error is the one that was said first


def _status_in(text: str) -> int:
    found = _STATUS.search(text[:2000])
    return int(found[1]) if found else 0


def _speaker(text: str) -> Speaker:
    small = text.translate(_SMALL)
    return next((speaker for pattern, speaker in table().speakers if pattern.search(small)), PROVIDER)


def _values(kind: RefusalKind, text: str) -> dict[str, str]:
    if kind.name == "context-length":
        return _tokens(text)
    if kind.at == "url" and (url := _URL.search(text)):
        return {"url": url[0].rstrip(".,;)]}")}
    return {}


def _tokens(text: str) -> dict[str, str]:
    """Tokens that were found and the limit they are over. The limit is the number that the words name so."""
    if excess := _OVER.search(text):
        return _tokens_over(int(excess[1].replace(",", "")), _limits(text[: excess.start()] + text[excess.end() :]))
    characters = _CHARACTERS.findall(text)
    numbers = [int(n.replace(",", "")) for n in _NUMBER.findall(text) if n not in characters]
    limit = next((n for n in _limits(text) if any(m > n for m in numbers)), None)
    if limit is None and len(set(numbers)) >= 2:
        limit = sorted(set(numbers))[-2]
    found = max((n for n in numbers if limit is not None and n > limit), default=None)
    return {} if limit is None or found is None else {"found": f"{found:,}", "limit": f"{limit:,}"}


def _limits(text: str) -> list[int]:
    return [int((hit[1] or hit[2]).replace(",", "")) for hit in _LIMIT.finditer(text)]


def _tokens_over(over: int, limits: list[int]) -> dict[str, str]:
    """The same where the text says by how much the limit is exceeded, and perhaps the limit."""
    return {"found": f"{limits[0] + over:,}", "limit": f"{limits[0]:,}"} if limits else {"over": f"{over:,}"}
