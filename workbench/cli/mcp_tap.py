"""Record one MCP server over stdio: put this before its command, in the configuration of any client.

The bytes of standard input, output and error pass unchanged, as do signals and the exit status. Every JSON-RPC request
becomes an exchange of the session, with its response; the connection has all messages, and what the server wrote to
standard error. Secrets are replaced before anything is written to disk. If the file cannot be written, traffic
continues.

  workbench mcp-tap files -o today.wb -- npx -y @modelcontextprotocol/server-filesystem .

FILE may be the one that a running workbench record writes: then the model's traffic and the tools' are in one session.
Without -o, a file of its own is made, as by workbench record.
"""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path

from workbench.cli import _hand_over, _output

NAME = "mcp-tap"
HELP = "record one MCP server over stdio"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="name of the server, as in the client's configuration")
    parser.add_argument("-o", "--out", metavar="FILE", help="session file, appended to if it exists")
    parser.add_argument("words", nargs=argparse.PARSER, metavar="-- CMD", help="the server and its arguments")


def run(args: argparse.Namespace) -> int:
    """Run the server to its end."""
    from workbench.cli.record import out_file
    from workbench.recorder.mcp_tap import Tape, end_as, pass_through

    words = args.words[1:] if args.words[0] == "--" else args.words
    status = _hand_over.check(words[0]) if words else 0
    if status or not words:
        return status or _output.complain("no command to run", 2)
    task = {
        "out": str(Path(out_file(args.out)).absolute()),
        "server": args.name,
        "command": shlex.join(words),
        "started_at": time.time(),
    }
    tape = Tape(task, _say)
    try:
        status = pass_through(words, tape)
    except OSError as error:
        return _output.complain(f"{words[0]}: cannot be executed ({error.strerror})", _hand_over.NOT_EXECUTABLE)
    tape.end(status)
    return end_as(status)


def _say(line: str) -> None:
    _output.complain(f"mcp-tap: {line}", 0)
