"""Token counts of an answer, held against what was sent, against each other and against the limit of the request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TypeAlias

from workbench import protocols, regex
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import JsonValue, ModelResponse, Part, Reasoning, Text, ToolCallIR, ToolResultIR, Usage
from workbench.protocols import RESPONSE, DecodedExchange, TokenCounts
from workbench.rules._shared.body_values import fact_of_fields, values_at
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import weaker

PROMPT_CUT = Rule(
    "usage.prompt-cut",
    Severity.WARNING,
    "The response reports far fewer prompt tokens than the request text needs.",
    breaks=Breaks.CONVERSATION,
)
CONTRADICTION = Rule(
    "usage.contradiction", Severity.WARNING, "Token counts of one response contradict each other.", is_advice=True
)
OVER_LIMIT = Rule(
    "usage.over-limit",
    Severity.WARNING,
    "The response reports more output tokens than the request allows.",
    is_advice=True,
)

RULES = (PROMPT_CUT, CONTRADICTION, OVER_LIMIT)

MOST_CHARACTERS = 8
"""Characters of text without repetitions that one token holds at most: prose has 4, JSON and code 3."""

LEAST_PROMPT = 256
"""Tokens of a prompt: no context is smaller, and smaller counts are those of relays that do not count."""

_REPEATED = regex.compile(r"(\s)\s+|(.)\2{3,}|\b(\w+\s)\3{3,}")
_CUTS_ON_REQUEST = ("truncation", "context_management")
"""Parameters with which a client asks that the server shortens the prompt."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the token counts of the answer."""
    answer = case.response
    usage = answer.usage if answer and not answer.error else None
    if answer is None or usage is None:
        return
    counts = protocols.traits(case.decoded.protocol).token_counts
    yield from _check_prompt(case, usage, counts)
    numbers = _numbers(usage.raw, counts)
    total, sums = _count(numbers, counts.total), _sums(numbers, counts)
    most = max(sums, default=0)
    if total is not None and most and total > most:
        text = (
            f"{total - most:,} of the {total:,} total tokens are not part of any other count; they may be hidden "
            "reasoning"
        )
        yield case.finding(weaker(CONTRADICTION, Severity.INFO), RESPONSE, counts.at + counts.total, text)
    for pointer, message in _contradictions(numbers, counts, sums):
        yield case.finding(CONTRADICTION, RESPONSE, counts.at + pointer, message)
    yield from _check_limit(case, answer, numbers, counts)
    yield from _check_nothing(case, answer, numbers, counts)


LEAST_LIMIT = 16
"""Tokens to which gateways raise a smaller limit: OpenAI's Responses API takes none below."""

END = 1
"""Token that ends a turn, which some providers count."""

LEAST_TEXT = 40
"""Characters of an answer that are some tokens in any tokeniser."""


def _check_nothing(
    case: RuleContext, answer: ModelResponse, numbers: _Numbers, counts: TokenCounts
) -> Iterator[Finding]:
    """No output is counted, but there is some: a relay does not count, or a count was lost."""
    if _count(numbers, counts.output) != 0 or _count(numbers, counts.prompt) == 0:
        return
    parts = [part for message in answer.messages for part in message.parts]
    length = sum(map(_length_of, parts)) + sum(len(p.text or "") for p in parts if isinstance(p, Reasoning))
    if length >= LEAST_TEXT:
        text = f"the response reports 0 output tokens, but has {length:,} characters of text, reasoning and calls"
        yield case.finding(CONTRADICTION, RESPONSE, counts.at + counts.output, text)


def _check_prompt(case: RuleContext, usage: Usage, counts: TokenCounts) -> Iterator[Finding]:
    """The prompt was cut without a word: the server dropped its beginning, so the system prompt and tools go first."""
    request = case.request
    if request is None or usage.input is None or any(key in request.params for key in _CUTS_ON_REQUEST):
        return
    tokens = usage.input + (usage.cache_read or 0) + (usage.cache_write or 0)
    most = tokens * MOST_CHARACTERS
    if tokens < LEAST_PROMPT or case.decoded.request_body.size <= most:
        return
    parts = (part for message in request.messages for part in message.parts)
    length = sum(map(_length_of, (*request.system, *parts)))
    if length > most:
        text = (
            f"the response reports {tokens:,} prompt tokens, but the request has {length:,} characters of text: the "
            "server truncated the prompt, or the count excludes cached tokens"
        )
        yield case.finding(PROMPT_CUT, RESPONSE, counts.at + counts.prompt, text)


def _length_of(part: Part) -> int:
    """Characters of a part that a model reads, without runs of the same; media and reasoning may cost nothing."""
    if isinstance(part, Text):
        return len(_REPEATED.sub(" ", part.text))
    if isinstance(part, ToolResultIR):
        return sum(map(_length_of, part.content))
    return len(part.raw or "") if isinstance(part, ToolCallIR) else 0


def _contradictions(numbers: _Numbers, counts: TokenCounts, sums: set[int]) -> Iterator[tuple[str, str]]:
    """(pointer in the counts, what is wrong)."""
    prompt, output = _count(numbers, counts.prompt), _count(numbers, counts.output)
    total, reasoning = _count(numbers, counts.total), _count(numbers, counts.reasoning)
    if total is not None and sums and total not in sums and total < max(sums):
        yield (
            counts.total,
            f"the total of {total:,} tokens is not the sum of {prompt:,} prompt tokens and {output:,} output tokens",
        )
    for at in filter(None, (counts.prompt, counts.output, counts.total, counts.reasoning, *counts.cached)):
        if (count := numbers.get(at)) is not None and count < 0:
            yield at, f"a count of {count:,} tokens"
    for at in counts.cached:
        cached = _count(numbers, at)
        if cached and prompt is not None and cached > prompt:
            yield at, f"the response reports {cached:,} cached tokens, but the whole prompt has only {prompt:,}"
    is_beside = None not in (prompt, output, reasoning) and total == sum((prompt or 0, output or 0, reasoning or 0))
    if reasoning and output is not None and reasoning > output and not is_beside:
        message = f"the response reports {reasoning:,} reasoning tokens, but the whole output has only {output:,}"
        yield counts.reasoning, message


def _sums(numbers: _Numbers, counts: TokenCounts) -> set[int]:
    """The totals that providers make: prompt and output, and any of what may be counted beside them."""
    prompt, output = _count(numbers, counts.prompt), _count(numbers, counts.output)
    if prompt is None or output is None:
        return set()
    base = prompt + output
    beside = [n for at in (*counts.beside, *counts.cached, counts.reasoning) if (n := _count(numbers, at))]
    if not beside:
        return {base}
    return {base + sum(some) for size in range(len(beside) + 1) for some in combinations(beside, size)}


def _check_limit(case: RuleContext, answer: ModelResponse, numbers: _Numbers, counts: TokenCounts) -> Iterator[Finding]:
    """More output than was allowed, in one answer of one turn: the limit did not reach the model."""
    output, limit = _count(numbers, counts.output), output_limit(case)
    apart = _count(numbers, counts.reasoning) or 0  # xAI holds only the text to the limit
    if output is None or limit is None or output - apart <= max(limit, LEAST_LIMIT) + END:
        return
    is_sum = len(answer.choices) > 1 or any(
        getattr(part, "is_server", False) for message in answer.messages for part in message.parts
    )
    if not is_sum:
        text = f"the response reports {output:,} output tokens, but the request allows {limit:,}"
        yield case.finding(OVER_LIMIT, RESPONSE, counts.at + counts.output, text)


def output_limit(case: RuleContext) -> int | None:
    """The most tokens that the request lets the model write; None if it sets no limit."""
    return fact_of_fields(case.decoded, _output_limit)


def _output_limit(decoded: DecodedExchange) -> int | None:
    pointers = protocols.traits(decoded.protocol).token_counts.limits
    found = (value for pointer in pointers for _, value in values_at(decoded, pointer))
    return next((n for n in found if type(n) is int and n > 0), None)


def is_limit_used_up(case: RuleContext, answer: ModelResponse) -> bool:
    """The model wrote as much as it was allowed to, whatever the finish reason says."""
    used, limit = answer.usage.output if answer.usage else None, output_limit(case)
    return bool(used and limit) and (used or 0) >= (limit or 0)


_Numbers: TypeAlias = Mapping[str, int | None]
"""Pointer in the counts → the whole number there; None if there is none."""


def _numbers(raw: JsonValue, counts: TokenCounts) -> _Numbers:
    """The numbers of an answer at all pointers that a protocol has."""
    pointers = (counts.prompt, counts.output, counts.total, counts.reasoning, *counts.cached, *counts.beside)
    return {at: _number(raw, at) for at in pointers}


def _count(numbers: _Numbers, pointer: str) -> int | None:
    """A count at a pointer in the counts; None for one that cannot be."""
    found = numbers.get(pointer)
    return found if found is not None and found >= 0 else None


def _number(raw: JsonValue, pointer: str) -> int | None:
    """The whole number at a pointer in the counts."""
    for step in pointer.split("/")[1:]:
        raw = raw.get(step) if isinstance(raw, dict) else None
    if type(raw) is int:
        return raw
    return int(raw) if type(raw) is float and raw.is_integer() else None
