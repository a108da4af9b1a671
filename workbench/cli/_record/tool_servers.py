"""``workbench record --mcp``: the client's MCP servers behind taps, for one run."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.cli._record import breakpoint_lines, hand_over
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.recorder.mcp_tap import TappedServers


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--mcp", action="store_true", help="also record the client's MCP servers")
    group.add_argument("--mcp-only", action="store_true", help="record only the client's MCP servers, not its model")


def check(args: argparse.Namespace) -> None:
    """Raise UsageError for options that cannot be used together."""
    option = "--mcp" if args.mcp else "--mcp-only" if args.mcp_only else ""
    if option and not args.words:
        raise UsageError(f"{option} needs a client to start", hint=f"workbench record {option} -- claude")
    if args.mcp_only and (args.upstream or args.spoken):
        raise UsageError("--mcp-only does not record model traffic", hint="leave out --upstream and --as, or use --mcp")
    tools, models = breakpoint_lines.of_tools(args.breaks), breakpoint_lines.of_models(args.breaks)
    if lonely := [kind for kind in tools if not option and kind not in models]:
        raise UsageError(f"--break {lonely[0]} needs --mcp", hint="workbench record --mcp --break mcp:NAME -- claude")
    if lonely := [kind for kind in models if args.mcp_only and kind not in tools]:
        raise UsageError(f"--break {lonely[0]} needs model traffic, which --mcp-only does not record")


def servers(args: argparse.Namespace, client: str, out: Path) -> TappedServers:
    """The client's servers behind taps; none without the option. Each gets a line on stderr."""
    from workbench.recorder import hand_back_leftovers
    from workbench.recorder.mcp_tap import TappedServers, new_folder, tapped_servers

    hand_back_leftovers(_say)
    if not (args.mcp or args.mcp_only):
        return TappedServers()
    found = tapped_servers(client, out, os.environ, breaks=breakpoint_lines.of_tools(args.breaks), marks=new_folder())
    for name in found.tapped:
        _say(f"MCP server {name} is recorded")
    for line in found.notes:
        _say(line)
    if not found.tapped:
        _say("no MCP server is recorded: the client's configuration has none")
    return found


@contextmanager
def recorded(
    tapped_servers: TappedServers, out: Path, client: str, breaks: Sequence[str] = ()
) -> Iterator[TappedServers]:
    """The servers, those at a URL with a recorder before them for its time.

    Args:
        breaks: breakpoints; pauses at them are reported.
    """
    from workbench.recorder import process
    from workbench.recorder.mcp_tap import reporting_pauses, temporary_folder, wait_for_end
    from workbench.wire import TOOL_HOP

    armed = breakpoint_lines.of_tools(breaks)
    with ExitStack() as stack:
        if tapped_servers.marks:
            stack.enter_context(temporary_folder(tapped_servers.marks))
        if armed and tapped_servers.tapped:
            stack.enter_context(reporting_pauses(out, breakpoint_lines.announcer(out, _say)))
        if tapped_servers.urls:
            recorder = process.start(
                tapped_servers.urls,
                out,
                hop=TOOL_HOP,
                client=client,
                breaks=armed,
                on_trouble=_say,
            )
            stack.callback(recorder.stop)
            yield tapped_servers.at_recorder(recorder.urls)
        else:
            yield tapped_servers
        if tapped_servers.marks and not wait_for_end(tapped_servers.marks):
            _say(f"{out} is still being written")


@contextmanager
def handed_over(tapped_servers: TappedServers, others: Mapping[str, str]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Arguments and variables for the client, with the file or home that they name, which is removed at the end.

    What of the home could not be copied to the person's stays there; a line says where.

    Args:
        others: variables of the client for other reasons; JSON in the same variable is merged.
    """
    from workbench.recorder import private_file, private_home
    from workbench.recorder.mcp_tap import COPY_PATH

    text, home = tapped_servers.file, tapped_servers.home
    with private_home(text, *home, _say) if home else private_file("mcp", text) as path:
        own = {name: value.replace(COPY_PATH, path) for name, value in tapped_servers.variables.items()}
        both = {name: _merge_objects(others[name], own[name]) for name in own.keys() & others.keys()}
        yield [word.replace(COPY_PATH, path) for word in tapped_servers.arguments], {**others, **own, **both}


def _merge_objects(one: str, other: str) -> str:
    """Two JSON objects of one variable as one."""
    from workbench.wire import dumps, loads

    return dumps({**loads(one.encode()), **loads(other.encode())}).decode()


def number_in(out: Path) -> int:
    """Number of exchanges in a session file, those with servers too; 0 if there is none."""
    from workbench.wire.session import store

    if not out.exists():
        return 0
    with closing(store.open_session(out)) as session:
        return len(session)


def run_alone(args: argparse.Namespace, tapped_servers: TappedServers, out: Path, client: str) -> int:
    """Run the client with its servers behind taps, its model untouched."""
    words = args.words
    with (
        recorded(tapped_servers, out, client, args.breaks) as at_recorder,
        handed_over(at_recorder, {}) as (arguments, variables),
    ):
        status = hand_over.run((words[0], *arguments, *words[1:]), os.environ | variables)
    if out.exists():
        _say(f"workbench open {shlex.quote(str(out))}")
    else:
        _say("nothing was recorded: no MCP server was started")
    return status


def _say(line: str) -> None:
    _output.complain(line, 0)
