"""``--shadow``, ``--refresh`` and ``--budget``: choose the probes, and the target of a running session."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from workbench.cli import _files, _output
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.probes import Probe, Subject
    from workbench.probes.profiles import DueProbe
    from workbench.wire import Exchange
    from workbench.wire.session import Session

SHADOW_BUDGET = 40
"""Requests at most with ``--shadow``, unless ``--budget`` is given."""

DAY = 86_400.0


class RunningModel(NamedTuple):
    """Target, protocol and model of the newest exchange of a session."""

    target: str
    protocol: str
    model: str


def running_model(path: str) -> RunningModel:
    """Read target, protocol and model from a session file. Raises UsageError, UnreadableInput."""
    session = _files.open_file(path)
    try:
        return _newest(session)
    finally:
        session.close()


def _newest(session: Session) -> RunningModel:
    from workbench import protocols
    from workbench.protocols import DecodedExchange

    for index in range(len(session) - 1, -1, -1):
        exchange = session.exchange(index)
        decoded = DecodedExchange(index, exchange)
        request = decoded.request
        if request and request.model and decoded.protocol in protocols.protocols():
            path = protocols.get(request.protocol).path(request)
            return RunningModel(_target(exchange, path), request.protocol, request.model)
    raise UsageError(f"no request to a model in {session.name}", hint="name one with --target and --model")


def _target(exchange: Exchange, path: str) -> str:
    """The simulator that answered, else the base URL of the request."""
    named = exchange.meta.get("target")
    if isinstance(named, str) and named.startswith("sim:"):
        return named
    url = exchange.request.url if exchange.request else ""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        raise UsageError("the session does not contain the URL of its requests", hint="name it with --target")
    front, tail = parts.path, path.partition("?")[0]
    while tail and not front.endswith(tail):
        tail = tail[tail.find("/", 1) :] if "/" in tail[1:] else ""
    return f"{parts.scheme}://{parts.netloc}{front.removesuffix(tail)}"


def check(args: argparse.Namespace) -> None:
    """Raise UsageError for options that cannot be combined, and fill in the target of ``--shadow``."""
    if not args.target and not args.shadow:
        raise UsageError("no target to probe", hint="give --target T, or --shadow SESSION")
    if args.refresh and args.probes:
        raise UsageError("--refresh selects the probes itself", hint="remove the probe names")
    if args.budget is not None and args.budget < 1:
        raise UsageError(f"--budget {args.budget} allows no request", hint="give 1 or more")
    if args.ttl <= 0:
        raise UsageError(f"--ttl {args.ttl} is not a number of days", hint="give more than 0 days")
    if args.shadow and not args.target:
        found = running_model(args.shadow)
        args.target = found.target
        args.protocol, args.model = args.protocol or found.protocol, args.model or found.model
    if args.shadow:
        args.budget, args.retries = args.budget or SHADOW_BUDGET, 0


def choose(args: argparse.Namespace, probes: Sequence[Probe], subject: Subject, template: str) -> tuple[Probe, ...]:
    """Choose the probes to run: the named or the stale ones, as many as the budget allows."""
    from workbench.probes.profiles import DueProbe, within

    due: Sequence[DueProbe] = [DueProbe(probe, "") for probe in probes]
    if args.refresh:
        due = _stale(args, subject, template)
        for each in due:
            _output.complain(f"{each.probe.name}: {each.why}", 0)
    left: Sequence[DueProbe] = ()
    if args.budget is not None:
        due, left = within(due, args.budget, args.samples)
    if left:
        names = ", ".join(each.probe.name for each in left)
        _output.complain(f"not run, because the budget of {args.budget} requests is used up: {names}", 0)
    return tuple(each.probe for each in due)


def _stale(args: argparse.Namespace, subject: Subject, template: str) -> tuple[DueProbe, ...]:
    from workbench.probes.profiles import ProfileKey, ProfileStore, light

    target = subject.target
    key = ProfileKey(subject.contract.label, subject.model, target.url or target.name, subject.protocol, template)
    known = [p for p in ProfileStore.of_user().latest() if p.key._replace(chat_template_hash=template) == key]
    newest = max(known, key=lambda profile: profile.verified_at, default=None)
    return light(newest, time.time(), key if template else None, args.ttl * DAY)
