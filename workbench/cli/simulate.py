"""Simulate a provider on this machine: it refuses what the real one refuses, for clients and the official SDKs.

Each request is checked by the provider's contract: violations are refused with the provider's status and message, and
earlier responses (reasoning, signatures, ids) must be replayed as the contract requires. A scripted model answers all
other requests: it calls the declared tools, first one that the user names, and repeats their results in its last text.

  workbench simulate deepseek
  workbench simulate anthropic --port 8100 --arguments truncated
  workbench simulate openai --http 429:2 --retry-after 1 --stream cut
  workbench simulate generic --calls hermes --script turns.yaml --out today.wb

PROVIDER is a contract, with or without a variant (deepseek:v3.2). All protocols of the contract are served on one port,
under any path prefix, including those over WebSockets (openai: Responses; openai-realtime; gemini-live). The first line
of output has the variables that clients need; each request gets a line on stderr with its status and, if refused, the
rule, the place and the provider's message. Ctrl-c ends it.

A recorded MCP server is simulated, too: over standard input and output, as clients start servers, or over HTTP with
--port. It lists the recorded tools, returns their recorded results, is strict about the protocol, and runs nothing.

  workbench simulate mcp today.wb --server files
  workbench simulate mcp today.wb --port 8200 --fault structured-only

faults of tool servers (--fault): {fault}
faults of arguments (--arguments): {arguments}
faults of streams (--stream): {stream}
refused (--refuses): {refuses}, schema:KEYWORD
ignored (--ignores): {ignores}, schema:KEYWORD

A script (--script FILE) answers turn by turn; the first matching turn answers, and the scripted model if none matches.
match, dials, answer and times are optional, and so are the parts of an answer: the model fills in those that are
missing, but with only text it calls no tools:

  version: 1
  dials: {{latency: 0.05}}
  turns:
  - match: {{text: weather, model: "claude-*", tool: get_weather, results: false, turn: 1}}
    dials: {{calls: native, parallel: 2, arguments: wrong-type, stream: cut, http: "529:once", retry-after: 2}}
    answer: {{thinking: Where?, text: Let me look., calls: [{{name: get_weather, arguments: {{city: Paris}}}}]}}
    times: 1

The keys of dials are the options below, without leading dashes; http is STATUS, STATUS:once or STATUS:N. Asked for a
codeword ("What is the codeword?"), the model names all that it can read in the request; asked to write the text between
<text> and </text>, it does so; of a PNG picture it names the colour.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from workbench.cli import _options, _output
from workbench.cli._signals import interrupted_by
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.simulator import ScriptedModel, ServedRequest, Server, Simulator
    from workbench.wire import Exchange
    from workbench.wire.session import Session

NAME = "simulate"
HELP = "simulate a provider that refuses what the real one refuses"

_DIALS = (
    *("calls", "calls_in", "parallel", "mends", "reads", "arguments", "stream", "http", "retry_after", "latency"),
    *("chunk", "thinks", "stops", "needs_reasoning", "enforces", "refuses", "ignores", "context", "result_limit"),
    *("name_limit", "id_limit"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from workbench.simulator import ARGUMENT_FAULTS, FEATURES, PLACES, STREAM_FAULTS, TOOL_FAULTS, UNREAD

    listed = {
        "arguments": ARGUMENT_FAULTS,
        "stream": STREAM_FAULTS,
        "refuses": FEATURES,
        "ignores": UNREAD,
        "fault": TOOL_FAULTS,
    }
    faults = {name: ", ".join(known) for name, known in listed.items()}
    parser.description = (parser.description or "").format(**faults)
    parser.add_argument(
        "provider", metavar="PROVIDER[:VARIANT]", help="a contract (workbench explain lists them), or mcp"
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="with mcp: session that contains the recorded server")
    parser.add_argument(
        "--port", type=_options.port, metavar="N", help="port to listen on, 0 for any (the default, except with mcp)"
    )
    parser.add_argument("--server", metavar="NAME", help="with mcp: the recorded server, if there are several")
    parser.add_argument("--fault", choices=[*TOOL_FAULTS], metavar="FAULT", help="with mcp: fault of the tool server")
    parser.add_argument(
        "--permissive", action="store_true", help="report violations of the contract, but respond anyway"
    )
    parser.add_argument("--script", metavar="FILE", help="YAML file with the responses, turn by turn")
    parser.add_argument("--known", metavar="FILE", help="session with earlier responses; requests may refer to them")
    parser.add_argument("--out", metavar="FILE", help="session file for the recording, appended to if it exists")
    dials = parser.add_argument_group("dials")
    dials.add_argument("--calls", metavar="FORMAT", help="native (default), or a text format for tool calls")
    dials.add_argument(
        "--calls-in", choices=PLACES, help="field of the response for tool calls written as text (default: content)"
    )
    dials.add_argument(
        "--parallel", type=int, metavar="N", help="number of tool calls per response, if the request allows that many"
    )
    dials.add_argument(
        "--mends",
        type=int,
        metavar="N",
        help="number of error results after which the model corrects its call (0: never)",
    )
    dials.add_argument("--reads", action=argparse.BooleanOptionalAction, help="repeat tool results in the response")
    dials.add_argument("--arguments", choices=[*ARGUMENT_FAULTS], metavar="FAULT", help="fault in the arguments")
    dials.add_argument("--stream", choices=[*STREAM_FAULTS], metavar="FAULT", help="fault in the stream")
    dials.add_argument("--http", metavar="STATUS[:N]", help="refuse with this status, N times or always")
    dials.add_argument("--retry-after", type=float, metavar="SECONDS", help="Retry-After header of these refusals")
    dials.add_argument("--latency", type=float, metavar="SECONDS", help="delay before each chunk")
    dials.add_argument("--chunk", type=int, metavar="BYTES", help="chunk size (default: one event per chunk)")
    _configure_limits(
        parser.add_argument_group(
            "the model and its limits",
            "behaviour of the scripted model, refused parameters, and context limits",
        )
    )


def _configure_limits(dials: argparse._ArgumentGroup) -> None:
    switch = argparse.BooleanOptionalAction
    dials.add_argument("--thinks", action=switch, help="send reasoning (default: if requested)")
    dials.add_argument("--stops", action=switch, help="do not repeat cancelled tool calls (default)")
    dials.add_argument("--needs-reasoning", action=switch, help="ignore results if reasoning is not replayed")
    dials.add_argument("--enforces", action=switch, help="refuse what the contract refuses (default)")
    dials.add_argument("--refuses", metavar="WHAT[,WHAT…]", help="refuse requests with these features")
    dials.add_argument("--ignores", metavar="WHAT[,WHAT…]", help="accept these features, but ignore them")
    dials.add_argument(
        "--context",
        type=int,
        metavar="TOKENS",
        help="context size of the model; it does not read the rest of a longer request (default: no limit)",
    )
    dials.add_argument(
        "--result-limit",
        type=int,
        metavar="BYTES",
        help="length up to which the model reads a tool result (default: no limit)",
    )
    dials.add_argument(
        "--name-limit", type=int, metavar="N", help="maximum length of a tool name, in characters (default: no limit)"
    )
    dials.add_argument(
        "--id-limit", type=int, metavar="N", help="maximum length of a tool call id, in characters (default: no limit)"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until ctrl-c."""
    from workbench import contracts
    from workbench.simulator import Simulator, serve

    if args.provider == "mcp":
        return _serve_tools(args)
    if args.file or args.server or args.fault:
        raise UsageError("FILE, --server and --fault are for workbench simulate mcp FILE")
    contracts.demand(args.provider)
    with ExitStack() as stack:
        known = None if args.known is None else stack.enter_context(closing(_known_session(args.known)))
        ended = stack.enter_context(_session_writer(args.out))
        simulator = Simulator(args.provider, permissive=args.permissive, model=_model(args), known=known, ended=ended)
        server = stack.enter_context(serve(simulator, port=args.port or 0, log=_log))
        _output.emit(_what_to_set(simulator, server))
        sys.stdout.flush()
        with interrupted_by(signal.SIGINT, signal.SIGTERM, signal.SIGHUP), suppress(KeyboardInterrupt):
            Event().wait()
    return 0


def _serve_tools(args: argparse.Namespace) -> int:
    """Serve a recorded tool server, until the input ends or ctrl-c."""
    from workbench.formats.importers import open_input
    from workbench.simulator import ToolServer, choose_server, decoded_of, recorded_servers, serve_lines, serve_tools
    from workbench.wire.session import exchanges_of

    if not args.file:
        raise UsageError("name a session with a recorded server", hint="workbench simulate mcp FILE")
    if args.fault == "session-lost" and args.port is None:
        raise UsageError("only a server over HTTP can lose a session", hint="add --port N to --fault session-lost")
    with closing(open_input(args.file)) as session:
        server = choose_server(recorded_servers(decoded_of(list(exchanges_of(session)))), args.server)
    fault, latency = args.fault or "", args.latency or 0.0
    _log_line(f"MCP server {server.name}: {_output.number(len(server.tools), 'tool')}, nothing is run")
    with interrupted_by(signal.SIGINT, signal.SIGTERM, signal.SIGHUP), suppress(KeyboardInterrupt):
        if args.port is None:
            serve_lines(ToolServer(server, fault), sys.stdin.buffer, sys.stdout.buffer, latency)
            return 0
        with serve_tools(server, fault, port=args.port, latency=latency) as url:
            _output.emit(url)
            sys.stdout.flush()
            Event().wait()
    return 0


def _log_line(line: str) -> None:
    _output.complain(line, 0)


def _model(args: argparse.Namespace) -> ScriptedModel:
    from workbench.simulator import ScriptedModel, dials_of, read_script

    values = {name.replace("_", "-"): getattr(args, name) for name in _DIALS if getattr(args, name) is not None}
    dials = dials_of(values)
    if args.script is None:
        return ScriptedModel(dials)
    try:
        text = Path(args.script).read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise UsageError(_output.describe_os_error(error), hint="--script names a YAML file") from error
    return read_script(text, args.script, dials)


def _known_session(path: str) -> Session:
    """Open a session. Raises UsageError if it contains no response of a model, WorkbenchError, OSError."""
    from workbench.formats.importers import open_input
    from workbench.protocols import TEXT, DecodedExchange
    from workbench.wire.session import exchanges_of

    session = open_input(path)
    for index, exchange in enumerate(exchanges_of(session)):
        decoded = DecodedExchange(index, exchange)
        if decoded.protocol != TEXT and decoded.response and decoded.response.messages:
            return session
    session.close()
    raise UsageError(f"{path} contains no response of a model", hint="--known needs a session with responses")


def _what_to_set(simulator: Simulator, server: Server) -> str:
    """One line: contract, URL, and the variables for the SDKs."""
    from workbench import protocols

    contract, url = simulator.contract, server.url
    supported = simulator.protocols or protocols.by_rank()
    known = dict.fromkeys(
        variable.assignment(url, is_first=number == 0)
        for number, name in enumerate(supported)
        if (variable := protocols.get(name).serving.variable)
    )
    how = "permissive" if simulator.is_permissive else "strict"
    note = f" ({contract.note})" if contract.note else ""
    variables = f": {' '.join(known)}" if known else ""
    return f"simulating {simulator.label}, {how}{note}, at {url} until ctrl-c{variables}"


def _log(served: ServedRequest) -> None:
    _output.complain(served.line(), 0)


@contextmanager
def _session_writer(out: str | None) -> Iterator[Callable[[Exchange], None] | None]:
    """Callback that records finished exchanges in a session file, keys replaced; None without a file."""
    if out is None:
        yield None
        return
    if out == "-" or out.endswith(".jsonl"):
        raise UsageError(f"cannot record to {out}", hint="give a .wb file; workbench import converts it to .jsonl")
    from workbench.wire import Redactor
    from workbench.wire.session import SessionWriter

    redactor = Redactor()
    with SessionWriter(Path(out)) as writer:
        yield lambda exchange: (writer.append(redactor.exchange(exchange)), None)[1]
