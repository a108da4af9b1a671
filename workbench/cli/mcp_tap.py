"""Record one MCP server over stdio: put this before its command, in the configuration of any client.

The bytes of standard input, output and error pass unchanged, as do signals and the exit status. Every JSON-RPC request
becomes an exchange of the session, with its response; the connection has all messages, and what the server wrote to
standard error. Secrets are replaced before anything is written to disk. If the file cannot be written, traffic
continues.

  workbench mcp-tap files -o today.wb -- npx -y @modelcontextprotocol/server-filesystem .

FILE may be the one that a running workbench record writes: then the model's traffic and the tools' are in one session.
Without -o, a separate file is created, as by workbench record.

workbench record --mcp -- CLIENT puts a tap before every server of a client for one run. It identifies the server by its
place: --config is the client's own configuration file, and CMD the JSON pointer of the server in it.

--break mcp:NAME holds each tools/call before it is sent, and its result before it goes back; mcp:NAME/TOOL only those
of one tool, and mcp-damage those with an mcp finding. A held message waits for you: workbench breakpoints
FILE, or the app. Messages are read on their way only while a breakpoint is armed.

  workbench mcp-tap files -o today.wb --break mcp:files/read_file -- npx -y @modelcontextprotocol/server-filesystem .
"""

from __future__ import annotations

import argparse
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.cli._record import breakpoint_lines, hand_over

if TYPE_CHECKING:
    from workbench.recorder.mcp_tap import ServerCommand

NAME = "mcp-tap"
HELP = "record one MCP server over stdio"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="name of the server, as in the client's configuration")
    parser.add_argument("-o", "--out", metavar="FILE", help="session file, appended to if it exists")
    parser.add_argument(
        "--config",
        metavar="FILE",
        help=("client configuration file; CMD is then the pointer to the server in this file"),
    )
    parser.add_argument(
        "--variables",
        choices=("none", "braced", "dollar", "env", "pi"),
        default="none",
        help="syntax of variables in that file: ${NAME}, $NAME, {env:NAME}, or every form that pi reads",
    )
    parser.add_argument(
        "--mark", metavar="FOLDER", help=("folder for a marker file, which is removed when everything is written")
    )
    breakpoint_lines.configure(parser)
    parser.add_argument(
        "words", nargs=argparse.PARSER, metavar="-- CMD", help="command of the server, with its arguments"
    )


def run(args: argparse.Namespace) -> int:
    """Run the server to its end."""
    from workbench.cli.record import out_file
    from workbench.recorder.mcp_tap import Tape, end_as, pass_through

    breakpoint_lines.check(args)
    command = _command(args)
    words = command.words
    status = hand_over.check(words[0]) if words else 0
    if status or not words:
        return status or _output.complain("no command to run", 2)
    task = {
        "out": str(Path(out_file(args.out)).absolute()),
        "server": args.name,
        "command": shlex.join(words),
        "started_at": time.time(),
        "breaks": args.breaks,
        "mark": _mark(args.mark),
    }
    tape = Tape(task, _say)
    try:
        status = pass_through(words, tape, command.variables)
    except OSError as error:
        return _output.complain(f"{words[0]}: cannot be executed ({error.strerror})", hand_over.NOT_EXECUTABLE)
    tape.end(status)
    return end_as(status)


def _mark(folder: str | None) -> str:
    """Path of a new file in a folder; empty without one."""
    if not folder:
        return ""
    mark = Path(folder) / str(os.getpid())
    try:
        mark.touch()
    except OSError:  # whoever waited for it is gone
        return ""
    return str(mark)


def _command(args: argparse.Namespace) -> ServerCommand:
    from workbench.recorder.mcp_tap import ServerCommand, read_command

    words = args.words[1:] if args.words[0] == "--" else args.words
    if args.config and words:
        return read_command(Path(args.config), words[0], args.variables, os.environ)
    return ServerCommand(words, {})


def _say(line: str) -> None:
    _output.complain(f"mcp-tap: {line}", 0)
