"""Avoidable cost of a request: a cache that cannot be used, and tools that outweigh the prompt."""

from __future__ import annotations

from collections.abc import Iterator

from workbench import limits, protocols
from workbench.chain import marks
from workbench.contracts import Contract, FaultOrigin, Finding, Severity, matches
from workbench.ir import ModelRequest, Usage
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules._shared.body_values import fact_of_fields
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.nodes import ancestors
from workbench.rules._shared.prefix import Break, first_break
from workbench.rules._shared.wording import quote

INFO, WARNING = Severity.INFO, Severity.WARNING

CACHE_BREAK = Rule(
    "cost.cache-break", WARNING, "The cacheable prefix differs from the previous request.", is_advice=True
)
TOOL_OVERHEAD = Rule(
    "cost.tool-overhead", INFO, "Tool definitions and tool-use overhead dominate the prompt.", is_advice=True
)

RULES = (CACHE_BREAK, TOOL_OVERHEAD)


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on what is paid for the request."""
    if case.request is None or case.decoded.exchange.is_transcript:
        return
    yield from _cache(case)
    yield from _tools(case)


def _cache(case: RuleContext) -> Iterator[Finding]:
    """The first byte that differs from the last request of the conversation, and what is read again behind it."""
    old, new = _before(case), case.decoded
    if old is None:
        return
    had_marks = marks(old) if protocols.traits(case.decoded.protocol).caches_marked_only else []
    if protocols.traits(case.decoded.protocol).caches_marked_only and not had_marks:
        return
    found = first_break(old, new)
    if found is None:
        if had_marks and not marks(new):
            yield _missing_mark(case, old, had_marks[-1])
        return
    paid_tokens = _paid_tokens(old, new)
    if paid_tokens == 0:
        return  # the counts of both answers say that nothing was lost
    yield _broken_prefix(case, old, found, paid_tokens)


def _before(case: RuleContext) -> DecodedExchange | None:
    """The last request of the conversation that was answered, of the same model and place; None where there is none."""
    for index in reversed(case.earlier.exchanges[-limits.MOST_RETRIES_BACK :]):
        old = case.peek(index)
        if old is None or old.request is None or old.protocol != case.decoded.protocol:
            return None
        if old.exchange.hop != case.decoded.exchange.hop or (old.response and old.response.error):
            continue
        is_held = old.request.previous_id or (case.request and case.request.previous_id)
        is_same = case.request is not None and old.request.model == case.request.model
        return old if is_same and not is_held else None
    return None


def _broken_prefix(case: RuleContext, old: DecodedExchange, found: Break, paid_tokens: int | None) -> Finding:
    least = case.contract.term("cost.cache-minimum")
    least = least if isinstance(least, int) else limits.LEAST_CACHED_TOKENS
    estimate = found.reread_bytes // limits.BYTES_PER_TOKEN
    tokens = estimate if paid_tokens is None else paid_tokens
    how = "an estimated" if paid_tokens is None else "measured in both responses:"
    of_those = " that the previous request had cached" if paid_tokens else ""
    cost = f"{how} {tokens:,} tokens{of_those} are no longer cached"
    if paid_tokens is None and tokens < least:
        cost = f"{how} {tokens:,} tokens follow this point, too few for caching"
    where = f" at byte {found.byte:,}" if found.byte is not None else ""
    text = f"the prompt diverges from exchange {old.index + 1}{where}: {found.why}; {cost}"
    seen = f"was {quote(found.was, 60)}, is {quote(found.now, 60)}" if found.was or found.now else ""
    finding = case.finding(CACHE_BREAK, REQUEST, found.pointer, text, evidence=seen)
    came = FaultOrigin(old.index, REQUEST, found.pointer, "the previous request with this prompt", old.exchange.hop)
    severity = WARNING if tokens >= least else INFO
    return replace(finding, severity=severity, span=found.span or finding.span, origin=came)


def _missing_mark(case: RuleContext, old: DecodedExchange, mark: str) -> Finding:
    text = (
        f"the cache breakpoints of exchange {old.index + 1} are missing: nothing of this prompt is read from the cache"
    )
    came = FaultOrigin(old.index, REQUEST, mark, "the last cache breakpoint of the previous request", old.exchange.hop)
    return replace(case.finding(CACHE_BREAK, REQUEST, "", text), span=None, origin=came)


def _paid_tokens(old: DecodedExchange, new: DecodedExchange) -> int | None:
    """Tokens that the answers of both show to be read again; None where they do not count them."""
    was, now = _usage(old), _usage(new)
    if was is None or now is None or now.cache_read is None:
        return None
    if was.cache_read is None and was.cache_write is None:
        return None
    cached = (was.cache_read or 0) + (was.cache_write or 0)
    return max(cached - now.cache_read, 0) if cached else None


def _usage(decoded: DecodedExchange) -> Usage | None:
    return decoded.response.usage if decoded.response else None


def _tools(case: RuleContext) -> Iterator[Finding]:
    """Tool definitions that are the greater part of what is sent. Said once a conversation, and when they change."""
    request, old = case.request, _before(case)
    if request is None or not request.tools or (old and old.request and old.request.tools == request.tools):
        return
    if case.decoded.request_body.size // limits.BYTES_PER_TOKEN < limits.HEAVY_TOOL_TOKENS:
        return  # however much of it they are
    size = fact_of_fields(case.decoded, _size_of_tools)
    tokens = size // limits.BYTES_PER_TOKEN
    share = size / max(case.decoded.request_body.size, 1)
    if tokens < limits.HEAVY_TOOL_TOKENS or share < limits.HEAVY_TOOL_SHARE:
        return
    largest = max(request.tools, key=lambda tool: _size(case.decoded, tool.pointer))
    seen = f"the largest is {quote(largest.name)} with {_size(case.decoded, largest.pointer):,} bytes"
    text = f"{len(request.tools)} tool definitions are {share:.0%} of the request: an estimated {tokens:,} tokens"
    text += f" with every request{_measured_words(case)}{_overhead(case)}"
    finding = case.finding(TOOL_OVERHEAD, REQUEST, request.tools[0].pointer.rpartition("/")[0], text, evidence=seen)
    severity = WARNING if tokens >= limits.EXCESSIVE_TOOL_TOKENS else INFO
    yield replace(finding, severity=severity)


def _measured_words(case: RuleContext) -> str:
    """Tokens of the whole prompt as the response counts them."""
    usage = _usage(case.decoded)
    whole = sum(filter(None, (usage.input, usage.cache_read, usage.cache_write))) if usage else 0
    return f", of {whole:,} that the response reports for the whole prompt" if whole else ""


def _overhead(case: RuleContext) -> str:
    """Tokens that the provider adds for tool use, if its contract knows the model."""
    tokens = overhead(case.contract, case.request) if case.request else 0
    return f"; {case.contract.title} adds {tokens} tokens for tool use" if tokens else ""


def overhead(contract: Contract, request: ModelRequest) -> int:
    """Tokens that the provider adds because tools are declared; 0 where that is not known of the model."""
    known = contract.term("usage.tool-overhead") if request.tools else None
    is_forced = request.tool_choice is not None and request.tool_choice.mode in ("any", "tool")
    for name, tokens in known.items() if isinstance(known, dict) else ():
        if matches(request.model, (name, f"{name}-*")) and isinstance(tokens, list) and tokens:
            return int(tokens[-1] if is_forced else tokens[0])
    return 0


def _size_of_tools(decoded: DecodedExchange) -> int:
    """Bytes of the declared tools."""
    outer = {tool.pointer for tool in decoded.request.tools} if decoded.request else set()
    return sum(_size(decoded, at) for at in outer if not any(above in outer for above in ancestors(at)))


def _size(decoded: DecodedExchange, pointer: str) -> int:
    span = decoded.place(REQUEST, pointer).span
    return span[1] - span[0] if span else 0
