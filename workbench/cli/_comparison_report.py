"""Report of ``compare``: lines for people, and one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.diff import AnswerItem, Comparison, Difference, ItemChange, ItemPair
    from workbench.diff.damage import Damage
    from workbench.ir import JsonValue

_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">", "re-spelled": "="}
HEADERS_OF_NOTE = frozenset({"retry-after", "content-type", "content-encoding", "anthropic-beta", "anthropic-version"})
"""Headers that change what a peer does; changes of the others are listed last."""

MOST_LINES = 12
"""Changes of one request, and kinds of damage, that are printed as text; JSON has all."""

_AROUND = 24
"""Bytes shown on either side of the first different one."""


class ComparedSide(NamedTuple):
    """One side of a comparison: its file, its exchange, and the hop it was recorded at; empty if unnamed."""

    path: str
    exchanges: int
    number: int | None = None
    hop: str = ""


class ComparedFiles(NamedTuple):
    """Two sides, and the comparison of each pair of exchanges."""

    before: ComparedSide
    after: ComparedSide
    pairs: Sequence[Comparison]


# As text.


def lines(compared: ComparedFiles) -> Iterator[str]:
    """The comparison for people."""
    for sign, side in (("A", compared.before), ("B", compared.after)):
        which = f", exchange {side.number}" if side.number else ""
        place = f", hop {_output.cut(side.hop, 40)}" if side.hop else ""
        yield f"{sign}  {side.path} ({_output.number(side.exchanges, 'exchange')}){which}{place}"
    yield ""
    for one in compared.pairs:
        yield from _lines(one)
    yield _tally(compared.pairs)


def _tally(pairs: Sequence[Comparison]) -> str:
    if not pairs:
        return "nothing to compare"
    identical = sum(pair.is_same_bytes for pair in pairs)
    alike = sum(pair.is_same and not pair.is_same_bytes for pair in pairs)
    more = f", {alike} with the same meaning but different bytes" if alike else ""
    return f"{identical} of {len(pairs)} identical{more}"


def _lines(one: Comparison) -> Iterator[str]:
    """Lines of one pair."""
    from workbench.diff.damage import damage_words  # loaded by what made the report

    if one.before is None or one.after is None:
        number = (one.before if one.before is not None else one.after) or 0
        what = f": {damage_words(one.damages[0].kind)}" if one.damages else ""
        yield f"only in {'A' if one.after is None else 'B'}: exchange {number + 1}{what}"
        return
    head = f"exchange {one.before + 1} - {one.after + 1}"
    if one.is_same_bytes:
        yield f"{head}: identical"
        return
    yield f"{head}: {'same meaning, different bytes' if one.is_same else 'different'}"
    yield from _difference_lines(one)
    yield from _damage_lines(one.damages)


def _difference_lines(one: Comparison) -> Iterator[str]:
    """Differences of a pair. Between two hops the request line and headers are left to the damage."""
    if one.line and not one.outer:
        yield f"  A {_output.cut(one.line[0])}"
        yield f"  B {_output.cut(one.line[1])}"
    for name, old, new in () if one.outer else one.headers:
        yield f"  header {name}: {_output.cut(old or '(none)')} -> {_output.cut(new or '(none)')}"
    if one.request:
        yield from _request_lines(one.request)
    if one.answers:
        yield from _answer_lines(one)


def _request_lines(difference: Difference) -> Iterator[str]:
    if difference.first is None:
        yield "  request: identical"
        return
    where = f" {_pointer(difference)}" if difference.is_read else ""
    unchanged = f"{int(difference.unchanged_share * 100)} % of the bytes unchanged"
    yield f"  request: first difference at byte {difference.first:,}{where}, {unchanged}"
    yield from _bytes(difference.before, difference.after, difference.first)
    for change in difference.changes[:MOST_LINES]:
        yield f"    {_SIGNS[change.kind.value]} {_change_words(change)}"
    if len(difference.changes) > MOST_LINES:
        yield f"    … and {len(difference.changes) - MOST_LINES} more"


def _change_words(change: ItemChange) -> str:
    where = change.after if change.after is not None else change.before
    words = f"{change.kind.value} {_output.cut(change.label, 40)} {where}"
    if change.spelling:
        return f"{words}: {', '.join(change.spelling)}"
    if change.details:
        first = change.details[0]
        return f"{words}: {first.pointer} {_value(first.before)} -> {_value(first.after)}"
    return words


def _answer_lines(one: Comparison) -> Iterator[str]:
    assert one.answers
    if one.answers.first is None:
        yield "  response: identical"
        return
    meaning = "same meaning" if one.answers.is_same else "different"
    yield f"  response: {meaning}, first difference at byte {one.answers.first:,}"
    yield from _bytes(*one.answers.texts, one.answers.first)
    for pair in one.answers.pairs:
        if not pair.is_same:
            item = pair.after or pair.before
            assert item
            name = f"{item.kind} {_output.cut(item.label, 40)}".rstrip()
            yield f"    {name}: {_item_words(pair.before)} -> {_item_words(pair.after)}"


def _bytes(before: bytes, after: bytes, first: int) -> Iterator[str]:
    """Bytes around the first difference on both sides; ``>>`` marks it."""
    for sign, text in (("A", before), ("B", after)):
        start, end = max(0, first - _AROUND), first + _AROUND
        pieces = [text[start:first], text[first:end]]
        head, tail = (piece.decode("utf-8", "replace") for piece in pieces)
        dots = "…" * (start > 0), "…" * (end < len(text))
        yield f"    {sign} {dots[0]}{head}>>{tail or '(the end)'}{dots[1]}"


def _damage_lines(damages: Sequence[Damage]) -> Iterator[str]:
    """Each kind of damage with its place, the gravest first."""
    from workbench.diff.damage import damage_words  # loaded by what made the report

    if damages:
        yield "  damage:"
    for damage in sorted(damages, key=_weight)[:MOST_LINES]:
        place = damage.at or damage.was
        where = f" {_output.cut(place, 80)}" if place else ""
        count = f", {_output.number(damage.places, 'place')}" if damage.places > 1 else ""
        words = f": {_output.cut(damage.words, 160)}" if damage.words else ""
        harm = " (same meaning)" if damage.is_same_meaning else ""
        yield f"    {damage.side} {damage_words(damage.kind)}{where}{count}{words}{harm}"
    if len(damages) > MOST_LINES:
        yield f"    … and {len(damages) - MOST_LINES} more"


def _weight(damage: Damage) -> int:
    """Sort key of a damage: 0 for a change of meaning, 3 for a header without effect. Equal ones keep their order."""
    place = (damage.at or damage.was).lower()
    is_of_note = place.removeprefix("/headers/") in HEADERS_OF_NOTE
    return 2 * damage.is_same_meaning + (place.startswith("/headers/") and not is_of_note)


def _item_words(item: AnswerItem | None) -> str:
    return "(none)" if item is None else _value(item.value)


def _value(value: JsonValue) -> str:
    from workbench.wire import dumps

    return _output.cut(dumps(value).decode("utf-8", "replace"), 60)


def _pointer(difference: Difference) -> str:
    """Pointer to the value with the first difference: in the second body, or in the first if that is longer."""
    from workbench.wire import JsonIndex

    first = difference.first or 0
    text = difference.after if first < len(difference.after) else difference.before
    return JsonIndex(text).pointer_at(first) or "(whole body)"


# As JSON.


def as_json(compared: ComparedFiles, further: Sequence[ComparedFiles] = ()) -> JsonValue:
    """The documented JSON object. ``further``: the next pairs of hops of the same recording."""
    sides = compared.before, compared.after if not further else further[-1].after
    pairs = [(found, one) for found in (compared, *further) for one in found.pairs]
    first_different = next((one for _, one in pairs if not one.is_same_bytes), None)
    return {
        "before": {"path": sides[0].path, "exchanges": sides[0].exchanges, "hop": sides[0].hop},
        "after": {"path": sides[1].path, "exchanges": sides[1].exchanges, "hop": sides[1].hop},
        "first": {"before": first_different.before, "after": first_different.after} if first_different else None,
        "pairs": [_pair_json(found, one) for found, one in pairs],
    }


def _pair_json(compared_files: ComparedFiles, one: Comparison) -> JsonValue:
    return {
        "hops": [compared_files.before.hop, compared_files.after.hop],
        "outer": one.outer or None,
        "tries": list(one.tries),
        "damage": [_damage_json(damage) for damage in one.damages],
        "before": one.before,
        "after": one.after,
        "same": "bytes" if one.is_same_bytes else "meaning" if one.is_same else "no",
        "line": list(one.line),
        "headers": [header._asdict() for header in one.headers],
        "request": _request_json(one.request) if one.request else None,
        "answer": {"first": one.answers.first, "items": list(map(_item_json, one.answers.pairs))}
        if one.answers
        else None,
    }


def _damage_json(damage: Damage) -> JsonValue:
    return {
        "kind": damage.kind.value,
        "side": damage.side,
        "was": damage.was,
        "at": damage.at,
        "words": damage.words,
        "places": damage.places,
        "first": {"was": damage.first_was, "at": damage.first},
        "same_meaning": damage.is_same_meaning,
        "further": list(damage.further),
    }


def _request_json(difference: Difference) -> JsonValue:
    return {
        "first": difference.first,
        "pointer": _pointer(difference) if difference.first is not None and difference.is_read else None,
        "ranges": [[list(hunk.before), list(hunk.after)] for hunk in difference.hunks],
        "changes": [
            {
                "kind": change.kind.value,
                "label": change.label,
                "before": change.before,
                "after": change.after,
                "spelling": list(change.spelling),
                "details": [
                    {"kind": d.kind.value, "pointer": d.pointer, "before": d.before, "after": d.after}
                    for d in change.details
                ],
            }
            for change in difference.changes
        ],
    }


def _item_json(pair: ItemPair) -> JsonValue:
    item = pair.after or pair.before
    assert item
    return {
        "kind": item.kind,
        "label": item.label,
        "same": pair.is_same,
        "before": pair.before.value if pair.before else None,
        "after": pair.after.value if pair.after else None,
        "pointers": [side.pointer if side else None for side in pair],
    }
