"""Compare two sessions, two exchanges, or two hops of one recording: bytes, meaning, and damage.

A and B are files of any readable format; FILE#N is exchange N of it, counted from one. Two whole files are compared hop
by hop and conversation by conversation: exchanges with the same request are paired first, then, between these,
exchanges whose last messages are the same. If the two were recorded before and after a gateway (hops with different
names, or times that enclose one another), each turn is paired with what the gateway made of it, however it was altered.
One file that was recorded at several hops is compared with itself: each hop with the next one, starting at the client,
or those of --hops. Streamed responses are compared as accumulated messages, without ids. Headers of a single connection
are not compared, and of credentials only their presence.

JSON output is one object:
  {"before": {"path", "exchanges", "hop"}, "after": {…}, "first": {"before", "after"} | null, "pairs": [{"hops":
   [NAME, NAME], "outer": "before" | "after" | null, "tries": […], "damage": [{"kind", "side": "request" | "response",
   "was", "at", "words", "places", "first": {"was", "at"}, "same_meaning", "further"}], "before", "after",
   "same": "bytes" | "meaning" | "no", "line": [METHOD URL, METHOD URL], "headers": [{"name", "before", "after"}],
   "request": {"first", "pointer", "ranges": [[[start, end], [start, end]]], "changes": [{"kind", "label", "before",
   "after", "spelling", "details": [{"kind", "pointer", "before", "after"}]}]} | null,
   "answer": {"first", "items": [{"kind", "label", "same", "before", "after", "pointers"}]} | null}]}
"before" and "after" of a pair count exchanges from zero; null if there is no partner. "first" is the first pair that
differs; inside "request" and "answer" it is the offset of the first byte that differs. "outer" is the side nearer to
the client if the two are hops of the same traffic; "tries" are all exchanges that a gateway sent for the turn, if
several. "damage" lists the changes on the way, the first divergence first; a request travels from the client's hop to
the upstream's, a response back. "was" and "at" are pointers before and after ("/events/N…": an event of a stream;
"/headers/NAME", "/status", "/path"; "" for the whole), and "first" the offsets where it is first seen. Kinds: field
dropped, field added, field renamed, field moved, null or empty dropped, value
changed, duplicate key lost, items reordered, ids mapped, content shape changed, reshaped, another protocol, text
trimmed, text cut, texts merged, text split, Unicode normalised, characters damaged, JSON in a text written anew, key
order, number spelling, escapes, whitespace, spelled anew, content coding changed, events re-cut, events dropped,
events added, events reordered, event names lost, event ids lost, deltas lost, deltas repeated, framing changed, stream
became one body, body became a stream, buffered, truncated, status changed, error rewritten, header dropped, header
added, header changed, method changed, path changed, query changed, answered by the gateway, asked by the gateway,
repeated by the gateway.

Exit status: 1 if anything differs; with --meaning, if any meaning differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench import regex
from workbench.cli import _files, _output
from workbench.cli._comparison_report import ComparedFiles, ComparedSide, as_json, lines
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.diff import Ask, Comparison
    from workbench.protocols import DecodedExchange
    from workbench.wire import Exchange
    from workbench.wire.session import Session

NAME = "compare"
HELP = "compare the bytes and the meaning of two sessions, exchanges or hops"

_NUMBERED = regex.compile(r"(.+)#([0-9]{1,9})")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("before", metavar="A", help=f"FILE or FILE#N; {_files.FILE_HELP}")
    parser.add_argument(
        "after", metavar="B", nargs="?", help="FILE or FILE#N to compare with A (default: compare the hops of A)"
    )
    hops_help = "compare these two hops, the one nearer to the client first; with two files: one hop of each"
    parser.add_argument("--hops", nargs=2, metavar="NAME", help=hops_help)
    exchange_help = (
        "compare exchange N (counted from 1) of both files; "
        "with one file, compare the turn that contains exchange N at two hops"
    )
    parser.add_argument("--exchange", type=int, metavar="N", help=exchange_help)
    parser.add_argument("--meaning", action="store_true", help="ignore differences that do not change the meaning")
    parser.add_argument("--protocol", metavar="NAME", help="protocol of both (default: detected)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(provider=None, last="after")


class _NumberedFile(NamedTuple):
    path: str
    number: int | None


def run(args: argparse.Namespace) -> int:
    """Compare two files, or the hops of one."""
    _files.validate(args)
    with ExitStack() as opened:
        before = _parse_file(args.before, args.exchange)
        olds = opened.enter_context(closing(_files.open_file(before.path, args)))
        if args.after is None:
            found = list(_compare_hops(args, before, olds))
        else:
            after = _parse_file(args.after, args.exchange)
            is_one = after.path == before.path == "-"
            news = olds if is_one else opened.enter_context(closing(_files.open_file(after.path, args)))
            found = [_compare_files(args, before, olds, after, news)]
    if args.format == "json":
        _output.emit_json(as_json(found[0], found[1:]))
    else:
        for number, compared in enumerate(found):
            for line in ("",) * (number > 0) + tuple(lines(compared)):
                _output.emit(line)
    pairs = (one for compared in found for one in compared.pairs)
    return 0 if all(one.is_same if args.meaning else one.is_same_bytes for one in pairs) else 1


def _parse_file(text: str, number: int | None) -> _NumberedFile:
    """Split FILE#N into file and number, unless a file of that name exists."""
    found = None if text == "-" or Path(text).exists() else _NUMBERED.fullmatch(text)
    return _NumberedFile(found[1], int(found[2])) if found else _NumberedFile(text, number)


def _decode(protocol: str | None, index: int, exchange: Exchange) -> DecodedExchange:
    from workbench.protocols import decode

    return decode.DecodedExchange(index, exchange, protocol)


def _compare_files(
    args: argparse.Namespace, before: _NumberedFile, olds: Session, after: _NumberedFile, news: Session
) -> ComparedFiles:
    """Two files, or an exchange of each."""
    from workbench.chain import Conversations
    from workbench.diff import compare_exchanges, compare_sessions, hops_of

    ask: Ask = partial(_decode, args.protocol)
    hops = tuple(args.hops) if args.hops else None
    for session, named, name in zip((olds, news), (before, after), hops or (), strict=False):
        _demand(session, named.path, name)
    if before.number is None and after.number is None:
        found = list(compare_sessions(olds, news, Conversations, ask, hops=hops))
    else:
        i, j = _files.exchange_index(olds, before.number), _files.exchange_index(news, after.number)
        found = [compare_exchanges(ask(i, olds.exchange(i)), ask(j, news.exchange(j)))]
    is_placed = any(one.outer for one in found)
    names = hops or tuple(_only(hops_of(session)) if is_placed else "" for session in (olds, news))
    a, b = (
        ComparedSide(n.path, len(s), n.number, hop)
        for n, s, hop in zip((before, after), (olds, news), names, strict=True)
    )
    return ComparedFiles(a, b, found)


def _only(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ""


def _compare_hops(args: argparse.Namespace, numbered_file: _NumberedFile, session: Session) -> Iterator[ComparedFiles]:
    """Compare each hop of one file with the next one, or the two hops of ``--hops``."""
    from workbench.diff import compare_hops, hops_of

    if args.hops:
        for name in args.hops:
            _demand(session, numbered_file.path, name)
    names = args.hops or hops_of(session)
    if len(names) < 2:
        raise UsageError(f"{numbered_file.path} was recorded at one hop", hint="give a second file to compare it with")
    index = _files.exchange_index(session, numbered_file.number) if numbered_file.number is not None else None
    counts = [sum(row.hop == name for row in session.summaries()) for name in names]
    for (outer, one), (inner, other) in pairwise(zip(names, counts, strict=True)):
        pairs = list(compare_hops(session, outer, inner, partial(_decode, args.protocol)))
        rows = [pair for pair in pairs if index is None or _is_of(pair, index)]
        yield ComparedFiles(
            ComparedSide(numbered_file.path, one, hop=outer), ComparedSide(numbered_file.path, other, hop=inner), rows
        )


def _is_of(pair: Comparison, index: int) -> bool:
    return index in (pair.before, pair.after, *pair.tries)


def _demand(session: Session, path: str, name: str) -> None:
    """Raise UsageError if a session has no hop of that name."""
    names = {row.hop for row in session.summaries()}
    if name not in names:
        known = ", ".join(repr(n) for n in sorted(names)) or "none"
        raise UsageError(f"{path} has no hop named {name!r} (hops: {known})")
