"""Record the traffic between a client and its model provider, live, into a session file.

With CMD, starts the client with the variables that point it at the recorder. The client has the terminal to itself, and
its exit status is the result (128 + N if signal N ended it; 127: no such command, 126: it cannot be run). Known by the
name of their command: claude, codex, qwen, opencode, gemini, pi, llm, aider. Any other program, such as your own
script, gets the variables of the official SDKs. Without CMD, prints the addresses and records until ctrl-c.

  workbench record -- claude
  workbench record --upstream https://api.deepseek.com -- python agent.py
  workbench record --upstream anthropic=https://gateway.example --upstream openai=https://other.example/v1 -- pi
  workbench record --upstream https://api.openai.com --port 8100 --out today.wb

A URL is the base URL that the client would use; if it has no path, the path that the client expects there (/v1) is
added. Without --upstream, requests go where the client's own variable (ANTHROPIC_BASE_URL …) points, else to its
provider. Requests, responses and their timing pass unchanged and are recorded as they arrive; API keys are replaced
before anything is written to disk. The recorder listens on this machine only.

TARGET in --upstream TARGET is a URL, the name of a target, or sim:CONTRACT: then a simulator on this machine responds,
in the protocol of the request. If it does not support the protocol of a known client, the client is translated, as with
--as and the simulator's first protocol.

  workbench record --upstream sim:anthropic -- claude

With --as PROTOCOL the upstream uses PROTOCOL, and clients of other protocols are translated, streams while they arrive;
requests already in PROTOCOL pass unchanged.

  workbench record --as openai-chat --upstream https://api.deepseek.com --model deepseek-v4-flash -- claude
  workbench record --as openai-chat --upstream sim:qwen -- claude

Both sides are recorded: hops client and upstream (NAME:client, NAME:upstream). The measured profile of the upstream's
model corrects requests as in workbench send (--profile, --correct, --no-correct). Reasoning that the client's protocol
cannot carry is kept and restored verbatim; if a client needs a signature, it gets a handle that begins with
"workbench:" and is never sent upstream. A client that uses a WebSocket is served from an upstream over HTTP, and with
--upstream wss://HOST, or --as openai-realtime or gemini-live, requests over HTTP are made over a WebSocket. Every
change is a line in the note of the exchange with the upstream. The API key is that of the upstream's target if its
variable is set, else the client's own.

Open the file while it grows: workbench open FILE

WebSockets (Codex, the Responses API, Realtime, Gemini Live) pass unchanged and are recorded: the connection with its
messages, and each turn as a separate exchange, once it is over. --no-websocket refuses them with 426,
so that clients that can use HTTP use it. With --break, they are opened without compression, so that a message that a
breakpoint holds can be edited; the recording says so. --break frame:TYPE holds messages of a type.

--tls-listen lets the recorder listen with TLS: Google's SDK for Gemini Live requires it. A certificate is made
for this run, in a folder that only you can read, and never installed: the client trusts it through the variables
SSL_CERT_FILE, REQUESTS_CA_BUNDLE and NODE_EXTRA_CA_CERTS.

  workbench record --tls-listen --upstream https://generativelanguage.googleapis.com -- python live.py

--break pauses an exchange by its meaning, before it is passed on: a complete request, or a response from its first tool
call on. A pause is reported on stderr and waits for you: workbench breakpoints FILE, or the app.

  workbench record --break closure --break 'filter:tool:Bash' -- claude

--mcp records the client's MCP servers together with its model, in the same file: for this run each stdio server is
started behind workbench mcp-tap, and the client's own configuration files are only read. Known for claude, codex,
gemini, qwen, opencode and pi; servers at a URL are reached through the recorder. --mcp-only records only the servers.
--break mcp:NAME or mcp:NAME/TOOL pauses before a tools/call is sent and before its result goes back; --break
mcp-damage, if one of them, or the model request that contains the result, has an mcp finding.

  workbench record --mcp -- claude
  workbench record --mcp --break mcp:files/read_file -- claude
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _options, _output
from workbench.cli._record import breakpoint_lines, hand_over, tool_servers, translation
from workbench.cli._signals import interrupted_by
from workbench.config import resources
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.protocols.clients import Client
    from workbench.recorder import ClientSettings, ListenerCertificate, RecorderProcess
    from workbench.recorder.mcp_tap import TappedServers

_CUT = 4
"""Exit status if the recorder ended early: input and output failed."""

_SIGNAL = 128
"""Exit statuses beyond it: a signal, ctrl-c for one, ended the client."""

NAME = "record"
HELP = "record a client's traffic"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--upstream",
        action="extend",
        nargs="+",
        default=[],
        metavar="[NAME=]TARGET",
        help="URL to which requests are forwarded; give each a name if there are several "
        "(anthropic, openai and gemini set those providers' "
        "variables)",
    )
    parser.add_argument(
        "--port", type=_options.port, default=0, metavar="N", help="port to listen on (default: any free port)"
    )
    parser.add_argument("--out", metavar="FILE", help="session file, appended to if it exists (default: a new file)")
    parser.add_argument("--hop", default="", metavar="NAME", help="name of this hop, to compare it with another")
    parser.add_argument(
        "--tls-listen",
        action="store_true",
        help=(
            "listen with TLS and a certificate created for this run, for clients "
            "that require TLS (Google's SDK for Gemini Live)"
        ),
    )
    parser.add_argument(
        "--no-websocket", action="store_true", help="refuse WebSockets with status 426, so that clients use HTTP"
    )
    tool_servers.add(parser)
    translation.add(parser)
    breakpoint_lines.configure(parser)
    parser.add_argument("words", nargs="*", metavar="-- CMD", help="the client and its arguments")


def run(args: argparse.Namespace) -> int:
    """Record until the client ends, or until ctrl-c."""
    from workbench.library import home_state
    from workbench.protocols.clients import known_clients
    from workbench.recorder import client_settings

    translation.check(args)
    breakpoint_lines.check(args)
    tool_servers.check(args)
    status = hand_over.check(args.words[0]) if args.words else 0
    if status:
        return status
    client = known_clients.client_for(args.words[0]) if args.words else known_clients.SDKS
    name = client.name if client.commands else ""
    out = out_file(args.out)
    servers = tool_servers.servers(args, client.name if client.commands else "", out)
    if args.mcp_only:
        return tool_servers.run_alone(args, servers, out, name)
    on_event = breakpoint_lines.announcer(out, _say)
    if args.no_websocket:
        _say("WebSockets are refused with status 426; clients that support HTTP then use HTTP")
    args.spoken = args.spoken or translation.choose(args, client)
    if args.spoken:
        upstreams = translation.upstreams(args)
    else:
        upstreams = client_settings.parse_upstreams(args.upstream)
        upstreams = upstreams or client_settings.default_upstreams(client, os.environ)
        translation.check_urls(upstreams.values())
    with ExitStack() as stack:
        trusted = _certificate(args, upstreams, stack)
        recording = _start(args, upstreams, out, name, on_event, trusted.chain if trusted else None)
        if args.out:
            home_state.remember(recording.out)  # Home finds the others by their folder
        trust = trusted.variables() if trusted else {}
        ended: int | None = None
        try:
            if args.words:
                ended = _with_client(args, client, upstreams, recording, servers, trust)
                return ended
            _alone(args, upstreams, recording, trust)
        finally:
            recording.stop()
            _summarize(recording, args, servers.tapped, has_run=ended is not None and ended < _SIGNAL)
    return _CUT if _is_cut(recording) else 0


def _certificate(
    args: argparse.Namespace, upstreams: Mapping[str, str], stack: ExitStack
) -> ListenerCertificate | None:
    """The certificate of this run; None without ``--tls-listen``. Raises UsageError."""
    if not args.tls_listen:
        return None
    if args.spoken or any(map(translation.is_simulated, upstreams.values())):
        raise UsageError(
            "--tls-listen works only with URLs, not with --as or sim:CONTRACT",
            hint="workbench simulate CONTRACT, then --upstream with its URL",
        )
    from workbench.recorder import listener_certificate

    return stack.enter_context(listener_certificate(os.environ))


def _start(
    args: argparse.Namespace,
    upstreams: Mapping[str, str],
    out: Path,
    name: str,
    on_event: Callable[[Mapping[str, JsonValue]], None],
    chain: Path | None,
) -> RecorderProcess:
    """Start the recorder, or a translation."""
    from workbench.recorder import process

    if args.spoken or any(map(translation.is_simulated, upstreams.values())):
        return translation.start(args, upstreams, out, name, _say, on_event)
    return process.start(
        upstreams,
        out,
        port=args.port,
        hop=args.hop,
        client=name,
        breaks=args.breaks,
        passes_websockets=not args.no_websocket,
        certificate=str(chain or ""),
        on_trouble=_say,
        on_event=on_event,
    )


def out_file(path: str | None) -> Path:
    """The session file to record to: the given one, or a new one where Home finds it."""
    if path is None:
        from datetime import datetime

        now = datetime.now().astimezone()
        return resources.state_folder("recordings") / f"{now:%Y%m%d-%H%M%S}-{os.getpid()}.wb"
    out = Path(path)
    if out.suffix == ".jsonl" or path == "-":
        from workbench.formats import output_files

        raise output_files.irregular(path, "use a .wb file; workbench import converts it to .jsonl")
    return out


def _with_client(
    args: argparse.Namespace,
    client: Client,
    upstreams: Mapping[str, str],
    recording: RecorderProcess,
    servers: TappedServers,
    trust: Mapping[str, str],
) -> int:
    from workbench.recorder import settings_for

    words: Sequence[str] = args.words
    pointed = settings_for(client, translation.bases(args, upstreams), recording.urls, os.environ)
    _say(f"recording {client.name if client.commands else words[0]} to {recording.out}")
    for name, url in upstreams.items():
        _say(f"  {recording.urls[name]} → {url}")
    for name, value in (*pointed.variables.items(), *trust.items()):
        _say(f"  {name}={value}")
    if not (pointed.variables or pointed.arguments):
        _say(
            f"  {words[0]} gets no URL: name an upstream {', '.join(client.reaches())}, or set these URLs in the "
            "client's configuration"
        )
    if client.advice:
        _say(f"  {client.advice}")
    with ExitStack() as stack:
        arguments = stack.enter_context(_arguments(pointed))
        if arguments:
            _say(f"  {shlex.join((words[0], *arguments))} …")
        recorded = tool_servers.recorded(servers, recording.out, client.name, args.breaks)
        at_recorder = stack.enter_context(recorded)
        wrapped, variables = stack.enter_context(tool_servers.handed_over(at_recorder, pointed.variables))
        return hand_over.run((words[0], *arguments, *wrapped, *words[1:]), {**os.environ, **variables, **trust})


@contextmanager
def _arguments(pointed: ClientSettings) -> Iterator[list[str]]:
    """The arguments to add, with the file that they name."""
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        file = Path(folder) / "recorder.js"
        if pointed.file:
            file.write_text(pointed.file, encoding="utf-8")
        yield [word.replace("{file}", str(file)) for word in pointed.arguments]


def _alone(
    args: argparse.Namespace, upstreams: Mapping[str, str], recording: RecorderProcess, trust: Mapping[str, str]
) -> None:
    """Print the variables to set, and wait for ctrl-c."""
    with interrupted_by(signal.SIGINT, signal.SIGTERM, signal.SIGHUP), suppress(KeyboardInterrupt):
        _output.emit(f"recording to {recording.out} until ctrl-c")
        for name, url in upstreams.items():
            _output.emit(f"  {recording.urls[name]} → {url}")
        for line in _what_to_set(translation.bases(args, upstreams), recording):
            _output.emit(line)
        if trust:
            words = " ".join(f"{variable}={shlex.quote(path)}" for variable, path in trust.items())
            _output.emit(f"certificate of this recording; the client must trust it: {words}")
        sys.stdout.flush()
        recording.wait()


def _what_to_set(upstreams: Mapping[str, str], recording: RecorderProcess) -> Iterator[str]:
    """A line for each known client."""
    from workbench.protocols.clients import CLIENTS, SDKS
    from workbench.recorder import settings_for

    for client in (SDKS, *CLIENTS):
        pointed = settings_for(client, upstreams, recording.urls, {})
        sets = [f"{name}={shlex.quote(value)}" for name, value in pointed.variables.items()]
        words = [*sets, *client.commands, *map(shlex.quote, pointed.arguments)]
        yield f"{client.name}: {client.advice if pointed.file else ' '.join(words)}"


def _is_cut(recording: RecorderProcess) -> bool:
    """True if the recorder, or the process that writes its file, ended early."""
    return not recording.summary or bool(recording.summary["is_cut"])


def _summarize(recording: RecorderProcess, args: argparse.Namespace, tapped: Sequence[str], *, has_run: bool) -> None:
    """Print a summary of the recording.

    Args:
        tapped: names of the MCP servers that were to be recorded.
        has_run: a client was started and has ended.
    """
    summary, out = recording.summary, shlex.quote(str(recording.out))
    if _is_cut(recording):
        _say(f"the recorder ended early; everything written so far is in {out}")
        return
    states = ", ".join(f"{summary[state]:,} {state}" for state in ("aborted", "incomplete", "lost") if summary[state])
    count = _output.number(summary["exchanges"], "exchange") + (f" ({states})" if states else "")
    hint = ": check that the client uses the variables above" if has_run and not states else ""
    with_servers = tool_servers.number_in(recording.out) - summary["exchanges"] if args.mcp else 0
    for line in translation.change_lines(summary, args.spoken):
        _say(line)
    if args.mcp and tapped and not with_servers:
        _say(
            f"0 exchanges with MCP servers: the client did not start any of {', '.join(tapped)} with the "
            "configuration of this run"
        )
    if with_servers:
        _say(f"{count} with the model{'' if summary['exchanges'] else hint}")
        _say(f"{_output.number(with_servers, 'exchange')} with MCP servers")
    if summary["exchanges"] or with_servers:
        _say(f"{_output.number(summary['exchanges'] + with_servers, 'exchange') if with_servers else count} in {out}")
        _say(f"workbench open {out}")
        return
    if not args.out:
        recording.out.unlink(missing_ok=True)  # the file has a default name and is empty
    _say(f"{count} recorded{hint}")


def _say(line: str) -> None:
    """Print on stderr, because stdout belongs to the client."""
    _output.complain(line, 0)
