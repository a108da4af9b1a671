"""State that the server should have and does not: the conversation is lost, usually without an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench import protocols, regex
from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.fronts import late
from workbench.ir import Message, ModelRequest, ModelResponse, Text, Usage
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import as_warning, quote, weaker
from workbench.wire import CONNECTION, urls

(refusal_of,) = late("workbench.rules._shared.failure_place", "refusal_of")

LOST = Rule(
    "state.lost",
    Severity.ERROR,
    "The request relies on the server for the conversation, but the server does not keep it.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)

RULES = (LOST,)

STATE = "state-unknown"
"""Kind of a failure that says that the server does not hold what is named."""

NOT_FOUND = 404

LOOKED_BACK = 32
"""Exchanges of the session that are searched for an answer which the conversation does not hold."""

SHRUNK = 0.7
"""Share of the input tokens of the answer before, below which the history cannot have been counted."""

_ASKS = regex.compile(
    r"\b(?:what (?:would you like|do you want|are you (?:asking|looking|trying|referring)|is this|can i help|should i)"
    r"|how can i (?:help|assist)"
    r"|(?:could|can|would) you (?:please )?(?:clarify|tell me (?:what|more)|provide (?:more|some|the)|explain what)"
    r"|(?:more|without|any|missing|lack(?:s|ing)?) context|(?:don't|do not|didn't) (?:see|have) (?:any|the|a|your) "
    r"(?:question|context|previous|earlier|prior|conversation|request|instruction))",
    re.IGNORECASE,
)
_START = 600
"""Characters of an answer that are searched for the question what it is about."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on a request that leaves out what the server should know."""
    request = case.request
    if request is None or not request.previous_id or _has_history(request):
        return
    known = _find_answer(case, request.previous_id)
    unkept = _unkept(case, *known) if known else None
    lost = _nothing_stored(case) or unkept or _check_gone(case, request.previous_id, known) or _check_answer(case)
    if lost:
        yield lost
    elif known is None:
        yield from _unseen(case, request.previous_id)


def _has_history(request: ModelRequest) -> bool:
    """True if the request repeats what the model said: then nothing is lost if the server does not remember."""
    return any(m.role in ("assistant", "model") for m in request.messages)


def _finding(case: RuleContext, why: str, evidence: str = "", rule: Rule = LOST) -> Finding:
    request = case.request
    name = request.previous_id if request else ""
    message = f"the request relies on the server for the conversation so far, but {why}"
    values = {"id": name or "", "found": name or ""}
    found = case.finding(rule, REQUEST, _pointer(case), message, evidence=evidence, values=values, when="not-found")
    is_answered = case.response is not None and not case.response.error
    return replace(found, severity=rule.severity, check=None, refusal="") if is_answered else found


def _pointer(case: RuleContext) -> str:
    params = case.request.params if case.request else {}
    if params.get("conversation"):
        return "/conversation"
    return protocols.traits(case.decoded.protocol).previous_pointer


def _nothing_stored(case: RuleContext) -> Finding | None:
    """The provider holds nothing, whatever the request says."""
    if case.contract.term("state.held") is not False:
        return None
    return _finding(
        case, f"{case.contract.title} stores no conversation: the server receives only this request", _evidence(case)
    )


def _find_answer(case: RuleContext, name: str) -> tuple[int, ModelResponse] | None:
    """(exchange, answer) that has this id: of this conversation, else of the last exchanges of the session."""
    for exchange, answer in reversed(case.earlier.answers):
        if answer.id == name:
            return exchange, answer
    for exchange in range(case.decoded.index - 1, max(case.decoded.index - LOOKED_BACK, 0) - 1, -1):
        seen = case.peek(exchange)
        if seen and seen.response and seen.response.id == name:
            return exchange, seen.response
    return None


def _unkept(case: RuleContext, exchange: int, answer: ModelResponse) -> Finding | None:
    """The answer that is named was not kept, or is not this server's."""
    where, before = f"exchange {exchange + 1}", case.peek(exchange)
    request = before.request if before else None
    is_stored = False not in (answer.params.get("store"), request.params.get("store") if request else None)
    if not is_stored and not (before and _share_connection(before, case.decoded)):
        return _finding(
            case,
            f"{where}, whose response this request continues, was sent with store false: the server did not store it",
        )
    if answer.error:
        return _finding(
            case, f"{where}, whose response this request continues, ended in an error: {quote(answer.error.message)}"
        )
    if before and _host(before) and _host(case.decoded) and _host(before) != _host(case.decoded):
        hosts = f"from {quote(_host(before), 60)}, but goes to {quote(_host(case.decoded), 60)}"
        return _finding(case, f"this request continues the response of {where} {hosts}", rule=weaker(LOST))
    return None


def _share_connection(one: DecodedExchange, other: DecodedExchange) -> bool:
    """True for turns of one WebSocket connection: its memory holds what ``store: false`` does not keep.

    OpenAI, "WebSocket mode": continuation uses the state in memory of the connection.
    """
    connection = one.exchange.meta.get(CONNECTION)
    return connection is not None and connection == other.exchange.meta.get(CONNECTION)


def _host(decoded: DecodedExchange) -> str:
    http = decoded.exchange.request
    return urls.split_url(http.url).netloc.lower() if http else ""


def _path(decoded: DecodedExchange | None) -> str:
    http = decoded.exchange.request if decoded else None
    return urls.split_url(http.url).path if http else ""


def _check_answer(case: RuleContext) -> Finding | None:
    """The answer shows that the model did not see the conversation: it was given fewer tokens, or asks."""
    answer = case.response
    if answer is None or answer.error or not case.earlier.answers:
        return None
    exchange, before = case.earlier.answers[-1]
    was, now = _input(before.usage), _input(answer.usage)
    if was and now is not None and now < was * SHRUNK and not _may_shrink(case, exchange):
        evidence = f"exchange {exchange + 1} reported {was:,} input tokens, this one {now:,}"
        return _finding(
            case,
            "the model did not get that conversation: the response reports fewer input tokens than before",
            evidence,
        )
    if now is None and _asks(answer):
        return _finding(case, "the response asks what the request refers to", _evidence(case), weaker(LOST))
    return None


def _may_shrink(case: RuleContext, exchange: int) -> bool:
    """The prompt is shorter for another reason: the server trims it, or instructions and tools were not repeated."""
    now, before = case.request, case.peek(exchange)
    then = before.request if before else None
    if _path(case.decoded) != _path(before):  # another endpoint counts something else: what a compaction reads
        return True
    if now is None or then is None or now.params.get("truncation") == "auto" or now.params.get("context_management"):
        return True
    is_inherited = protocols.traits(case.decoded.protocol).thread_keeps_tools
    return not is_inherited and (len(now.tools) < len(then.tools) or len(now.system) < len(then.system))


def _evidence(case: RuleContext) -> str:
    """Signs of the loss in the answer."""
    answer = case.response
    if answer is None or not answer.messages:
        return ""
    notes = [] if (now := _input(answer.usage)) is None else [f"the response reports {now:,} input tokens"]
    if _asks(answer):
        notes.append(f"the response asks: {quote(_text(answer.messages[0]))}")
    return " · ".join(notes)


def _asks(answer: ModelResponse) -> bool:
    return any(_ASKS.search(_text(message)[:_START]) for message in answer.messages)


def _text(message: Message) -> str:
    return "".join(p.text for p in message.parts if isinstance(p, Text)).strip()


def _input(usage: Usage | None) -> int | None:
    """Tokens of a prompt, cached ones included."""
    if usage is None or usage.input is None:
        return None
    return usage.input + (usage.cache_read or 0) + (usage.cache_write or 0)


def _unseen(case: RuleContext, name: str) -> Iterator[Finding]:
    """True if no response of the session has this id: it may be older than the recording."""
    if not (case.response and case.response.error) and not case.earlier.exchanges:
        why = (
            "no response of this session has the id that this request continues, so Workbench does not know whether "
            "the server stored it"
        )
        yield replace(as_warning(_finding(case, why)), severity=Severity.INFO, refusal="")


def _check_gone(case: RuleContext, name: str, known: tuple[int, ModelResponse] | None) -> Finding | None:
    """The server says that it does not know what is named, whether it ever did or not.

    A 404 of the endpoint that gave the id says so too: it has the endpoint, and takes the model.
    """
    error = case.response.error if case.response else None
    refusal = refusal_of(error, case.decoded) if error else None
    is_named = error is not None and (name in error.message or (refusal and refusal.kind.name == STATE))
    is_unfound = known is not None and case.status == NOT_FOUND and refusal is not None and not refusal.kind.at
    if error is None or not (is_named or is_unfound):
        return None
    return _finding(case, "the server does not know the response that this request continues", quote(error.message))
