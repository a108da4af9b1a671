"""Lines of a response next to the recorded one: differences in meaning and in bytes, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.diff import common
from workbench.safetext import cells, clip, from_bytes
from workbench.tui.models.rows import layout_rows as laid_out_bytes
from workbench.tui.models.tools import format_json
from workbench.views import Line, Span, count, duration, line, plain, size, wrap
from workbench.wire import State

if TYPE_CHECKING:
    from workbench.diff import AnswerItem
    from workbench.edits.branches import BranchNode
    from workbench.protocols import DecodedExchange
    from workbench.rules import CheckedVariant
    from workbench.send import RetryWait

BEFORE, AFTER, BOTH = "before", "after", "both"
"""Sides: the response or responses that are shown."""

LEAST_COLUMN = 44
"""Least columns of a response, for both to be shown side by side."""

MOST_SAME = 6
"""Lines shown of an item that is the same in both responses, at most."""

MOST_LINES = 400

KIND = 15
"""Columns of the kind of an item in front of its text."""

MOST_DATA = 2000
"""Bytes of an event's data shown in its line."""

LEAST_COMMON = 24
"""Characters that the data of two events have in common, from which on they are left out."""

MARGIN = 6
"""Columns in front of the data of an event that is open."""

SHORT = 32
"""Characters of both contents of an item, if they are shown on one line."""

LEAST_SHARED = 0.2
"""Least share of a text that both have, for only the differing part to be marked; below it, all of it is marked."""


def branch_of(node: BranchNode, branch_node: BranchNode, session: str) -> str:
    """Name of the session with a re-sent exchange, made from the name of the original session."""
    what = branch_node.name or node.name or (branch_node.title if node.parent is None else node.title)
    return f'branch "{clip(what, 36)}" of {session}'


class ContentText(NamedTuple):
    """Content of a response on one item; ``marked`` is the range of characters that differs from the other one."""

    text: str
    marked: tuple[int, int] = (0, 0)


class AnswerRow(NamedTuple):
    """One item of both responses.

    Attributes:
        kind: kind of the item.
        before, after: its content in each response; None if the response does not have it.
        note: the difference.
        is_same: True if both have the same meaning.
    """

    kind: str
    before: ContentText | None
    after: ContentText | None
    note: str = ""
    is_same: bool = False


class ResponseComparison(NamedTuple):
    """Two responses: the recorded one, and the new one as far as received. Created in the inspector's thread.

    Attributes:
        rows: their items in the order of the new response; then their bytes.
        body: body of a response that is not a stream.
        trial: result of the rules on the complete new exchange; None until then.
    """

    before: DecodedExchange
    after: DecodedExchange
    rows: tuple[AnswerRow, ...]
    body: bytes = b""
    trial: CheckedVariant | None = None


def compare_responses(
    before: DecodedExchange, after: DecodedExchange, trial: CheckedVariant | None = None
) -> ResponseComparison:
    """Compare two responses."""
    from workbench.diff import compare_answers

    answers = compare_answers(before, after)
    found = tuple(_row(pair.before, pair.after, is_same=pair.is_same) for pair in answers.pairs)
    body = b"" if after.events else after.response_text
    return ResponseComparison(before, after, (*found, *_bytes(before, after, answers.first)), body, trial)


def _bytes(before: DecodedExchange, after: DecodedExchange, first: int | None) -> Iterator[AnswerRow]:
    """Sizes of the bodies, and the first byte that differs."""
    old, new = _length(before), _length(after)
    if old and new:
        note = "identical" if first is None else f"first difference at byte {first:,}" if first else ""
        yield AnswerRow("bytes", old, new, note, first is None)
    elif old or new:
        yield AnswerRow("bytes", old, new)


def _length(decoded: DecodedExchange) -> ContentText | None:
    return ContentText(size(len(decoded.response_text))) if decoded.exchange.response else None


def _row(before: AnswerItem | None, after: AnswerItem | None, *, is_same: bool) -> AnswerRow:
    answer_text = after or before
    assert answer_text
    if before is None or after is None or is_same:
        old, new = (None if item is None else ContentText(_text(item)) for item in (before, after))
        return AnswerRow(answer_text.kind, old, new, is_same=is_same)
    olds, news = _text(before), _text(after)
    start = common(olds, news)
    rest = min(len(olds), len(news)) - start
    end = common(olds[len(olds) - rest :][::-1], news[len(news) - rest :][::-1])
    is_long = answer_text.kind in ("text", "reasoning")
    note = f"{len(olds):,} → {len(news):,} characters, first difference at character {start + 1:,}"
    is_alike = start + end >= LEAST_SHARED * min(len(olds), len(news))
    old, new = (ContentText(text, (start, len(text) - end) if is_alike else (0, 0)) for text in (olds, news))
    return AnswerRow(answer_text.kind, old, new, note if is_long else "")


def answer_texts(decoded: DecodedExchange) -> tuple[tuple[str, str], ...]:
    """Kind and text of each item of a response: status, texts, calls, finish reason, usage; empty without one."""
    from workbench.diff import compare_answers

    if decoded.exchange.response is None:
        return ()
    items = [pair.after for pair in compare_answers(decoded, decoded).pairs if pair.after]
    return tuple((item.kind, _text(item)) for item in items)


def answer_lines(texts: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """A response, each item with its kind in front."""
    lines: list[Line] = []
    for kind, text in texts:
        wrapped = wrap(text, width - KIND, "error" if kind == "error" else "", most=MOST_LINES) or [()]
        lines += [line(Span("" if n else kind, "role", KIND), *words) for n, words in enumerate(wrapped)]
    return lines


def _text(item: AnswerItem) -> str:
    value = item.value
    if isinstance(value, dict) and item.kind == "usage":
        value = " · ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in value.items())
    text = value if isinstance(value, str) else "" if value is None else format_json(value)
    if item.kind == "call":
        return f"{item.label or '(no name)'} {text}"
    if item.kind == "reasoning" and value is not None and not isinstance(value, str):
        return f"{item.label}, not readable: {len(text):,} characters"
    return f"{item.label}: {text}" if item.label and item.kind == "error" else text or '""'


def head(row: AnswerRow, *, is_over: bool) -> Line:
    """Kind of a row, and if both sides are the same; an item missing from an open response may still arrive."""
    if row.after is None and not is_over:
        sign, style, word = "…", "muted", "not received yet"
    elif row.before is None:
        sign, style, word = "+", "ok", "only in new"
    elif row.after is None:
        is_gain = row.kind == "error"
        sign, style, word = "-", "ok" if is_gain else "error", "only in original"
    else:
        sign, style, word = ("=", "muted", "same") if row.is_same else ("≠", "warning", "differs")
    return line(
        Span(f"{sign} ", style), Span(f"{row.kind} ", "role", 15), Span(word, style), Span(f"  {row.note}", "muted")
    )


def body(row: AnswerRow, width: int, side: str) -> list[Line]:
    """Content of one side, or of both side by side, with the differences marked."""
    if side != BOTH:
        return _column(_one_side(row, side), width - 2, row, "  ")
    room = (width - 5) // 2
    return side_by_side(_column(row.before, room, row), _column(row.after, room, row), room)


def _one_side(row: AnswerRow, side: str) -> ContentText | None:
    """Content to show if there is room for one side: both if they are short, that of the other if it has none."""
    if row.before and row.after:
        both = ContentText(f"{row.before.text} → {row.after.text}")
        is_short = not row.is_same and len(both.text) <= SHORT and "\n" not in both.text
        return both if is_short else row.before if side == BEFORE else row.after
    return row.before or row.after


def side_by_side(olds: list[Line], news: list[Line], room: int, margin: str = "  ") -> list[Line]:
    """Two columns of lines, ``room`` columns wide each, behind a margin."""
    rows = []
    for n in range(max(len(olds), len(news))):
        left, right = (lines[n] if n < len(lines) else () for lines in (olds, news))
        padding = Span(" " * max(0, room - cells(plain(left))))
        rows.append(line(margin, *left, padding, Span(" │ ", "muted"), *right))
    return rows


def columns(comparison: ResponseComparison, width: int, side: str, where: str) -> Line:
    """Headings of the columns."""
    old = f"Original · {_facts(comparison.before)}"
    new = f"New · {where} · {_facts(comparison.after)}"
    if side != BOTH:
        side_lines, other = (old, "shift+tab: the new one") if side == BEFORE else (new, "tab: the original")
        return line(Span(f"  {side_lines}", "accent strong"), Span(f"   {other}", "muted"))
    room = (width - 5) // 2
    return line("  ", Span(old, "accent strong", room), Span(" │ ", "muted"), Span(new, "accent strong"))


def _facts(decoded: DecodedExchange) -> str:
    exchange = decoded.exchange
    if exchange.response is None:
        return exchange.note or ("no response yet" if exchange.state is State.OPEN else "no response recorded")
    status = str(exchange.response.status) if exchange.response.status else "no status"
    how = {State.OPEN: "arriving", State.ABORTED: "aborted", State.INCOMPLETE: "incomplete"}.get(exchange.state, "")
    return " · ".join(f for f in (status, duration(exchange.duration), how) if f)


def _column(content_text: ContentText | None, room: int, row: AnswerRow, margin: str = "") -> list[Line]:
    if content_text is None:
        return [line(margin, Span("—", "muted"))]
    style = "muted" if row.is_same else "error" if row.kind == "error" else ""
    lines = wrap(content_text.text, room, style, most=MOST_SAME if row.is_same else MOST_LINES)
    return [line(margin, *each) for each in _mark_range(lines, content_text.text, *content_text.marked)] or [
        line(margin)
    ]


def _mark_range(lines: list[Line], text: str, start: int, end: int) -> list[Line]:
    """The wrapped lines of a text with a range of its characters marked."""
    marked, at = list[Line](), 0
    for each in lines:
        span = each[-1]
        found = text.find(span.text, at)
        if found < 0:
            marked.append(each)
            continue
        at = found + len(span.text)
        first, last = max(start - found, 0), min(end - found, len(span.text))
        if first >= last:
            marked.append(each)
            continue
        lit_style = f"{span.style} doubtful".strip()
        pieces = (span.text[:first], span.style), (span.text[first:last], lit_style), (span.text[last:], span.style)
        marked.append((*each[:-1], *(Span(piece, style) for piece, style in pieces if piece)))
    return marked


def verdict(comparison: ResponseComparison) -> Line:
    """Outcome of the new request beside that of the original."""
    old, new = (d.exchange.response.status if d.exchange.response else 0 for d in (comparison.before, comparison.after))
    was = f"the original was {'accepted' if _is_fine(old) else 'refused'} ({old})" if old else "no original"
    exchange = comparison.after.exchange
    if exchange.state is not State.COMPLETE or not new:
        return line(
            Span(f"! {exchange.note or 'the request was cancelled'}", "warning strong"), Span(f" · {was}", "muted")
        )
    if _is_fine(new) and comparison.after.unread:
        span = Span(f"? {new}, but unreadable: {comparison.after.unread}", "warning strong")
        return line(span, Span(f" · {was}", "muted"))
    words, style = ("✓ accepted", "ok strong") if _is_fine(new) else ("✗ refused", "error strong")
    error = comparison.after.response.error if comparison.after.response else None
    span = Span(f": {error.message}" if error else "", "error")
    differing = _differing(comparison) if _is_fine(old) == _is_fine(new) else ()
    return line(Span(f"{words} ({new})", style), Span(f" · {was}", "muted"), *differing, span)


def _differing(comparison: ResponseComparison) -> Line:
    """Kinds of items in which two responses with the same outcome differ."""
    kinds = tuple(dict.fromkeys(row.kind for row in comparison.rows if not row.is_same and row.kind != "bytes"))
    if not kinds:
        return line(Span(" · same content", "ok"))
    return line(Span(f" · differs in {', '.join(kinds)}", "warning"))


def _is_fine(status: int) -> bool:
    return 200 <= status < 300


def progress(after: DecodedExchange | None, octets: int, retries: list[RetryWait]) -> Line:
    """Status, bytes and events received so far."""
    if retries and not octets:
        last = retries[-1]
        what = f"temporarily refused ({last.status})" if last.status else "not reached"
        words = f"! {what}: retry in {duration(last.wait)}, attempt {last.attempt} · {last.why}"
        return line(Span(words, "warning strong"), Span(" · esc cancel", "muted"))
    status = after.exchange.response.status if after and after.exchange.response else 0
    facts = [str(status) if status else "waiting for the response", size(octets)]
    facts += [count(len(after.events), "event")] if after and after.events else []
    facts += [duration(after.exchange.duration)] if after else []
    return line(Span(" … sending", "accent strong"), Span(f" · {' · '.join(facts)} · esc cancel", "muted"))


def retry_line(retry: RetryWait) -> Line:
    """Line of a temporary refusal, after which the request is sent again."""
    what = f"{retry.status}" if retry.status else "not reached"
    return line(Span(f"! {what}", "warning"), f"  {retry.why}", Span(f"  retry after {duration(retry.wait)}", "muted"))


def event_lines(comparison: ResponseComparison) -> list[Line]:
    """Events received so far, one line each; none for a response that is not a stream."""
    events = comparison.after.events
    data = [from_bytes((event.data or b"")[:MOST_DATA]) for event in events]
    return [_event(n, event.name or "", _own_part(data, n)) for n, event in enumerate(events)]


def event_body(comparison: ResponseComparison, number: int, width: int) -> list[Line]:
    """The full data of an event, if one line is too short for it."""
    data = comparison.after.events[number].data or b""
    rows = laid_out_bytes(data, width - MARGIN, MOST_LINES)
    is_whole = len(rows) < 2 and len(data) <= width - 2 * MARGIN
    return [] if is_whole else [(Span(" " * MARGIN), *row) for row in rows]


def body_lines(comparison: ResponseComparison, width: int) -> list[Line]:
    """The body of a response that is not a stream, laid out."""
    return laid_out_bytes(comparison.body, width, MOST_LINES) if comparison.body else []


def _own_part(data: Sequence[str], number: int) -> str:
    """Data of an event without the beginning that it shares with the one before, or the first with the one after."""
    text, other = data[number], data[number - 1 if number else min(1, len(data) - 1)]
    shared = common(text, other) if text != other else 0
    start = max(text.rfind(sign, 0, shared) for sign in ",{[")
    return f"… {text[start:].lstrip(', ')}" if start >= LEAST_COMMON else text


def _event(number: int, name: str, data: str) -> Line:
    return line(Span(f"{number} ", "muted", -5), Span(f"{name}  " if name else "", "role"), Span(data, is_bytes=True))
