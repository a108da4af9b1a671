"""``--shadow``, ``--refresh`` and ``--budget``: what is probed beside a session, what is stale, and how much of it."""

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
    from workbench.probes.profiles.refresh import DueProbe
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

SHADOW_BUDGET = 40
"""Requests beside a running session, where nobody says how many."""

DAY = 86_400.0


class Beside(NamedTuple):
    """What the newest exchange of a session with a model talks to."""

    target: str
    protocol: str
    model: str


def beside(path: str) -> Beside:
    """What a session talks to. The file is read, and never written. Raises UsageError, UnreadableInput."""
    session = _files.open_file(path)
    try:
        return _newest(session)
    finally:
        session.close()


def _newest(session: Session) -> Beside:
    from workbench import protocols
    from workbench.protocols.decode import DecodedExchange

    for index in range(len(session) - 1, -1, -1):
        exchange = session.exchange(index)
        decoded = DecodedExchange(index, exchange)
        request = decoded.request
        if request and request.model and decoded.protocol in protocols.protocols():
            path = protocols.get(request.protocol).path(request)
            return Beside(_target(exchange, path), request.protocol, request.model)
    raise UsageError(f"no request of a model in {session.name}", hint="name one with --target and --model")


def _target(exchange: Exchange, path: str) -> str:
    """The simulator that answered, else the base URL that the request went to."""
    named = exchange.meta.get("target")
    if isinstance(named, str) and named.startswith("sim:"):
        return named
    url = exchange.request.url if exchange.request else ""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        raise UsageError("the session does not say where it went", hint="name it with --target")
    front, tail = parts.path, path.partition("?")[0]
    while tail and not front.endswith(tail):
        tail = tail[tail.find("/", 1) :] if "/" in tail[1:] else ""
    return f"{parts.scheme}://{parts.netloc}{front.removesuffix(tail)}"


def check(args: argparse.Namespace) -> None:
    """Raises UsageError for what does not go together."""
    if not args.target and not args.shadow:
        raise UsageError("what is to be probed?", hint="--target T, or --shadow SESSION")
    if args.refresh and args.probes:
        raise UsageError("--refresh chooses the probes itself", hint="name none")
    if args.budget is not None and args.budget < 1:
        raise UsageError(f"a budget of {args.budget} requests", hint="1 or more")
    if args.ttl <= 0:
        raise UsageError(f"results that hold {args.ttl} days", hint="more than 0")
    if args.shadow and not args.target:
        found = beside(args.shadow)
        args.target = found.target
        args.protocol, args.model = args.protocol or found.protocol, args.model or found.model
    if args.shadow:
        args.budget, args.retries = args.budget or SHADOW_BUDGET, 0


def chosen(args: argparse.Namespace, probes: Sequence[Probe], subject: Subject, template: str) -> tuple[Probe, ...]:
    """The probes to run: those named, or those that are stale; as many as the budget allows."""
    from workbench.probes.profiles.refresh import DueProbe, within

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
        _output.complain(f"left out, beyond {args.budget} requests: {names}", 0)
    return tuple(each.probe for each in due)


def _stale(args: argparse.Namespace, subject: Subject, template: str) -> tuple[DueProbe, ...]:
    from workbench.probes.profiles import ProfileKey, ProfileStore
    from workbench.probes.profiles.refresh import light

    target = subject.target
    key = ProfileKey(subject.contract.label, subject.model, target.url or target.name, subject.protocol, template)
    known = [p for p in ProfileStore.of_user().latest() if p.key._replace(chat_template_hash=template) == key]
    newest = max(known, key=lambda profile: profile.verified_at, default=None)
    return light(newest, time.time(), key if template else None, args.ttl * DAY)
