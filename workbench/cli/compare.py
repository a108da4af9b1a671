"""Where two sessions, or two exchanges, part: in bytes and in meaning.

A and B are files of any readable format; FILE#N is exchange N of it, counted from one. Of two whole files exchanges
with the same request stand side by side, and between them those that follow one another. The answers of streams are
compared as what they add up to, without their ids; headers of one connection are not compared.

JSON output is one object:
  {"before": {"path", "exchanges"}, "after": {…}, "first": {"before", "after"} | null, "pairs": [{"before", "after",
   "same": "bytes" | "meaning" | "no", "line": [METHOD URL, METHOD URL], "headers": [{"name", "before", "after"}],
   "request": {"first", "pointer", "ranges": [[[start, end], [start, end]]], "changes": [{"kind", "label", "before",
   "after", "spelling", "details": [{"kind", "pointer", "before", "after"}]}]} | null,
   "answer": {"first", "items": [{"kind", "label", "same", "before", "after", "pointers"}]} | null}]}
"before" and "after" of a pair count exchanges from zero, null where the other side has no partner; "first" is the first
pair that differs, and inside of "request" and "answer" the offset of the first byte that differs.

Exit status: 1 when anything differs; with --meaning, when anything means something else.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.cli import _files, _output

if TYPE_CHECKING:
    from workbench.comparison import Comparison, Item, Pair
    from workbench.decode import Decoded
    from workbench.differences import Change, Difference
    from workbench.ir import JsonValue
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

NAME = "compare"
HELP = "where two sessions or exchanges part, in bytes and in meaning"

_NUMBERED = re.compile(r"(.+)#([0-9]{1,9})")
_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">", "re-spelled": "="}
MOST_LINES = 12
"""Changes of one request that are shown as text; JSON has all."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("before", metavar="A", help=f"FILE or FILE#N; {_files.FILE_HELP}")
    parser.add_argument("after", metavar="B", help="the same")
    parser.add_argument("--exchange", type=int, metavar="N", help="compare exchange N of both, counted from one")
    parser.add_argument("--meaning", action="store_true", help="what is only spelled otherwise is no difference")
    parser.add_argument("--protocol", metavar="NAME", help="the protocol (default: guessed)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(provider=None)


class _Named(NamedTuple):
    path: str
    number: int | None


def run(args: argparse.Namespace) -> int:
    """Compare two files."""
    from workbench.comparison import compare_sessions

    _files.validate(args)
    before, after = (_named(text, args.exchange) for text in (args.before, args.after))
    olds = _files.open_file(before.path)
    news = olds if after.path == before.path == "-" else _files.open_file(after.path)
    try:
        found: list[Comparison]
        if before.number is None and after.number is None:
            found = list(compare_sessions(olds, news, lambda index, exchange: _decoded(args, index, exchange)))
        else:
            found = [_one(args, olds, before.number, news, after.number)]
        counts = len(olds), len(news)
    finally:
        olds.close()
        news.close()
    if args.format == "json":
        _output.emit_json(_as_json(before, after, counts, found))
    else:
        _print(before, after, counts, found)
    is_same = all(one.is_same if args.meaning else one.is_same_bytes for one in found)
    return 0 if is_same else 1


def _named(text: str, number: int | None) -> _Named:
    """FILE#N taken apart, unless there is a file of that very name."""
    found = None if text == "-" or Path(text).exists() else _NUMBERED.fullmatch(text)
    return _Named(found[1], int(found[2])) if found else _Named(text, number)


def _decoded(args: argparse.Namespace, index: int, exchange: Exchange) -> Decoded:
    from workbench import decode

    return decode.Decoded(index, exchange, args.protocol)


def _one(args: argparse.Namespace, olds: Session, old: int | None, news: Session, new: int | None) -> Comparison:
    from workbench.comparison import compare_exchanges

    i, j = _files.chosen(olds, old), _files.chosen(news, new)
    return compare_exchanges(_decoded(args, i, olds.exchange(i)), _decoded(args, j, news.exchange(j)))


# As text.


def _print(before: _Named, after: _Named, counts: tuple[int, int], found: list[Comparison]) -> None:
    for sign, named, count in (("A", before, counts[0]), ("B", after, counts[1])):
        which = f", exchange {named.number}" if named.number else ""
        _output.emit(f"{sign}  {named.path} ({_output.number(count, 'exchange')}){which}")
    _output.emit()
    for one in found:
        for line in _lines(one):
            _output.emit(line)
    same = sum(one.is_same_bytes for one in found)
    meant = sum(one.is_same and not one.is_same_bytes for one in found)
    words = [f"{same} of {len(found)} the same bytes"] + [f"{meant} the same in meaning"] * bool(meant)
    _output.emit(", ".join(words) if found else "there is nothing to compare")


def _lines(one: Comparison) -> Iterator[str]:
    """What one pair comes to."""
    if one.before is None or one.after is None:
        yield f"only in {'A' if one.after is None else 'B'}: exchange {(one.before or one.after or 0) + 1}"
        return
    head = f"exchange {one.before + 1} - {one.after + 1}"
    if one.is_same_bytes:
        yield f"{head}: the same bytes"
        return
    yield f"{head}: {'the same meaning in other bytes' if one.is_same else 'different'}"
    if one.line:
        yield f"  A {_output.cut(one.line[0])}"
        yield f"  B {_output.cut(one.line[1])}"
    for name, old, new in one.headers:
        yield f"  header {name}: {_output.cut(old or '(none)')} -> {_output.cut(new or '(none)')}"
    if one.request:
        yield from _request_lines(one.request)
    if one.answers:
        yield from _answer_lines(one)


def _request_lines(found: Difference) -> Iterator[str]:
    if found.first is None:
        yield "  request: the same bytes"
        return
    where = f" {_pointer(found)}" if found.is_read else ""
    yield f"  request: first difference at byte {found.first:,}{where}, {int(found.shared * 100)} % shared before it"
    for change in found.changes[:MOST_LINES]:
        yield f"    {_SIGNS[change.kind.value]} {_change_words(change)}"
    if len(found.changes) > MOST_LINES:
        yield f"    … and {len(found.changes) - MOST_LINES} more"


def _change_words(change: Change) -> str:
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
        yield "  answer: the same bytes"
        return
    said = "the same in meaning" if one.answers.is_same else "different"
    yield f"  answer: {said}, first difference at byte {one.answers.first:,}"
    for pair in one.answers.pairs:
        if not pair.is_same:
            item = pair.after or pair.before
            assert item
            name = f"{item.kind} {_output.cut(item.label, 40)}".rstrip()
            yield f"    {name}: {_said(pair.before)} -> {_said(pair.after)}"


def _said(item: Item | None) -> str:
    return "(none)" if item is None else _value(item.value)


def _value(value: JsonValue) -> str:
    from workbench.wire.jsontext import dumps

    return _output.cut(dumps(value).decode("utf-8", "replace"), 60)


def _pointer(found: Difference) -> str:
    """The value of the second body in which the first difference stands, else of the first."""
    from workbench.wire.jsontext import JsonIndex

    first = found.first or 0
    text = found.after if first < len(found.after) else found.before
    return JsonIndex(text).pointer_at(first) or "(the whole)"


# As JSON.


def _as_json(before: _Named, after: _Named, counts: tuple[int, int], found: list[Comparison]) -> JsonValue:
    parted = next((one for one in found if not one.is_same_bytes), None)
    return {
        "before": {"path": before.path, "exchanges": counts[0]},
        "after": {"path": after.path, "exchanges": counts[1]},
        "first": {"before": parted.before, "after": parted.after} if parted else None,
        "pairs": [_pair_json(one) for one in found],
    }


def _pair_json(one: Comparison) -> JsonValue:
    return {
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


def _request_json(found: Difference) -> JsonValue:
    return {
        "first": found.first,
        "pointer": _pointer(found) if found.first is not None and found.is_read else None,
        "ranges": [[list(hunk.before), list(hunk.after)] for hunk in found.hunks],
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
            for change in found.changes
        ],
    }


def _item_json(pair: Pair) -> JsonValue:
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
