"""Repeated requests: the same one, or a series of changed ones, after failures or without a visible reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench.contracts import Finding
from workbench.errors import WireError
from workbench.fronts import late
from workbench.ir import ApiError, JsonValue, ModelRequest
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange, refusals
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.reasoning import is_rebuilt
from workbench.rules._shared.wording import quote
from workbench.rules.retry import LOOP
from workbench.wire import loads

(refusal_of,) = late("workbench.rules._shared.failure_place", "refusal_of")

RULES = ()

SWITCHES = ("anthropic-beta", "anthropic-version", "openai-beta")
"""Headers that change what a request means."""

LEAST = {"refused": 2, "failed": 4, "answered": 4}
"""Number of attempts with an unchanged request that count as a loop, by the outcome of the attempt before."""

SHORTENED = (400, 413, 422)
"""Statuses of a refusal because of length."""

TOO_LONG = ("context-length", "request-too-large")
"""Kinds of failures after which clients shorten the history."""

LEAST_ATTEMPTS = 3
"""Number of attempts, each changed after a failure, that count as a series."""

LOOKED_BACK = 8
"""Limit of attempts that are read again to describe what each of them changed."""

_SHOWN = 3
"""Limit of names of tools and parameters that are listed for one attempt."""


@dataclass(frozen=True, slots=True)
class _AttemptOutcome:
    """An earlier try: ``end`` is what became of it, in words; ``kind`` a key of ``LEAST``."""

    exchange: int
    end: str
    kind: str


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on a request that is one more attempt."""
    before = case.earlier.exchanges[-1:]
    if case.request is None or is_rebuilt(case):
        return
    if not before:
        yield from _check_shortened(case)
        return
    last = case.peek(before[0])
    if last is None or last.request is None:
        return
    if _is_same(last, case.decoded):
        if _outcome_of(last).kind != "refused" or not 0 < case.status < 400:
            yield from _repeated_request(case, _outcome_of(last))
    elif _outcome_of(last).kind != "answered":
        yield from _changed_attempts(case, last)


def _is_same(one: DecodedExchange, other: DecodedExchange) -> bool:
    """The same request: the same JSON, in whatever order its keys are, by the same way."""
    if _destination(one) != _destination(other) or _size(one) != _size(other) or _parts(one) != _parts(other):
        return False  # bodies are parsed again only where they may be equal
    return one.request_text == other.request_text or _json(one) == _json(other)


def _size(attempt: DecodedExchange) -> tuple[int, ...]:
    """Number of messages and tools."""
    request = attempt.request
    return (len(request.messages), len(request.tools)) if request else ()


def _parts(attempt: DecodedExchange) -> int:
    """Number of all parts of messages."""
    return sum(len(message.parts) for message in attempt.messages(REQUEST))


def _json(attempt: DecodedExchange) -> JsonValue:
    """The body, parsed; the text itself where it is no JSON."""
    try:
        return loads(attempt.request_text)
    except WireError:
        return attempt.request_text.decode("utf-8", "replace")


def _check_shortened(case: RuleContext) -> Iterator[Finding]:
    """A history that was begun again after refusals in the same words: what was rewritten each time did not help."""
    refused, texts, kinds = list[DecodedExchange](), set[str](), set[str]()
    for exchange in range(case.decoded.index - 1, max(case.decoded.index - LOOKED_BACK, 0) - 1, -1):
        if case.summaries[exchange].status not in SHORTENED:
            continue
        before = case.peek(exchange)
        if before is None or not _is_same_run(before, case.decoded) or not (before.response and before.response.error):
            continue
        refused.append(before)
        texts.add(re.sub(r"\d+", "", before.response.error.message))
        refusal = refusal_of(before.response.error, before)
        kinds.add(refusal.kind.name if refusal else "")
    if len(refused) >= LEAST_ATTEMPTS - 1 and len(texts) == 1 and kinds.issubset(TOO_LONG):
        sizes = [d.request_body.size for d in (*reversed(refused), case.decoded)]
        message = f"attempt {len(sizes)} with a rewritten history: earlier requests were refused as too long"
        seen = f"{' → '.join(f'{size:,}' for size in sizes)} bytes, since exchange {refused[-1].index + 1}"
        yield case.finding(LOOP, REQUEST, "", message, evidence=seen)


def _is_same_run(one: DecodedExchange, other: DecodedExchange) -> bool:
    if one.request is None or other.request is None or one.exchange.hop != other.exchange.hop:
        return False
    return (one.request.model, one.request.tools, one.request.system) == (
        other.request.model,
        other.request.tools,
        other.request.system,
    )


def _destination(attempt: DecodedExchange) -> tuple[str, Mapping[str, str]]:
    """Target of a request, and the features that its headers switch on."""
    http = attempt.exchange.request
    if http is None:
        return "", {}
    return http.url, {name.lower(): value for name, value in http.headers if name.lower() in SWITCHES}


def _outcome_of(attempt: DecodedExchange) -> _AttemptOutcome:
    answer, status = attempt.response, attempt.exchange.response.status if attempt.exchange.response else 0
    if 400 <= status < 500 and _is_final(attempt):
        return _AttemptOutcome(attempt.index, f"status {status}", "refused")
    if status >= 300 or answer is None:
        return _AttemptOutcome(attempt.index, f"status {status}" if status >= 300 else "no response", "failed")
    if answer.error:
        return _AttemptOutcome(attempt.index, f"status {status} with an error in the response", "failed")
    if not answer.is_complete:
        return _AttemptOutcome(attempt.index, "an incomplete response", "failed")
    if not any(message.parts for message in answer.messages):
        return _AttemptOutcome(attempt.index, "an empty response", "failed")
    if attempt.request and attempt.request.stream and attempt.framing is None:
        return _AttemptOutcome(
            attempt.index, "a response that is not a stream, although a stream was requested", "answered"
        )
    if answer.finish_reason is None:
        return _AttemptOutcome(attempt.index, "a response without a finish reason", "answered")
    return _AttemptOutcome(attempt.index, "a response", "answered")


def _is_final(attempt: DecodedExchange) -> bool:
    """The same request gets the same answer."""
    error = attempt.response.error if attempt.response else None
    refusal = refusal_of(error or ApiError(""), attempt)
    return refusal is None or refusal.kind.again is refusals.RetryAdvice.NO


def _repeated_request(case: RuleContext, last: _AttemptOutcome) -> Iterator[Finding]:
    """The very same request once more. Lengths tell how often: what lies between two equal ones is not read."""
    size = case.summaries[last.exchange].request_bytes if last.exchange < len(case.summaries) else -1
    same = 1
    for exchange in reversed(case.earlier.exchanges):
        if exchange >= len(case.summaries) or case.summaries[exchange].request_bytes != size:
            break
        same += 1
    if same >= LEAST[last.kind]:
        first = case.earlier.exchanges[-same + 1]
        message = f"the same request is sent for the {_ordinal(same)} time; the previous one got {last.end}"
        if last.kind == "refused":
            message += "; expect the same response again"
        yield case.finding(LOOP, REQUEST, "", message, evidence=f"since exchange {first + 1}")


def _changed_attempts(case: RuleContext, last: DecodedExchange) -> Iterator[Finding]:
    """One more changed request after a row of failures: what each rung changed."""
    now, rungs, places = case.decoded, list[str](), list[str]()
    attempts = 1
    for exchange in reversed(case.earlier.exchanges[-LOOKED_BACK:]):
        before = last if exchange == last.index else case.peek(exchange)
        if before is None or before.request is None or now.request is None or _outcome_of(before).kind == "answered":
            break
        if _continues_history(before.request, now.request):
            break
        if _is_same(before, now):
            continue
        changes = [*_changes(before.request, now.request), *_other_way(before, now)]
        places = places or [change.pointer for change in changes]
        what = ", ".join(change.words for change in changes) or "nothing visible"
        rungs.append(f"exchange {now.index + 1}, after {_outcome_of(before).end}: {what}")
        attempts, now = attempts + 1, before
    if attempts >= LEAST_ATTEMPTS:
        message = f"attempt {attempts} in a row after a failure, each with a changed request"
        pointer = next(iter(places), "")
        yield case.finding(LOOP, REQUEST, pointer, message, evidence=" · ".join(rungs))


def _continues_history(then: ModelRequest, now: ModelRequest) -> bool:
    """Something was said behind the same history: no attempt at the same answer."""
    count = len(then.messages)
    return len(now.messages) > count and now.messages[:count] == then.messages


@dataclass(frozen=True, slots=True)
class _Change:
    """Change by one rung, in words, and its place in the newer request."""

    words: str
    pointer: str = ""


def _changes(then: ModelRequest, now: ModelRequest) -> list[_Change]:
    found: list[_Change] = []
    if then.model != now.model:
        found.append(_Change(f"used model {quote(now.model, 60)} instead of {quote(then.model, 60)}"))
    found += _tools(then, now)
    if then.thinking != now.thinking:
        found.append(_Change(f"changed thinking from {then.thinking or 'not set'} to {now.thinking or 'not set'}"))
    if _reasoning(then) != _reasoning(now):
        found.append(_Change(f"changed the number of reasoning blocks from {_reasoning(then)} to {_reasoning(now)}"))
    if len(then.messages) != len(now.messages):
        found.append(_Change(f"{len(then.messages)} → {len(now.messages)} messages"))
    elif then.messages != now.messages:
        at = next(n for n, (a, b) in enumerate(zip(then.messages, now.messages, strict=True)) if a != b)
        found.append(_Change(f"changed message {at + 1}", now.messages[at].pointer))
    if then.system != now.system:
        found.append(_Change("changed the system prompt"))
    if then.stream != now.stream:
        found.append(_Change("turned streaming on" if now.stream else "turned streaming off"))
    return found + _params(then.params, now.params)


def _other_way(then: DecodedExchange, now: DecodedExchange) -> Iterator[_Change]:
    (old_url, old), (new_url, new) = _destination(then), _destination(now)
    if old_url != new_url:
        yield _Change(f"was sent to {quote(new_url, 60)}")
    for name in (n for n in SWITCHES if old.get(n) != new.get(n)):
        yield _Change(f"changed the header {name}", f"/headers/{name}" if name in new else "")


def _tools(then: ModelRequest, now: ModelRequest) -> list[_Change]:
    old, new = {t.name: t for t in then.tools}, {t.name: t for t in now.tools}
    if old.keys() != new.keys():
        if not new:
            return [_Change(f"dropped all {len(old)} tools")]
        return [_Change(f"changed the number of tools from {len(old)} to {len(new)}", "/tools")]
    changed = [name for name, tool in new.items() if tool != old[name]]
    if not changed:
        return []
    names = ", ".join(quote(name, 60) for name in changed[:_SHOWN])
    return [_Change(f"changed the definition of {names}", new[changed[0]].pointer)]


def _params(then: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> list[_Change]:
    dropped, new = [k for k in then if k not in now], [k for k in now if k not in then]
    other = [k for k in now if k in then and now[k] != then[k]]
    changes = (("dropped", dropped), ("added", new), ("changed", other))
    return [
        _Change(f"{verb} {quote(key, 60)}", "" if verb == "dropped" else f"/{key}")
        for verb, keys in changes
        for key in keys[:_SHOWN]
    ]


def _reasoning(request: ModelRequest) -> int:
    return sum(1 for message in request.messages for _ in message.reasoning())


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
