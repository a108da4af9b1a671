"""Cost of a session, turn by turn: the use of the tokens of a prompt, and what a cache would have saved.

A response counts the tokens of its prompt. They are divided among the parts of the request in proportion to their
bytes, without the tokens that the provider adds for tool use. If a response counts nothing, the tokens are estimated
from the bytes and marked as estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench import limits
from workbench.contracts import Contract
from workbench.ir import ModelRequest, Reasoning, Text, ToolCallIR, Usage
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules.avoidable_cost import overhead
from workbench.rules.inspection import Inspector
from workbench.rules.metrics.prices import Price, Prices
from workbench.wire import dumps

ANSWERING = ("assistant", "model")


@dataclass(frozen=True, slots=True)
class TurnCost:
    """Cost of one request, in tokens; the five kinds of the prompt add up to it.

    Attributes:
        index: of its exchange.
        system: the system prompt.
        overhead: added by the provider because tools are declared.
        tools: tool definitions.
        history: replayed: everything up to the last answer of the model.
        new: what came since: words of the user, results.
        cache_read, cache_write: how much of the prompt was read from a cache, and written to one.
        output: what the model wrote, reasoning included.
        is_counted: the answer counted prompt and output; else they are estimated.
        price: of the model, None where it is not known.
    """

    index: int
    conversation: int | None
    model: str | None
    system: int
    overhead: int
    tools: int
    history: int
    new: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int | None
    is_counted: bool
    price: Price | None = field(default=None, repr=False)
    least_cached: int = limits.LEAST_CACHED_TOKENS

    @property
    def prompt(self) -> int:
        """All that was sent."""
        return self.system + self.overhead + self.tools + self.history + self.new

    @property
    def total(self) -> int:
        """All that is paid for, at whatever rate."""
        return self.prompt + self.output

    @property
    def dollars(self) -> float | None:
        """At list price, None where the model has none."""
        if self.price is None:
            return None
        fresh = max(0, self.prompt - self.cache_read - self.cache_write)
        return self.price.of(fresh, self.output, self.cache_read, self.cache_write)


@dataclass(frozen=True, slots=True)
class Saving:
    """Tokens that a cache breakpoint at one place would have saved in one conversation.

    Attributes:
        place: ``"tools"`` or ``"system"``: the end of which.
        tokens: that would have been read from the cache in place of being read again.
        dollars: saved by that, less the dearer writing of the first turn; None without a price.
        why_not: why nothing would have been cached, "" where it would.
    """

    place: str
    tokens: int
    dollars: float | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Costs:
    """Cost of a session, or of one conversation of it."""

    turns: tuple[TurnCost, ...]

    @property
    def total(self) -> int:
        """Tokens, prompt and output."""
        return sum(turn.total for turn in self.turns)

    @property
    def dollars(self) -> float | None:
        """Price of the turns whose model has one; None if none has."""
        known = [turn.dollars for turn in self.turns if turn.dollars is not None]
        return sum(known) if known else None

    @property
    def unpriced_models(self) -> tuple[str, ...]:
        """Models without a price."""
        return tuple(dict.fromkeys(turn.model or "(no model)" for turn in self.turns if turn.price is None))

    def conversations(self) -> Mapping[int | None, Costs]:
        """The same by conversation."""
        ids = dict.fromkeys(turn.conversation for turn in self.turns)
        return {id: Costs(tuple(t for t in self.turns if t.conversation == id)) for id in ids}

    def savings(self) -> tuple[Saving, ...]:
        """Savings by breakpoints at the end of the tools, and of the system prompt after them."""
        of_each = [_savings(costs.turns) for costs in self.conversations().values()]
        return tuple(_sum([saving[n] for saving in of_each]) for n in range(2)) if of_each else ()


def costs_of(inspector: Inspector, prices: Prices) -> Costs:
    """Cost of a session. Inspects all of it. Raises SessionFormatError if an exchange cannot be read."""
    inspector.run()
    return Costs(tuple(turn_costs(inspector, prices)))


def turn_costs(inspector: Inspector, prices: Prices) -> Iterator[TurnCost]:
    """Every turn of what is inspected. Raises SessionFormatError where an exchange cannot be read."""
    for row in list(inspector.rows):
        if row.conversation is None:
            continue
        detail = inspector.detail(row.index)
        decoded = detail.decoded
        answer = decoded.response
        if decoded.request is None or (answer is not None and answer.error is not None):
            continue  # what was refused is not paid for
        yield _turn(decoded, decoded.request, detail.contract, row.conversation, prices)


def _turn(
    decoded: DecodedExchange, request: ModelRequest, contract: Contract, conversation: int, prices: Prices
) -> TurnCost:
    usage = decoded.response.usage if decoded.response else None
    counted_tokens = _prompt(usage)
    added = overhead(contract, request)
    weights = _weights(decoded, request)
    prompt = counted_tokens if counted_tokens is not None else sum(weights) // limits.BYTES_PER_TOKEN + added
    added = min(added, prompt)
    system, tools, history, new = _share(prompt - added, weights)
    wrote = usage.output if usage and usage.output is not None else _output_bytes(decoded) // limits.BYTES_PER_TOKEN
    least = contract.term("cost.cache-minimum")
    return TurnCost(
        index=decoded.index,
        conversation=conversation,
        model=(decoded.response.model if decoded.response else None) or request.model,
        system=system,
        overhead=added,
        tools=tools,
        history=history,
        new=new,
        cache_read=(usage.cache_read or 0) if usage else 0,
        cache_write=(usage.cache_write or 0) if usage else 0,
        output=wrote,
        reasoning=usage.reasoning if usage else None,
        is_counted=counted_tokens is not None and bool(usage and usage.output is not None),
        price=prices.of(request.model) or (prices.of(decoded.response.model) if decoded.response else None),
        least_cached=least if isinstance(least, int) else limits.LEAST_CACHED_TOKENS,
    )


def _output_bytes(decoded: DecodedExchange) -> int:
    """Bytes of what the model wrote: texts, reasoning and arguments, without what a stream wraps them in."""
    messages = decoded.response.messages if decoded.response else ()
    parts = [part for message in messages for part in message.parts]
    texts = [part.text for part in parts if isinstance(part, Text | Reasoning) and part.text]
    calls = [part for part in parts if isinstance(part, ToolCallIR)]
    texts += [f"{call.name}{call.raw or dumps(call.input).decode('utf-8', 'replace')}" for call in calls]
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def _prompt(usage: Usage | None) -> int | None:
    """Tokens of the prompt as the answer counts them, None where it does not."""
    if usage is None or usage.input is None:
        return None
    return usage.input + (usage.cache_read or 0) + (usage.cache_write or 0)


def _weights(decoded: DecodedExchange, request: ModelRequest) -> tuple[int, int, int, int]:
    """Bytes of system prompt, tools, history and what is new."""
    tools = sum(_size(decoded, tool.pointer) for tool in request.tools)
    beside = sum(_size(decoded, part.source.pointer) for part in request.system)
    last = max((n for n, m in enumerate(request.messages) if m.role in ANSWERING), default=-1)
    sizes = [(n, m.role, _size(decoded, m.pointer)) for n, m in enumerate(request.messages)]
    system = beside + sum(size for _, role, size in sizes if role in ("system", "developer"))
    messages = [(n, size) for n, role, size in sizes if role not in ("system", "developer")]
    return system, tools, sum(size for n, size in messages if n <= last), sum(size for n, size in messages if n > last)


def _size(decoded: DecodedExchange, pointer: str) -> int:
    span = decoded.place(REQUEST, pointer).span if pointer else None
    return span[1] - span[0] if span else 0


def _share(tokens: int, weights: Sequence[int]) -> list[int]:
    """Tokens in proportion to weights; the parts add up to all of them."""
    whole = sum(weights)
    if not whole:
        return [*([0] * (len(weights) - 1)), tokens]
    exact = [tokens * weight / whole for weight in weights]
    parts = [int(share) for share in exact]
    by_rest = sorted(range(len(parts)), key=lambda n: exact[n] - parts[n], reverse=True)
    for n in by_rest[: tokens - sum(parts)]:
        parts[n] += 1
    return parts


def _savings(turns: Sequence[TurnCost]) -> tuple[Saving, Saving]:
    """Savings of one conversation: tools are first on the wire, then the system prompt."""
    return (
        _saving("tools", turns, [turn.overhead + turn.tools for turn in turns]),
        _saving("system", turns, [turn.overhead + turn.tools + turn.system for turn in turns]),
    )


def _saving(place: str, turns: Sequence[TurnCost], prefixes: Sequence[int]) -> Saving:
    prefix, first = min(prefixes, default=0), turns[0]
    if len(turns) < 2:
        return Saving(place, 0, None, "only one turn: nothing to cache")
    if prefix < first.least_cached:
        return Saving(place, 0, None, f"{prefix:,} tokens: fewer than {first.least_cached:,}, the minimum for caching")
    anew = [max(0, prefix - turn.cache_read) for turn in turns[1:]]
    if not any(anew):
        return Saving(place, 0, 0.0 if first.price else None, "the prompt is already read from the cache")
    cache_tokens = max(0, prefix - first.cache_read - first.cache_write)
    return Saving(place, sum(anew), _dollars(turns, anew, cache_tokens))


def _dollars(turns: Sequence[TurnCost], anew: Sequence[int], cache_tokens: int) -> float | None:
    first = turns[0].price
    if first is None or any(turn.price is None for turn in turns):
        return None
    rates = [turn.price for turn in turns[1:]]
    gained = sum(n * (price.input - price.cache_read) for n, price in zip(anew, rates, strict=True) if price)
    return (gained - cache_tokens * (first.cache_write - first.input)) / 1e6


def _sum(found: Iterable[Saving]) -> Saving:
    """Sum over all conversations."""
    every = list(found)
    saved = [saving for saving in every if saving.tokens]
    if not saved:
        return every[0]
    known = [saving.dollars for saving in saved if saving.dollars is not None]
    return Saving(every[0].place, sum(s.tokens for s in saved), sum(known) if known else None)
