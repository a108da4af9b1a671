"""Lines of the what-if screen: variants of a request with one difference each, at several targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.safetext import clip
from workbench.tui.models.findings import labelled_lines
from workbench.tui.models.tabs import ROOMY
from workbench.tui.models.verdict_order import fold_line
from workbench.views import BLANK, REQUEST_SIGNS, Line, Span, count, duration, is_longer, line, progress_bar, wrap

if TYPE_CHECKING:
    from workbench.send import Target
    from workbench.trials.whatif import RequestVariant, VariantOutcome

NAME, TITLE = 27, 40
"""Columns of a variant's name or of its title; those of its title in a wide list."""

LEAST_TITLED = 140
"""Columns of a list that shows both, the title of a variant and its name."""

LONGEST_TITLE = 57
"""Columns of a variant's title where outcomes leave them."""

LEAST_CELL, COMFORTABLE_CELL, MOST_CELL = 18, 24, 60
"""Columns of an outcome: at least, in which most are whole, and at most."""

BRIEF_CELL = 7
"""Columns of an outcome in a narrow list, in front of the variant: its sign and the status."""

SHORT_CELL = 12
"""Columns of an outcome that is only its sign and status, where longer ones leave no room for all targets."""

MOST_ROWS = 400
"""Rows of a response's bytes."""

MORE = 3
"""Columns of the sign for further targets."""


class VariantRows:
    """Variants in the order of their rows: those that can be sent, and one row that stands for the others.

    Attributes:
        listed: numbers of the variants that have a row.
        hidden: numbers of the others; none where each variant may have a row.
    """

    def __init__(self) -> None:
        self.listed: list[int] = []
        self.hidden: list[int] = []
        self._order: list[int] = []
        self._sendable = self._room = 0
        self._is_unfolded = False

    def sort(
        self, variants: Sequence[RequestVariant], outcomes: Mapping[tuple[int, int], VariantOutcome], targets: int
    ) -> None:
        """Set the variants; one that no target can take cannot be sent."""
        known = [[outcomes.get((n, target)) for target in range(targets)] for n in range(len(variants))]
        is_refused = [bool(row) and all(one and one.exchange is None for one in row) for row in known]
        sendable = [variant.request is not None and not is_refused[n] for n, variant in enumerate(variants)]
        self._order = sorted(range(len(variants)), key=lambda n: not sendable[n])
        self._sendable = sum(sendable)
        self._arrange()

    def fit(self, room: int) -> None:
        """Give each variant a row if there are ``room`` rows or the person asked for it."""
        self._room = room
        self._arrange()

    def unfold(self) -> None:
        """Give each variant a row."""
        self._is_unfolded = True
        self._arrange()

    def _arrange(self) -> None:
        are_listed = self._is_unfolded or len(self._order) <= self._room
        rows = len(self._order) if are_listed else self._sendable
        self.listed, self.hidden = self._order[:rows], self._order[rows:]

    def count(self) -> int:
        """Number of rows."""
        return len(self.listed) + bool(self.hidden)

    def variant(self, row: int) -> int | None:
        """Number of the variant of a row; None for the row that stands for the others."""
        return self.listed[row] if row < len(self.listed) else None


def title_width(width: int, targets: int = 0) -> int:
    """Columns of a variant's title: more than usual if this many targets leave some."""
    if is_brief(targets, width):
        return min(LONGEST_TITLE, width - MORE - targets * SHORT_CELL)
    usual = _usual_title_width(width)
    spare = width - usual - _name_width(width) - MORE - targets * COMFORTABLE_CELL
    return min(LONGEST_TITLE, usual + max(0, spare)) if targets else usual


def _name_width(width: int) -> int:
    """Columns of a variant's name: a list that is not wide shows the title only."""
    return NAME if width >= LEAST_TITLED else 0


def _usual_title_width(width: int) -> int:
    return TITLE if width >= LEAST_TITLED else max(NAME, min(TITLE, width * 2 // 5))


def is_brief(targets: int, width: int) -> bool:
    """True if all targets fit side by side only with outcomes that are a sign and a status."""
    return width >= ROOMY and room(width) < targets <= (width - NAME - MORE) // SHORT_CELL


def _for_cells(width: int, targets: int) -> int:
    """Columns for the outcomes."""
    return width - title_width(width, targets) - _name_width(width) - MORE


def room(width: int) -> int:
    """Number of targets that fit side by side; in a narrow list the chosen one is shown alone."""
    return 1 if width < ROOMY else max(1, (width - _usual_title_width(width) - _name_width(width) - MORE) // LEAST_CELL)


def visible_targets(targets: int, current: int, width: int) -> range:
    """The visible targets, the chosen one among them."""
    most = targets if is_brief(targets, width) else room(width)
    first = max(0, min(current - most + 1, targets - most))
    return range(first, min(targets, first + most))


def cell_width(width: int, visible: range) -> int:
    """Columns of each outcome."""
    targets = max(1, len(visible))
    if is_brief(targets, width):
        return SHORT_CELL
    return max(LEAST_CELL, min(MOST_CELL, _for_cells(width, targets) // targets))


def columns(targets: Sequence[Target], current: int, width: int) -> Line:
    """The names of the targets."""
    visible = visible_targets(len(targets), current, width)
    more = len(targets) - len(visible)
    others = Span(f"+{more}" if more else "", "accent")
    if width < ROOMY and targets:
        return line(Span("  at ", "muted"), Span(f"▸{targets[current].name}", "tab"), "  ", others)
    each = cell_width(width, visible)
    family = _family(targets) if is_brief(len(visible), width) else ""
    heading = f"  variant{f' · {family}' if family else ''}"
    columns = title_width(width, len(visible)) + _name_width(width) + 2
    spans = [Span(clip(heading, columns - 1), "muted", columns)]
    for n in visible:
        name = f"{'▸' if n == current else ' '}{_end(targets[n].name.removeprefix(family), each - 3)}"
        spans += [Span(name, "tab" if n == current else "strong", each - 1), Span(" ")]
    return (*spans, others)


def _end(name: str, most: int) -> str:
    """A name, or as much of its end, which tells it from its siblings."""
    return name if len(name) <= most else f"…{name[1 - most :]}"


def _family(targets: Sequence[Target]) -> str:
    """What the names of all targets begin with, up to a colon."""
    first = targets[0].name
    ends = (n + 1 for n in range(len(first), -1, -1) if first[n : n + 1] == ":")
    return next((first[:end] for end in ends if all(each.name.startswith(first[:end]) for each in targets)), "")


def row(
    variant: RequestVariant, outcomes: Sequence[VariantOutcome | bool], current: int | None, visible: range, width: int
) -> Line:
    """A variant with its outcome at each target; True for an outcome that is still awaited.

    In a narrow list the outcome comes first, by its sign and status, so that the variant is not cut.
    """
    is_unsent = all(not isinstance(each, bool) and each.exchange is None for each in outcomes)
    style = "muted" if variant.request is None or is_unsent else "strong"
    if width < ROOMY:
        sign, words, shade = _brief(outcomes[visible[0]]) if variant.request and visible else ("·", "", "muted")
        text = f"{variant.title}{f': {variant.why_not}' if variant.why_not else ''}"
        return line(Span(f"{sign} {words}", shade, BRIEF_CELL), Span(text, style))
    spans = [*_name(variant, style, width, title_width(width, len(visible))), Span(" ")]
    each = cell_width(width, visible)
    if variant.request is None:
        return (*spans, Span(f"· {variant.why_not}", "muted"))
    words_of = _brief if is_brief(len(visible), width) else cell
    reasons = {cell(outcome) for outcome in outcomes}
    if is_unsent and len(reasons) == 1 and len(outcomes) > 1:
        ((sign, words, shade),) = reasons
        return (*spans, Span(f"{sign} {words}", shade))
    for n in visible:
        sign, words, shade = words_of(outcomes[n])
        mark = " lit" if n == current else ""
        spans += [Span(f"{sign} {words}", f"{shade}{mark}", each - 1), Span(" ")]
    return tuple(spans)


def _name(variant: RequestVariant, style: str, width: int, columns: int) -> Line:
    if width < LEAST_TITLED:
        return line(Span(clip(variant.title, columns - 1), style, columns - 1))
    return line(Span(clip(variant.title, columns - 2), style, columns), Span(variant.name, "muted", NAME - 1))


def folded_line(variants: Sequence[RequestVariant], *, has_names: bool) -> Line:
    """Row that stands for the variants that cannot be sent."""
    words = f"{count(len(variants), 'other variant')} cannot be sent"
    return fold_line(Span("· ", "muted"), words, [variant.title for variant in variants if has_names])


def folded_details(variants: Iterable[RequestVariant], width: int) -> list[Line]:
    """Names of the variants that cannot be sent, and why."""
    return [
        each
        for variant in variants
        for each in labelled_names(variant.name, variant.why_not or "no target here supports this protocol", width)
    ]


def labelled_names(name: str, text: str, width: int) -> list[Line]:
    """A name and a text beside it, wrapped."""
    lines = wrap(text, width - NAME - 2, "muted")
    return [line(Span("" if n else f"  {name}", "", NAME + 2), *words) for n, words in enumerate(lines)]


def cell(outcome: VariantOutcome | bool) -> tuple[str, str, str]:
    """Sign, words and style of an outcome."""
    if isinstance(outcome, bool):
        return ("…", "sending", "muted") if outcome else (" ", "not sent", "muted")
    if outcome.exchange is None:
        return "·", outcome.text.removeprefix(f"{outcome.target.name} ").partition("; ")[0], "muted"
    sign, style = REQUEST_SIGNS[outcome.verdict.value]
    took = "" if outcome.target.is_simulator else duration(outcome.exchange.duration)
    if outcome.verdict.value != "accepts" and outcome.finding:
        return sign, outcome.finding.rule, style
    text = took if outcome.verdict.value == "accepts" else _first_clause(outcome.text)
    return sign, " ".join(f for f in (str(outcome.status or ""), text) if f), style


def _brief(outcome: VariantOutcome | bool) -> tuple[str, str, str]:
    """Sign, status and style of an outcome."""
    if isinstance(outcome, bool) or outcome.exchange is None:
        return ("…" if outcome is True else " " if outcome is False else "·"), "", "muted"
    sign, style = REQUEST_SIGNS[outcome.verdict.value]
    return sign, str(outcome.status or ""), style


def _first_clause(text: str) -> str:
    """The first clause of a text; of a note in brackets without its bracket."""
    clause, rest, _ = text.partition("; ")
    return clause.removeprefix("(") if rest and text.endswith(")") else clause


def details(variant: RequestVariant, target: Target, outcome: VariantOutcome | bool, width: int) -> list[Line]:
    """Details of one variant at one target, without the words of a response: that is shown beside them."""
    title = line(Span(f"  {variant.title}", "strong"), Span(f" → {target.name}", "accent"))
    lines = wrap(variant.title, width, "strong", indent=2) if is_longer(title, width) else [title]
    if variant.request is None:
        return lines + labelled_lines("why not", variant.why_not, width, "muted")
    if isinstance(outcome, bool):
        return lines + wrap("sending …" if outcome else "not sent yet · s: send", width, "muted", indent=2)
    if outcome.exchange is None:
        return lines + labelled_lines("not sent", outcome.text, width, "muted")
    sign, style = REQUEST_SIGNS[outcome.verdict.value]
    took = duration(outcome.exchange.duration)
    facts = " · ".join(f for f in (str(outcome.status or "no response"), took, "enter: show") if f)
    lines.append(line(Span(f"  {sign} {outcome.verdict.value}", f"{style} strong"), Span(f"  {facts}", "muted")))
    found = outcome.finding
    for label, text, shade in (
        ("why", "" if outcome.status else outcome.text, style),
        ("finding", f"{found.rule}: {found.message}" if found else "", ""),
        ("calls", ", ".join(outcome.calls), ""),
        (
            "lost",
            f"{count(outcome.losses, 'loss')} in the conversion to another protocol" if outcome.losses else "",
            "warning",
        ),
    ):
        lines += labelled_lines(label, text, width, shade, most=12)
    return lines


def response_lines(outcome: VariantOutcome | bool, width: int) -> list[Line]:
    """The response to a variant: its items, then its bytes unless it is a stream."""
    from workbench.tui.models.rows import layout_rows
    from workbench.tui.models.send_answer import answer_lines, answer_texts

    decoded = None if isinstance(outcome, bool) else outcome.decoded
    lines = answer_lines(answer_texts(decoded), width) if decoded else []
    body = decoded.response_text if decoded and not decoded.events else b""
    return [*lines, BLANK, *layout_rows(body, width, MOST_ROWS)] if body else lines


def summary(asked: int, outcomes: Iterable[VariantOutcome]) -> Line:
    """Number of requests sent, and counts of their verdicts."""
    known = list(outcomes)
    tally = Counter(outcome.verdict.value for outcome in known if outcome.exchange)
    sent = tally.total()
    unasked = len(known) - sent
    waiting = asked - len(known)
    spans = [Span(f"{sent:,} sent", "strong")]
    for verdict, (sign, style) in REQUEST_SIGNS.items():
        if tally[verdict]:
            word = verdict.removesuffix("s") if verdict != "suspicious" and tally[verdict] > 1 else verdict
            spans += [Span(" · ", "muted"), Span(f"{sign} {tally[verdict]:,} {word}", style)]
    spans += [Span(f" · {unasked:,} cannot be sent", "muted")] if unasked else []
    bar = f" · {progress_bar(len(known), asked)} {waiting:,} remaining"
    return (*spans, Span(bar if waiting else "", "muted"))


def question(target: Target, host: str, requests: int, key: str) -> str:
    """Question asked before requests go to a real endpoint."""
    what = f"{count(requests, 'request')}, each with this whole conversation, go to {host} ({target.name}) with {key}."
    return f"{what} The requests may cost money. Tools are never run."
