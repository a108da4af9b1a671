"""Send legal but unusual requests through a gateway to a test upstream, and report what the gateway changed.

No provider is contacted: requests go to the gateway, and the gateway sends them to the audit's upstream on this
machine, which notes the bytes it receives and returns legal but unusual responses. The score card shows what was
changed, dropped, merged or delayed in each direction.

  workbench audit --gateway http://127.0.0.1:4000
  workbench audit --gateway http://127.0.0.1:4000/v1 --port 8100 --protocol openai-chat --key-variable GATEWAY_KEY
  workbench audit --gateway http://127.0.0.1:4000 --out audit.wb -- litellm --config config.yaml --port 4000
  workbench audit --gateway http://127.0.0.1:4000 -- my-gateway --listen 4000 --upstream {{upstream}}/v1

Point the gateway's upstream at http://127.0.0.1:{port} (or at --port; with /v1 if its base URL needs that), or have it
started: CMD gets the address in WORKBENCH_UPSTREAM, and instead of {{upstream}} in its arguments. Every protocol that
reaches the audit's upstream is audited; if the gateway converts to another protocol, meaning is compared, not bytes.

A gateway may change headers of the connection, Host, Via, Forwarded, its own credentials and chunks; nothing else. With
--out the traffic of every case is saved as a session with two hops, client and upstream; workbench compare and open
show each damage in it at its place. Most findings of workbench check in that file come from the cases themselves:
incomplete responses and fields that no provider knows are sent on purpose.

JSON output is one object:
  {{"gateway", "upstream", "protocols": [{{"protocol", "upstream", "skipped"}}], "passed", "of",
   "themes": [{{"theme", "side", "passed", "of", "elsewhere", "kinds"}}],
   "damages": [{{"kind", "side", "severity": "error"|"warning"|"info", "theme", "was", "at", "words", "places",
     "shapes", "why", "rule", "cases": [{{"protocol", "case", "shows", "exchanges"}}]}}],
   "cases": [{{"protocol", "case", "theme", "passed"}}], "strays": requests that the gateway sent by itself}}
A theme has "of" cases; "elsewhere" counts cases of other themes that show such damage too. "shapes" of a damage are all
pointers where it was found, "*" for a number. "upstream" of a protocol is the one used there, null if it was skipped;
"exchanges" are the positions in the file of --out, counted from zero: the client's sighting, then the upstream's.

Exit status: 0 no damage, 1 damage (of --fail-on or worse), 4 requests do not reach the audit's upstream.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _options, _output, _progress
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.recorder.audit import AuditPlan, AuditResult, GatewayURL

NAME = "audit"
HELP = "test what a gateway changes in requests and responses"

PORT = 8765
"""Default port of the audit's upstream, for which gateways are configured beforehand."""

DUMMY = "sk-workbench-audit-0000"
"""The key that is sent unless one is given: no provider ever sees it."""

_STORY = (
    "audit of the gateway {}: contains deliberately unusual requests and broken "
    "responses; compare shows what the gateway changed"
)

UNREACHED = 4
FORMATS = ("text", "json", "junit")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (parser.description or "").format(port=PORT)
    parser.add_argument(
        "--gateway", required=True, metavar="URL", help="base URL of the gateway, as a client would use it"
    )
    parser.add_argument(
        "--port",
        type=_options.port,
        metavar="N",
        help=f"port of the test upstream (default: {PORT}; with CMD any free port)",
    )
    parser.add_argument(
        "--protocol",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="audit only these protocols (default: all that reach the test upstream)",
    )
    parser.add_argument(
        "--to", default="", metavar="PROTOCOL", help="protocol that the gateway uses upstream (default: as observed)"
    )
    parser.add_argument("--model", default="", metavar="NAME", help="model to request (default: one per provider)")
    parser.add_argument("--case", action="extend", nargs="+", default=[], metavar="NAME", help="run only these cases")
    parser.add_argument(
        "--header", action="append", default=[], metavar="NAME:VALUE", help="header to send with every request"
    )
    parser.add_argument("--key-variable", metavar="NAME", help="environment variable with the gateway's API key")
    parser.add_argument(
        "--wait",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="time to wait until CMD accepts connections (default: 60)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="save the traffic of every case, recorded before and after the gateway, as a session",
    )
    _files.add_force(parser)
    parser.add_argument(
        "--fail-on",
        choices=("any", "warning", "error"),
        default="any",
        help="lowest severity of damage that causes exit status 1",
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("words", nargs="*", metavar="-- CMD", help="command that starts the gateway")


def run(args: argparse.Namespace) -> int:
    """Audit a gateway."""
    import asyncio

    from workbench.cli import _audit_report
    from workbench.cli._record import hand_over
    from workbench.recorder.audit import card
    from workbench.recorder.audit import run as audit_run

    plan = _plan(args)
    if args.words and hand_over.check(args.words[0]):
        return 2
    out = _out(args)
    with _progress_bar() as progress:
        try:
            audit, upstream = asyncio.run(_run_audit(args, plan, progress))
        except audit_run.GatewayUnreachable as error:
            return _output.complain(plan.mask(str(error)), UNREACHED)
    if out:
        _keep(audit, out, plan)
    found = card.score_card(audit)
    report = _audit_report.AuditReport(plan.gateway.url + plan.gateway.path, upstream, audit, found, args.out)
    _audit_report.print_in(args.format, report)
    return 1 if found.fails(args.fail_on) else 0


def _plan(args: argparse.Namespace) -> AuditPlan:
    from workbench.recorder.audit import AuditPlan, read_base
    from workbench.recorder.audit.cases import PROTOCOLS, cases_of

    for name in (*args.protocol, *filter(None, (args.to,))):
        if name not in PROTOCOLS:
            raise UsageError(f"{name!r} cannot be audited", hint=f"available: {', '.join(PROTOCOLS)}")
    if args.case:
        known = {case.name for protocol in PROTOCOLS for case in cases_of(protocol)}
        for name in args.case:
            if name not in known:
                raise UsageError(f"no case named {name!r}", hint="--format json lists them all")
    base = read_base(args.gateway)
    protocols = tuple(dict.fromkeys(args.protocol))
    return AuditPlan(base, protocols, args.to, args.model, _credentials(args, base), tuple(args.case))


def _credentials(args: argparse.Namespace, base: GatewayURL) -> tuple[tuple[str, str], ...]:
    """Headers with credentials for the gateway: the key in every header that clients use for one."""
    key = DUMMY
    if args.key_variable:
        key = os.environ.get(args.key_variable, "")
        if not key:
            raise UsageError(
                f"the environment variable {args.key_variable} is not set", hint="set it to the gateway's API key"
            )
    headers = [_header(text) for text in args.header]
    names = {name.lower() for name, _ in headers}
    own = (("Authorization", f"Bearer {key}"), ("x-api-key", key), ("x-goog-api-key", key))
    return (*(pair for pair in own if pair[0].lower() not in names), *headers)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = (part.strip() for part in text.partition(":"))
    is_legal = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    if not colon or not is_legal or not value.isprintable() or any(ord(c) > 255 for c in value):
        raise UsageError("--header needs NAME:VALUE", hint="for example --header 'X-Team: agents'")
    return name, value


def _out(args: argparse.Namespace) -> Path | None:
    if args.out is None:
        return None
    from workbench.formats import output_files

    out = Path(args.out)
    if args.out == "-" or out.is_dir():
        raise UsageError("--out needs a file name", hint="for example --out audit.wb")
    output_files.refuse_existing(out, is_forced=args.force)
    if not out.absolute().parent.is_dir():
        raise UsageError(f"no folder {out.parent}", hint="create it, or choose another name")
    return out


async def _run_audit(
    args: argparse.Namespace, plan: AuditPlan, progress: Callable[[str, int, int], None]
) -> tuple[AuditResult, str]:
    """Result of the audit, and the audit's upstream's URL."""
    from contextlib import AsyncExitStack

    from workbench.recorder.audit import AuditUpstream
    from workbench.recorder.audit import run as audit_run

    upstream = AuditUpstream(args.port if args.port is not None else 0 if args.words else PORT)
    async with AsyncExitStack() as stack:
        await upstream.start()
        stack.push_async_callback(upstream.close)
        if args.words:
            await stack.enter_async_context(audit_run.run_gateway(args.words, plan.gateway, upstream.url, args.wait))
        else:
            where = f"point your gateway's upstream at {upstream.url} (base URLs with a version: {upstream.url}/v1)"
            _output.complain(where, 0)
        return await audit_run.run_audit(plan, upstream, progress), upstream.url


@contextmanager
def _progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Return a function that shows progress: a bar on a terminal."""
    if not sys.stderr.isatty():
        yield lambda protocol, done, of: None
        return
    with _progress.counting("auditing", None) as advance:
        total, before = 0, ""

        def progress(protocol: str, done: int, of: int) -> None:
            nonlocal total, before
            if protocol != before:
                total, before = total + of, protocol
            advance(1 if done else 0, note=protocol, total=total)

        yield progress


def _keep(audit: AuditResult, out: Path, plan: AuditPlan) -> None:
    from workbench.library import home_state
    from workbench.wire import Redactor
    from workbench.wire.session import store

    redactor = Redactor()
    for _, value in plan.headers:
        redactor.remember(value)
    store.save(audit.exchanges, out, redactor, {"story": _STORY.format(plan.gateway.url)})
    home_state.remember(out)
