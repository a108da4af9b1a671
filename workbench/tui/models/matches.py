"""Lines of the rules behind an error text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.models.tabs import ROOMY
from workbench.views import Line, Span, line, wrap

if TYPE_CHECKING:
    from workbench.contracts import Match
    from workbench.contracts.pages import Page

UNKNOWN = (
    "No rule matches this error message.",
    "Paste the whole message, with the status and the surrounding JSON: rules are matched by the provider's own "
    "error text, not by the text of a client library.",
    "Otherwise check the request: record it (r on Home), or open a file that contains it (o).",
)
EMPTY = "all rules, most known errors first"


class RuleMatch(NamedTuple):
    """A rule that may explain an error text.

    Attributes:
        rule: slug of the rule; or the kind of failure, if no single rule fits.
        said: provider of the text, or the title of the rule.
        text: further lines.
        page: slug of the rule page to open; "" for none.
    """

    rule: str
    said: str
    text: tuple[str, ...] = ()
    page: str = ""


def of_matches(matches: Sequence[Match]) -> list[RuleMatch]:
    """The rules that may explain a text, the most likely first."""
    from workbench.contracts import error_text_lines

    rows = []
    for match in matches:
        where = f", {match.where}" if match.where else ""
        _, *rest = error_text_lines.match_lines(match, 10_000)
        origin = f"{'a guess, ' if match.is_guess else ''}from {match.provider}{where}" + (
            f" with status {match.status}" if match.status else ""
        )
        page = next(iter((*filter(None, (match.rule,)), *match.rules)), "")
        name = match.rule or match.kind or "no rule"
        rows.append(RuleMatch(name, f"{match.when}: {origin}" if match.when else origin, tuple(rest), page))
    return _merge(rows)


def _merge(rule_matches: Sequence[RuleMatch]) -> list[RuleMatch]:
    """One match for each rule, in the order of the first ones, with what each said."""
    merged: dict[str, RuleMatch] = {}
    for one in rule_matches:
        first = merged.setdefault(one.rule, one)
        if one.said not in first.said:
            merged[one.rule] = first._replace(said=f"{first.said}; also {one.said}")
    return list(merged.values())


def of_rules(rule_pages: Iterable[Page]) -> list[RuleMatch]:
    """Rules by their pages, shown while there is no text."""
    return [RuleMatch(page.slug, page.summary, page=page.slug) for page in rule_pages]


def known_line(rule_match: RuleMatch, width: int) -> Line:
    """A rule in one line; in a narrow list its name."""
    span = Span(rule_match.said, "muted") if width >= ROOMY else Span("")
    return line(Span(rule_match.rule, "strong", 30), span)


def known_body(rule_match: RuleMatch, width: int) -> list[Line]:
    """Further lines of a rule: what to look for, how to record it, sources; in a narrow list first what it says."""
    lines = wrap(rule_match.said, width, "muted", indent=2) if width < ROOMY else []
    for text in rule_match.text:
        bare = text.lstrip(" ")
        style = "" if text.startswith(" ") else "accent"
        lines += _hanging(bare, width, style, 2 + len(text) - len(bare)) if bare else []
    return lines


def _hanging(text: str, width: int, style: str, indent: int) -> list[Line]:
    """A wrapped text; in a list item, further lines are aligned with the words, not with the dash."""
    dash = "- " if text.startswith("- ") else ""
    first, *rest = wrap(text.removeprefix(dash) or " ", width, style, indent=indent + len(dash), most=12)
    return [line(" " * indent + dash, *first[1:]), *rest]


def nothing(has_text: bool, is_known: bool, width: int) -> list[Line]:
    """Text shown if no rule matches."""
    texts = UNKNOWN if has_text and is_known else ("searching …",)
    return [each for n, text in enumerate(texts) for each in wrap(text, width, "" if n else "strong")]
