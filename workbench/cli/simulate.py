"""Serve a provider that refuses like the real one, on this machine alone, for clients and the official SDKs.

Every request is judged by the provider's contract: what it enforces is refused with its status and words, and what was
answered before (reasoning, signatures, ids) has to come back as the contract wants it. A scripted model answers the
others: it calls the declared tools, one that the user's words name first, and puts their results into its last text.

  workbench simulate deepseek
  workbench simulate anthropic --port 8100 --arguments truncated
  workbench simulate openai --http 429:2 --retry-after 1 --stream cut
  workbench simulate generic --calls hermes --script turns.yaml --out today.wb

PROVIDER is a contract, with or without a variant (deepseek:v3.2); every protocol of the contract is served on one port,
under any prefix. The first line says what clients have to set; each request gets a line on stderr with its status, and
where it was refused the rule, the place and the provider's text. Ends with ctrl-c.

faults of arguments: {arguments}
faults of streams: {stream}
refused (--refuses): {refuses}, schema:KEYWORD
unread (--ignores): {ignores}, schema:KEYWORD

A script (--script FILE) answers turn by turn; the first turn that fits answers, and what no turn fits is answered as
above. match, dials, answer and times may each be left out, and so may parts of an answer: those the model says by
itself, but a text alone makes no calls:

  version: 1
  dials: {{latency: 0.05}}
  turns:
  - match: {{text: weather, model: "claude-*", tool: get_weather, results: false, turn: 1}}
    dials: {{calls: native, parallel: 2, arguments: wrong-type, stream: cut, http: "529:once", retry-after: 2}}
    answer: {{thinking: Where?, text: Let me look., calls: [{{name: get_weather, arguments: {{city: Paris}}}}]}}
    times: 1

The keys of dials are the options below, without dashes in front; http is STATUS, STATUS:once or STATUS:N. Asked for a
codeword ("What is the codeword?") the model tells those that it can read anywhere in the request; asked to write what
stands between <text> and </text> it does so, and of a picture in PNG it tells the colour.
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

from workbench.cli import _output
from workbench.cli._signals import interrupted_by
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.simulator import ScriptedModel, ServedRequest, Server, Simulator
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

NAME = "simulate"
HELP = "serve a provider that refuses like the real one"

_DIALS = (
    *("calls", "calls_in", "parallel", "mends", "reads", "arguments", "stream", "http", "retry_after", "latency"),
    *("chunk", "thinks", "stops", "needs_reasoning", "enforces", "refuses", "ignores", "context", "result_limit"),
    *("name_limit", "id_limit"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from workbench.simulator.faults import ARGUMENT_FAULTS, FEATURES, PLACES, STREAM_FAULTS, UNREAD

    listed = {"arguments": ARGUMENT_FAULTS, "stream": STREAM_FAULTS, "refuses": FEATURES, "ignores": UNREAD}
    faults = {name: ", ".join(known) for name, known in listed.items()}
    parser.description = (parser.description or "").format(**faults)
    parser.add_argument("provider", metavar="PROVIDER[:VARIANT]", help="a contract (workbench explain lists them)")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="listen there (default: any free port)")
    parser.add_argument("--permissive", action="store_true", help="answer what the contract refuses too, and say so")
    parser.add_argument("--script", metavar="FILE", help="answers turn by turn, as YAML")
    parser.add_argument("--known", metavar="FILE", help="a session whose answers count as given: they may be replayed")
    parser.add_argument("--out", metavar="FILE", help="keep a session file of it, appended to if it exists")
    dials = parser.add_argument_group("dials")
    dials.add_argument("--calls", metavar="FORMAT", help="native (default), or the text format of calls")
    dials.add_argument("--calls-in", choices=PLACES, help="where such text stands (default: content)")
    dials.add_argument("--parallel", type=int, metavar="N", help="calls of one answer, where the request allows it")
    dials.add_argument("--mends", type=int, metavar="N", help="errors after which a call is made rightly (0: never)")
    dials.add_argument("--reads", action=argparse.BooleanOptionalAction, help="answers tell what results say")
    dials.add_argument("--arguments", choices=[*ARGUMENT_FAULTS], metavar="FAULT", help="what is wrong with arguments")
    dials.add_argument("--stream", choices=[*STREAM_FAULTS], metavar="FAULT", help="what is wrong with streams")
    dials.add_argument("--http", metavar="STATUS[:N]", help="refuse with this status; N times, else always")
    dials.add_argument("--retry-after", type=float, metavar="SECONDS", help="header of those refusals")
    dials.add_argument("--latency", type=float, metavar="SECONDS", help="wait before each chunk")
    dials.add_argument("--chunk", type=int, metavar="BYTES", help="size of chunks (default: an event each)")
    _configure_limits(parser.add_argument_group("more dials", "what a server takes, and what its model gets to see"))


def _configure_limits(dials: argparse._ArgumentGroup) -> None:
    switch = argparse.BooleanOptionalAction
    dials.add_argument("--thinks", action=switch, help="reasoning comes with answers (default: as asked for)")
    dials.add_argument("--stops", action=switch, help="cancelled calls are not made again (the default)")
    dials.add_argument("--needs-reasoning", action=switch, help="results are unread where reasoning is not replayed")
    dials.add_argument("--enforces", action=switch, help="refuse what the contract refuses (the default)")
    dials.add_argument("--refuses", metavar="WHAT[,WHAT…]", help="requests with this are refused")
    dials.add_argument("--ignores", metavar="WHAT[,WHAT…]", help="this is taken, and goes unread")
    dials.add_argument("--context", type=int, metavar="TOKENS", help="of a request that are read (default: all)")
    dials.add_argument("--result-limit", type=int, metavar="BYTES", help="of a result that are read (default: all)")
    dials.add_argument("--name-limit", type=int, metavar="N", help="characters of a tool's name (default: any)")
    dials.add_argument("--id-limit", type=int, metavar="N", help="characters of a call's id (default: any)")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (0 to 65535)")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Serve until ctrl-c."""
    from workbench import contracts
    from workbench.simulator import Simulator, serve

    contracts.demand(args.provider)
    with ExitStack() as stack:
        known = None if args.known is None else stack.enter_context(closing(_known(args.known)))
        ended = stack.enter_context(_kept(args.out))
        simulator = Simulator(args.provider, permissive=args.permissive, model=_model(args), known=known, ended=ended)
        server = stack.enter_context(serve(simulator, port=args.port, log=_log))
        _output.emit(_what_to_set(simulator, server))
        sys.stdout.flush()
        with interrupted_by(signal.SIGINT, signal.SIGTERM, signal.SIGHUP), suppress(KeyboardInterrupt):
            Event().wait()
    return 0


def _model(args: argparse.Namespace) -> ScriptedModel:
    from workbench.simulator import ScriptedModel, dials_of, read_script

    given = {name.replace("_", "-"): getattr(args, name) for name in _DIALS if getattr(args, name) is not None}
    dials = dials_of(given)
    if args.script is None:
        return ScriptedModel(dials)
    try:
        text = Path(args.script).read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise UsageError(_output.describe_os_error(error), hint="--script names a YAML file") from error
    return read_script(text, args.script, dials)


def _known(path: str) -> Session:
    """The session in a file. Raises UsageError where nothing in it was answered, WorkbenchError, OSError."""
    from workbench.formats.importers import open_input
    from workbench.protocols.decode import TEXT, DecodedExchange
    from workbench.wire.session import exchanges_of

    session = open_input(path)
    for index, exchange in enumerate(exchanges_of(session)):
        decoded = DecodedExchange(index, exchange)
        if decoded.protocol != TEXT and decoded.response and decoded.response.messages:
            return session
    session.close()
    raise UsageError(f"{path} holds no answer of a model", hint="--known takes a session with the answers in it")


def _what_to_set(simulator: Simulator, server: Server) -> str:
    """One line: what is served where, and the variables of the SDKs."""
    from workbench import protocols

    contract, url = simulator.contract, server.url
    spoken = simulator.protocols or protocols.by_rank()
    known = dict.fromkeys(
        variable.assignment(url, is_first=number == 0)
        for number, name in enumerate(spoken)
        if (variable := protocols.get(name).serving.variable)
    )
    how = "permissive" if simulator.is_permissive else "strict"
    note = f" ({contract.note})" if contract.note else ""
    return f"simulating {simulator.label}, {how}{note}, at {url} until ctrl-c: {' '.join(known)}"


def _log(served: ServedRequest) -> None:
    _output.complain(served.line(), 0)


@contextmanager
def _kept(out: str | None) -> Iterator[Callable[[Exchange], None] | None]:
    """What takes exchanges that are over into a session file, keys replaced."""
    if out is None:
        yield None
        return
    if out == "-" or out.endswith(".jsonl"):
        raise UsageError(f"{out} cannot be recorded to", hint="name a .wb file; workbench import turns it into .jsonl")
    from workbench.wire.redaction import Redactor
    from workbench.wire.session.writer import SessionWriter

    redactor = Redactor()
    with SessionWriter(Path(out)) as writer:
        yield lambda exchange: (writer.append(redactor.exchange(exchange)), None)[1]
