"""Lines of the metrics screen: tokens, cost and rates as bars of block characters, with their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.safetext import cells
from workbench.tui.models.headline import LEAST
from workbench.tui.models.tabs import Panes
from workbench.views import RATES, Line, Rate, Span, count, line, money, plain, saving_words, share_of, wrap

if TYPE_CHECKING:
    from workbench.library import SessionMetrics
    from workbench.rules import Costs, Counts, TurnCost

VIEWS: Panes = (("tokens", "Tokens"), ("cost", "Cost"), ("rates", "Rates"))

NEVER = "nothing is sent · tools are never run"


class TokenKind(NamedTuple):
    """A kind of tokens: name, sign and style of its segment of a bar, and description."""

    name: str
    sign: str
    style: str
    text: str


PARTS = (
    TokenKind("system", "▓", "role", "the system prompt"),
    TokenKind("overhead", "░", "warning", "added by the provider for declared tools"),
    TokenKind("tools", "▚", "call", "tool definitions"),
    TokenKind("history", "▒", "muted", "sent again: everything up to the last response"),
    TokenKind("new", "█", "ok", "new: user messages, tool results"),
    TokenKind("output", "▄", "accent", "written by the model, including reasoning"),
)
"""In the order of a bar; all but the last make up the prompt. Signs side by side differ much, without colours too."""

CACHED = "│"
"""In a bar: everything before it was read from a cache."""


LABEL = 26
"""Columns of a session's name, at most."""

TURN, SIDE = 8, 12
"""Columns of a turn's; where turns of side conversations are named."""

SIDE_WORD = " side"

ROOMY = 50
"""Columns of a row that has a column for cached tokens."""

LEAST_SPACED = 78
"""Columns from which on the mark of cached tokens is explained."""

LEAST_TOLD = 68
"""Columns of a row of details that says what its tokens are."""

RATE = 18
"""Columns of a rate's."""


class ChartRow(NamedTuple):
    """A row of a chart: a turn, a session, or a rate of a group.

    Attributes:
        label: text in front of the bar.
        tokens: number of tokens for each of ``PARTS``.
        is_side: the turn is of another conversation than most turns.
        session: number of the session; None if the row is no session.
        turn: number of the turn in it; None if the row is no turn.
    """

    label: str
    tokens: tuple[int, ...] = ()
    cached: int = 0
    dollars: float | None = None
    is_counted: bool = True
    is_side: bool = False
    session: int | None = None
    turn: int | None = None
    group: Counts | None = None
    rate: Rate | None = None
    trouble: str = ""

    @property
    def prompt(self) -> int:
        """Tokens that were sent."""
        return sum(self.tokens[:-1])


def of_turns(session: int, costs: Costs) -> list[ChartRow]:
    """A row for each turn."""
    longest = Counter(turn.conversation for turn in costs.turns).most_common(1)
    return [
        ChartRow(
            f"{turn.index + 1:>5}{SIDE_WORD if (is_side := turn.conversation != longest[0][0]) else ''}",
            _tokens(turn),
            turn.cache_read,
            turn.dollars,
            turn.is_counted,
            is_side,
            session,
            number,
        )
        for number, turn in enumerate(costs.turns)
    ]


def of_sessions(session_metrics: Sequence[SessionMetrics]) -> list[ChartRow]:
    """A row for each session; for an unreadable one, the reason."""
    rows = []
    for number, one in enumerate(session_metrics):
        turns = one.costs.turns
        summed = tuple(sum(tokens) for tokens in zip(*map(_tokens, turns), strict=True)) or (0,) * len(PARTS)
        cached = sum(turn.cache_read for turn in turns)
        counted = all(turn.is_counted for turn in turns)
        rows.append(
            ChartRow(one.path.stem, summed, cached, one.costs.dollars, counted, session=number, trouble=one.trouble)
        )
    return rows


def of_groups(groups: dict[str, Counts]) -> list[ChartRow]:
    """A heading for each group, followed by its rates."""
    rows = []
    for name, counts in groups.items():
        rows.append(ChartRow(name or "(not known)", group=counts))
        rows += (ChartRow(rate.name, group=counts, rate=rate) for rate in RATES)
    return rows


def _tokens(turn: TurnCost) -> tuple[int, ...]:
    return tuple(getattr(turn, part.name) for part in PARTS)


# Bars.


def token_bar(tokens: Sequence[int], cached: int, most: int, width: int) -> Line:
    """Bar with a segment for each kind of tokens; ``most`` tokens fill the width. Nonzero segments stay visible."""
    whole = sum(tokens)
    room = max(1, round(width * whole / most)) if most and whole else 0
    lengths = _lengths(tokens, room)
    spans = [Span(part.sign * n, part.style) for part, n in zip(PARTS, lengths, strict=True) if n]
    if cached and whole and room:
        return _cut(spans, min(room - 1, round(room * cached / whole)), width)
    return (*spans, Span("", "", width - sum(lengths))) if width > sum(lengths) else tuple(spans)


def _lengths(tokens: Sequence[int], room: int) -> list[int]:
    """Columns of each segment: at least one for a nonzero number, the larger ones if there is no room for all."""
    whole = sum(tokens)
    if not whole or not room:
        return [0] * len(tokens)
    lengths = [max(1, round(room * n / whole)) if n else 0 for n in tokens]
    while sum(lengths) > room:
        longest = max(lengths)
        least = min((k for k in range(len(lengths)) if lengths[k]), key=lambda k: tokens[k])
        lengths[lengths.index(longest) if longest > 1 else least] -= 1
    while sum(lengths) < room:
        lengths[max(range(len(tokens)), key=lambda k: tokens[k])] += 1
    return lengths


def _cut(spans: Sequence[Span], at: int, width: int) -> Line:
    """The bar with the cache mark in one of its columns."""
    text = [(char, span.style) for span in spans for char in span.text]
    cut_spans = [Span(char, style) for char, style in text]
    cut_spans[at] = Span(CACHED, "strong")
    rest = width - len(cut_spans)
    return (*cut_spans, Span("", "", rest)) if rest > 0 else tuple(cut_spans)


def plain_bar(share: float, width: int, style: str) -> Line:
    """Bar of a share between 0 and 1, filled up with dots."""
    length = min(width, max(1, round(width * share))) if share else 0
    return (Span("█" * length, style), Span("·" * (width - length), "muted"))


def legend(view: str, width: int) -> list[Line]:
    """Legend of the segments of a bar, on as many lines as it needs."""
    if view == "tokens":
        pieces = [line(Span(f"  {part.sign}", part.style), Span(f" {part.name}")) for part in PARTS]
        cached = f"  {CACHED} cached up to here" if width >= LEAST_SPACED else f"  {CACHED} cached"
        return _fill([*pieces, line(Span(cached, "strong"))], width)
    if view == "cost":
        return [line(Span(" cost at list price; tokens of prompt and output", "muted"))]
    return [line(Span(" each bar shows a share of the total", "muted"))]


def _fill(pieces: Sequence[Line], width: int) -> list[Line]:
    """Pieces one after the other on lines; none is broken."""
    lines: list[Line] = [()]
    for piece in pieces:
        fits = cells(plain(lines[-1])) + cells(plain(piece)) <= width
        lines = [*lines[:-1], (*lines[-1], *piece)] if fits else [*lines, piece]
    return lines


# Rows.


class ChartScale(NamedTuple):
    """What the rows of a chart have in common.

    Attributes:
        most: value of the longest bar.
        label: columns of the labels.
        has_cache, has_output: there is a column for cached, and for output tokens.
    """

    most: float = 0.0
    label: int = LABEL
    has_cache: bool = False
    has_output: bool = True


def scale_of(items: Sequence[ChartRow], view: str, width: int) -> ChartScale:
    """The scale for the rows of a view; a narrow one has no column for cached tokens, which its bars mark."""
    values = [(item.dollars or 0.0) if view == "cost" else float(sum(item.tokens)) for item in items]
    is_session = any(item.turn is not None for item in items)
    turn = SIDE if any(item.is_side for item in items) else TURN
    has_cache = width >= ROOMY and any(item.cached for item in items)
    return ChartScale(
        max(values, default=0.0), turn if is_session else min(LABEL, width // 2), has_cache, width >= ROOMY
    )


def head(view: str, is_session: bool, scale: ChartScale) -> Line:
    """The names of the columns."""
    if view == "rates":
        return ()
    numbers = _numbers("prompt", "cached", "output", scale) if view == "tokens" else f"{'cost':>9}{'tokens':>10}  "
    return line(Span(f"  {'exchange' if is_session else 'session'}", "muted", scale.label + 2), Span(numbers, "muted"))


def row(item: ChartRow, view: str, scale: ChartScale, width: int) -> Line:
    """A row of a chart: its label, its numbers, its bar."""
    if item.rate and item.group:
        return _rate_row(item, item.rate, item.group, width)
    if item.group:
        return _group_row(item.label, item.group)
    label = (Span(item.label, "muted" if item.is_side else "strong", scale.label - 1), Span(" "))
    if item.trouble:
        return (*label, Span(f"? {item.trouble}", "muted"))
    if not sum(item.tokens):
        return (*label, Span("no exchange with a model response", "muted"))
    chart = _token_row if view == "tokens" else _cost_row
    return (*label, *chart(item, scale, width - scale.label))


def _token_row(item: ChartRow, scale: ChartScale, width: int) -> Line:
    sign = "" if item.is_counted else "~"
    cached = f"{item.cached:,}" if item.cached else "-"
    numbers = _numbers(f"{sign}{item.prompt:,}", cached, f"{sign}{item.tokens[-1]:,}", scale)
    return (Span(numbers), *token_bar(item.tokens, item.cached, int(scale.most), max(4, width - len(numbers))))


def _numbers(prompt: str, cached: str, output: str, scale: ChartScale) -> str:
    """Numbers of a row in their columns."""
    return f"{prompt:>8}{f'{cached:>9}' if scale.has_cache else ''}{f'{output:>8}' if scale.has_output else ''}  "


def _cost_row(item: ChartRow, scale: ChartScale, width: int) -> Line:
    tokens = f"{'' if item.is_counted else '~'}{sum(item.tokens):,}"
    price = "-" if item.dollars is None else money(item.dollars)
    numbers = Span(f"{price:>9}{tokens:>10}  ")
    if item.dollars is None:
        return (numbers, Span("no price known for this model", "muted"))
    share = item.dollars / scale.most if scale.most else 0.0
    return (numbers, *plain_bar(share, max(4, width - len(numbers.text)), "warning"))


def _rate_row(item: ChartRow, rate: Rate, counts: Counts, width: int) -> Line:
    part, whole = share_of(rate, counts)
    label = Span(f"  {rate.name} ", "", RATE + 2)
    if not whole:
        return line(label, Span("no model responses to count", "muted"))
    numbers = f"{part:,}/{whole:,}"
    bar = plain_bar(part / whole, max(4, width - RATE - 22), rate.style)
    return (label, Span(f"{numbers:>11}", "strong"), Span(f"{part / whole:>6.0%}  "), *bar)


def _group_row(name: str, counts: Counts) -> Line:
    sign = "~" if counts.estimated else ""
    text = f"{count(counts.exchanges, 'exchange')} · {count(counts.calls, 'call')} · {sign}{counts.prompt:,} tokens in"
    cost = f" · {money(counts.dollars)}" if counts.dollars else ""
    return line(Span(f"{name}  ", "accent strong"), Span(f"{text}, {sign}{counts.output:,} out{cost}", "muted"))


# What is below.


def details(item: ChartRow | None, session_metrics: Sequence[SessionMetrics], view: str, width: int) -> list[Line]:
    """Everything about the row under the cursor."""
    if item is None:
        return []
    if item.rate and item.group:
        return list(_about_rate(item.rate, item.group, width))
    if item.group:
        return wrap(f"{item.label}: rates below · b: change the grouping", width, "muted")
    if item.trouble:
        return wrap(item.trouble, width, "error")
    one = session_metrics[item.session] if item.session is not None else None
    lines = list(_about_turn(one.costs.turns[item.turn], width)) if one and item.turn is not None else []
    if one and item.turn is None:
        lines += _parts(item, width)
        lines += wrap("enter: show it turn by turn", width, "muted")
    return [*lines, *(_savings(one.costs, width) if one else ())]


def _about_rate(rate: Rate, counts: Counts, width: int) -> Iterator[Line]:
    part, whole = share_of(rate, counts)
    yield line(Span(f"{rate.name}  ", "strong"), Span(f"{part:,} of {whole:,}"))
    yield from wrap(rate.text, width, "muted")


def _about_turn(turn: TurnCost, width: int) -> Iterator[Line]:
    model = turn.model or "(no model)"
    cost = f" · {money(turn.dollars)}" if turn.dollars is not None else " · no price known"
    counted = "" if turn.is_counted else " · estimated from bytes"
    yield line(Span(f"exchange {turn.index + 1}  ", "strong"), Span(f"{model}{cost}{counted}", "muted"))
    tokens = _tokens(turn)
    yield from _parts(ChartRow("", tokens, turn.cache_read), width)
    if turn.reasoning:
        yield line(Span(f"  {turn.reasoning:,} tokens of the output are reasoning", "muted"))
    if turn.cache_read or turn.cache_write:
        words = f"  read from the cache {turn.cache_read:,} · written to the cache {turn.cache_write:,}"
        yield line(Span(words, "strong"))


def _parts(item: ChartRow, width: int) -> Iterator[Line]:
    most = max(item.tokens, default=0)
    for part, tokens in zip(PARTS, item.tokens, strict=True):
        room = max(4, min(24, width - LEAST_TOLD))
        length = max(1, round(room * tokens / most)) if tokens else 0
        yield line(
            Span(f"  {part.name}", "", 11),
            Span(f"{tokens:,} ", "strong" if tokens else "muted", -10),
            Span(part.sign * length, part.style, room + 1),
            Span(part.text if width >= LEAST_TOLD else "", "muted"),
        )


def _savings(costs: Costs, width: int) -> Iterator[Line]:
    for saving in costs.savings():
        yield from wrap(saving_words(saving), width, "" if saving.tokens else "muted", indent=2)
    if costs.unpriced_models:
        yield from wrap(f"no price for {', '.join(costs.unpriced_models)}", width, "muted", indent=2)


# What is above.


def title(name: str, width: int) -> Line:
    """Names of the sessions, and the promise that nothing is sent."""
    from workbench.safetext import clip

    words = f"{NEVER if width >= LEAST else 'nothing is sent'} "
    named = f" Metrics   {clip(name, max(8, width - cells(words) - 14))}"
    return line(Span(named, "strong"), Span(words, "ok", -max(0, width - cells(named))))


def progress_line(session_metrics: Sequence[SessionMetrics], going: str, date: str) -> Line:
    """Progress, and totals of turns, tokens and cost."""
    read = [one for one in session_metrics if not one.trouble]
    tokens = sum(one.costs.total for one in read)
    known = [one.costs.dollars for one in read if one.costs.dollars is not None]
    turns = sum(len(one.costs.turns) for one in read)
    cost = f" · {money(sum(known))} · list prices of {date}" if known else ""
    of = f"{count(len(read), 'session')} · " if len(session_metrics) != 1 else ""
    return line(
        Span(f" {going} · " if going else " ", "accent strong"),
        Span(f"{of}{count(turns, 'turn')} · {tokens:,} tokens{cost}", "strong"),
        Span("; ~ estimated" if any(not t.is_counted for one in read for t in one.costs.turns) else "", "muted"),
    )
