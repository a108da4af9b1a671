"""``workbench`` alone: the app, or, without a terminal, the same overview as text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from workbench.cli import _screen
from workbench.cli._output import emit, number
from workbench.library import shelf
from workbench.library.shelf import Item, Section

MOST_TOLD = 8
"""Sessions of clients whose story is told: all of them may take a minute."""


def run(words: Sequence[str] = ()) -> int:
    """Open the app at Home, or print the overview."""
    parser = argparse.ArgumentParser(prog="workbench", add_help=False, usage="workbench [options of the screen]")
    _screen.add_options(parser)
    args = parser.parse_args(words)
    if args.web:
        return _screen.serve(args)
    if _screen.is_shown(sys.stdin, sys.stdout, sys.stderr):
        from workbench.tui.start import run as run_app

        return run_app(None, **_screen.appearance(args)._asdict())
    for line in overview():
        emit(line)
    return 0


def overview() -> Iterator[str]:
    """The sessions at hand, each with its client, provider, model, exchanges, verdict and first break in words."""
    yield "Workbench: see where the chain of tool calls breaks"
    for section in shelf.look():
        yield ""
        yield section.title
        yield from _section(section)
    yield ""
    yield "  workbench open FILE      the app on a file: session, cassette, HAR, body, event stream"
    yield "  workbench record …       record a client's traffic"
    yield "  workbench check FILE     what is wrong with it"
    yield "  workbench explain TEXT   which rule an error text belongs to"


def _section(section: Section) -> Iterator[str]:
    told = section.items[:MOST_TOLD] if section.title == shelf.FOUND else section.items
    for item in told:
        yield from _item(item)
    if len(told) < len(section.items):
        yield f"  and {number(len(section.items) - len(told), 'older session')}"
    for note in section.notes:
        yield f"  {note}"


def _item(item: Item) -> Iterator[str]:
    from workbench.library.story import tell_file

    story = tell_file(item.path)
    if story is None:
        return
    size = number(story.exchanges, "exchange") if story.exchanges is not None else ""
    verdict = f"{story.severity} {story.verdict}".strip()
    facts = " · ".join(fact for fact in (item.client or story.client, story.origin, size) if fact)
    yield f"  {item.name:<32} {verdict}: {story.text}"
    yield f"  {'':<32} {facts}" if facts else f"  {'':<32} {item.path}"
    if item.section != shelf.EXAMPLES and facts:
        yield f"  {'':<32} {item.path}"
