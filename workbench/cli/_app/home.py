"""``workbench`` without a command: the app, or the overview as text if there is no terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from workbench.cli._app import screen_options
from workbench.cli._output import emit, number
from workbench.library import Section, SessionItem, home_sections

MOST_LISTED = 8
"""Sessions of clients that are summarised: all of them may take a minute."""


def run(words: Sequence[str] = ()) -> int:
    """Open the app at Home, or print the overview."""
    parser = argparse.ArgumentParser(prog="workbench", add_help=False, usage="workbench [screen options]")
    screen_options.add_options(parser)
    args = parser.parse_args(words)
    if args.web:
        from workbench.cli._app import web

        return web.serve_app(args)
    if screen_options.is_shown(sys.stdin, sys.stdout, sys.stderr):
        from workbench.tui import run as run_app

        return run_app(None, **screen_options.appearance(args)._asdict())
    for line in overview():
        emit(line)
    return 0


def overview() -> Iterator[str]:
    """Lines for the sessions on this machine: client, provider, model, exchanges, verdict and first break."""
    yield "Workbench: find where tool calling breaks"
    for section in home_sections.all_sections():
        yield ""
        yield section.title
        yield from _section(section)
    yield ""
    yield "  workbench open FILE      open a file in the app: session, cassette, HAR, body, event stream"
    yield "  workbench record …       record a client's traffic"
    yield "  workbench check FILE     list the findings of a file"
    yield "  workbench explain TEXT   find the rule behind an error message"


def _section(section: Section) -> Iterator[str]:
    listed = section.items[:MOST_LISTED] if section.title == home_sections.FOUND else section.items
    for item in listed:
        yield from _item(item)
    if len(listed) < len(section.items):
        yield f"  and {number(len(section.items) - len(listed), 'older session')}"
    for note in section.notes:
        yield f"  {note}"


def _item(item: SessionItem) -> Iterator[str]:
    from workbench.library import describe_file

    story = describe_file(item.path)
    if story is None:
        return
    size = number(story.exchanges, "exchange") if story.exchanges is not None else ""
    verdict = f"{story.severity} {story.verdict}".strip()
    facts = " · ".join(fact for fact in (item.client or story.client, story.origin, size) if fact)
    yield f"  {item.name:<32} {verdict}: {story.text}"
    yield f"  {'':<32} {facts}" if facts else f"  {'':<32} {item.path}"
    if item.section != home_sections.EXAMPLES and facts:
        yield f"  {'':<32} {item.path}"
