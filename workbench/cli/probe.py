"""Measure what a model behind an endpoint can do with tools; the result is its capability profile.

  workbench probe --target sim:deepseek
  workbench probe --target http://127.0.0.1:8080/v1 --protocol openai-chat --model local --yes
  workbench probe --target anthropic --model claude-sonnet-4-5 parallel streaming --samples 5 --format junit

PROBE is a name of the list below; without one the seven probes of a profile are run. Each sample is a small
conversation with one of three built-in tools: probe_echo, probe_add (whose result contains a number that no model can
guess) and probe_fail_once (which fails until it is called correctly). No tool runs anything. The number of requests,
and about how many tokens they take, is printed before anything is sent.

--refresh runs only probes that were never run, are older than --ttl days, or belong to another chat template, and adds
those that cost a request or two; if all results are current, nothing. --shadow SESSION probes the target of a running
session: target, protocol and model are those of its newest exchange. Its file is only read, none of it is sent, nothing
is retried, and at most --budget requests are sent (40).

  pass           all samples passed
  partial        some samples passed, or a part of each
  fail           no sample passed
  inconclusive   not measurable: network, key, rate limit, or no evidence

{probes}

Your own probe is one file: in {folder}, named by its file name, or given as a path.
A .py file contains an object "probe" like those of workbench.probes; it runs when it is named.
A .yaml file contains requests, what is expected of each, and facts for the profile:

  version: 1
  title: does the model give distances in metres
  requests:
  - words: How far is it to Paris? Use the tool, and say {{nonce}} at the end.
    system: Distances are in metres.
    tools:
    - {{name: distance, schema: {{type: object, properties: {{place: {{type: string}}}}, required: [place]}}}}
    results: {{distance: 1200 m}}
    expect:
      calls: [{{name: distance, arguments: {{place: Paris}}}}]
      text: "1.?200"
      no-text: mile
      findings: []
  facts: {{keeps_metres: true}}
  otherwise: {{keeps_metres: false}}

Requests may have system, tools (probe_echo, probe_add, probe_fail_once, or declarations), choice, stream, thinking,
params, results (tool results by tool) and turns. expect may have status, text and no-text (regular expressions), calls
(in order, with the named arguments), stop and findings (these rules and no others). {{nonce}} is replaced by letters
that are new in each sample.

A real server is asked for its models, if none is named, and for its chat template. The hash of the template belongs to
the key of the profile, so that a changed template starts a new history.

The profile is added to the history of its target (workbench profile); the exchanges are kept next to it, or in OUT.
Drift is reported on stderr: a change of ten points or more in how often a probe passes, confirmed by a statistical test
over the last runs.

JSON output is one object:
  {{"target", "protocol", "model", "provider", "profile": {{…}}, "evidence": FILE | null, "probes": [{{"probe",
   "verdict", "n", "passes", "unmeasured", "interval": [low, high], "words", "facts", "evidence": [exchange…], "at"}}]}}

Exit status: 0 if all probes passed; 1 if one failed or passed partly; 3 if none failed but some are inconclusive; 4 if
all are inconclusive.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from workbench.cli import _files, _options, _output
from workbench.cli._send import consent
from workbench.errors import UsageError
from workbench.views import PROBE_SIGNS, fact_words

if TYPE_CHECKING:
    from workbench.probes import Measurement, Probe, ProbeResult, Subject
    from workbench.probes.profiles import CapabilityProfile, DueProbe
    from workbench.send import Target
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
    raise _options.no_model_request(session.name, "give one with --target and --model")


def _target(exchange: Exchange, path: str) -> str:
    """The simulator that answered, else the base URL of the request."""
    target = exchange.meta.get("target")
    if isinstance(target, str) and target.startswith("sim:"):
        return target
    url = exchange.request.url if exchange.request else ""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        raise UsageError("the session does not contain the URL of its requests", hint="give the URL with --target")
    front, tail = parts.path, path.partition("?")[0]
    while tail and not front.endswith(tail):
        tail = tail[tail.find("/", 1) :] if "/" in tail[1:] else ""
    return f"{parts.scheme}://{parts.netloc}{front.removesuffix(tail)}"


def check(args: argparse.Namespace) -> None:
    """Raise UsageError for options that cannot be combined, and fill in the target of ``--shadow``."""
    if not args.target and not args.shadow:
        raise UsageError("no target to probe", hint="give --target T, or --shadow SESSION")
    if args.refresh and args.probes:
        raise UsageError("--refresh selects the probes itself", hint="give --refresh without probe names")
    _options.demand_budget(args.budget)
    if args.ttl <= 0:
        raise UsageError(f"--ttl {args.ttl} is not a number of days", hint="use more than 0 days")
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
    rest: Sequence[DueProbe] = ()
    if args.budget is not None:
        due, rest = within(due, args.budget, args.samples)
    if rest:
        names = ", ".join(each.probe.name for each in rest)
        _output.complain(f"not run, because the budget of {args.budget} requests is used up: {names}", 0)
    return tuple(each.probe for each in due)


def _stale(args: argparse.Namespace, subject: Subject, template: str) -> tuple[DueProbe, ...]:
    from workbench.probes.profiles import ProfileKey, ProfileStore, light

    target = subject.target
    key = ProfileKey(subject.contract.label, subject.model, target.url or target.name, subject.protocol, template)
    known = [p for p in ProfileStore.of_user().latest() if p.key._replace(chat_template_hash=template) == key]
    newest = max(known, key=lambda profile: profile.verified_at, default=None)
    return light(newest, time.time(), key if template else None, args.ttl * DAY)


NAME = "probe"
HELP = "measure what a model can do with tools"

MOST_NAMED = 12


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from workbench import probes

    listed = [f"  {p.name:<14} {p.title}" for p in probes.all_probes()]
    listed += [
        f"  {name:<14} from your probes folder: {_output.cut(path.name)}" for name, path in probes.own_probes().items()
    ]
    folder = "$XDG_CONFIG_HOME/workbench/probes"
    parser.description = (parser.description or "").format(probes="\n".join(listed), folder=folder)
    parser.add_argument(
        "probes",
        metavar="PROBE",
        nargs="*",
        help="only these probes (default: the seven that form a profile; all: every probe)",
    )
    parser.add_argument("--target", metavar="T", help="a name from workbench targets, or a URL")
    parser.add_argument("--protocol", metavar="NAME", default="", help="protocol to use (default: the target's)")
    parser.add_argument("--model", default="", help="model to measure (default: the target's, or its only one)")
    parser.add_argument("--samples", type=int, default=1, metavar="N", help="samples of each probe (default: 1)")
    parser.add_argument("--refresh", action="store_true", help="run only probes that are stale or cheap")
    parser.add_argument(
        "--ttl",
        type=float,
        default=30,
        metavar="DAYS",
        help="days after which a result is stale (default: 30)",
    )
    parser.add_argument(
        "--shadow", metavar="SESSION", help="probe the target of this session; the session file is not changed"
    )
    parser.add_argument(
        "--budget", type=int, metavar="N", help="maximum number of requests; probes that would exceed it are skipped"
    )
    parser.add_argument(
        "--dial",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="change a setting (dial) of the simulator; workbench simulate --help lists them",
    )
    parser.add_argument("--no-ask", action="store_true", help="do not ask the server for its models and chat template")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="retries of a failed request (default: 3)")
    parser.add_argument("--out", metavar="FILE", help="session file for the exchanges (.wb, .jsonl)")
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--format", choices=("text", "json", "junit"), default="text")


def run(args: argparse.Namespace) -> int:
    """Measure one target."""
    from workbench import probes
    from workbench.send import resolve

    if not 1 <= args.samples <= probes.MOST_SAMPLES:
        raise UsageError(f"--samples {args.samples} is out of range", hint=f"give 1 to {probes.MOST_SAMPLES}")
    if args.retries < 0:
        raise UsageError(f"--retries {args.retries} is negative", hint="give 0 or more")
    check(args)
    selected = probes.select(args.probes)
    target = resolve(args.target, args.protocol)
    subject = probes.subject_of(target, args.protocol, args.model or _only_model(args, target))
    template = _template(args, subject) if args.refresh else None
    selected = choose(args, selected, subject, template or "")
    if not selected:
        _output.complain("no probe is stale" if args.refresh else "the budget is too small for any probe", 0)
        return 0 if args.refresh else 3
    requests = sum(probe.requests for probe in selected) * args.samples
    if not target.is_simulator:
        tokens = sum(probe.tokens for probe in selected) * args.samples
        _output.complain(f"at most {requests:,} requests, about {tokens:,} tokens", 0)
    consent.agree([target], requests, is_agreed=args.yes)
    template = _template(args, subject) if template is None else template
    measurement = probes.Measurement(subject)
    try:
        asyncio.run(_measure(args, measurement, selected))
    finally:
        evidence = _save_evidence(args, measurement)
    profile = _keep_profile(measurement, evidence, template)
    _show(args, target, measurement, profile)
    return _status(measurement.results)


def _template(args: argparse.Namespace, subject: Subject) -> str:
    """Hash of the server's chat template; empty if it names none, or is not asked."""
    from workbench.probes.profiles import template_hash

    if args.no_ask:
        return ""
    return asyncio.run(template_hash(subject.target, subject.protocol, subject.model))


def _only_model(args: argparse.Namespace, target: Target) -> str:
    """The only model of an endpoint; empty if it lists none. Raises UsageError if it lists several."""
    from workbench.probes.profiles import models

    if args.no_ask or target.model or target.is_simulator:
        return ""
    listed = asyncio.run(models(target, args.protocol or target.protocol))
    if len(listed) > 1:
        more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
        named = ", ".join(_output.cut(name, 80) for name in listed[:MOST_NAMED])
        raise UsageError(f"{target.name} has several models", hint=f"choose one with --model: {named}{more}")
    return listed[0] if listed else ""


async def _measure(args: argparse.Namespace, measurement: Measurement, selected: tuple[Probe, ...]) -> None:
    from workbench import probes
    from workbench.cli import _progress
    from workbench.send import Sender

    async with Sender(model=probes.scripted_model(args.dial), retries=args.retries) as sender:
        with _progress.counting("probing", len(selected) * args.samples) as advance:
            async for step in probes.measure(measurement, selected, sender, samples=args.samples):
                advance(note=f"{step.probe.name}: {step.sample.outcome.value}")


def _save_evidence(args: argparse.Namespace, measurement: Measurement) -> str:
    """Save the exchanges; their file, empty if there are none or they cannot be written."""
    from workbench.probes.profiles import save_evidence

    try:
        return save_evidence(measurement, Path(args.out) if args.out else None, at=time.time())
    except OSError as error:
        if args.out:
            raise
        _output.complain(f"the exchanges were not saved: {_output.describe_os_error(error)}", 0)
        return ""


def _keep_profile(measurement: Measurement, evidence: str, template: str) -> CapabilityProfile:
    from workbench.probes.profiles import save_profile

    result = save_profile(measurement, at=time.time(), evidence=evidence, template=template)
    for change in result.drift:
        _output.complain(f"drift: {change}", 0)
    if result.trouble:
        _output.complain(f"the profile was not saved: {result.trouble}", 0)
    return result.profile


def _status(results: list[ProbeResult]) -> int:
    outcomes = {result.outcome.value for result in results}
    if outcomes & {"fail", "partial"}:
        return 1
    if "inconclusive" not in outcomes:
        return 0
    return 4 if outcomes == {"inconclusive"} else 3


def _show(args: argparse.Namespace, target: Target, measurement: Measurement, profile: CapabilityProfile) -> None:
    if args.format == "junit":
        _output.write(_junit(target, measurement))
    elif args.format == "json":
        values = profile.as_json()
        key = profile.key
        head = {"target": target.name, "protocol": key.protocol, "model": key.model, "provider": key.provider}
        probes = values.pop("probes")
        _output.emit_json({**head, "profile": values, "evidence": profile.evidence or None, "probes": probes})
    else:
        _print(target, measurement, profile)


def _print(target: Target, measurement: Measurement, profile: CapabilityProfile) -> None:
    from workbench.probes.profiles import NAMES

    subject = measurement.subject
    _output.emit(f"{target.name}: {subject.protocol}, {subject.model}; tools are never run")
    _output.emit()
    for result in measurement.results:
        count = f"{result.passes}/{result.n}" if result.n else "-"
        words = _output.cut(result.words)
        _output.emit(
            f"{PROBE_SIGNS[result.outcome.value][0]} {result.probe:<14} {result.outcome.value:<13} {count:>7}  {words}"
        )
    _output.emit()
    for name in NAMES:
        value = profile.fact(name)
        _output.emit(f"  {name:<30} {fact_words(value)}")
    if profile.evidence:
        _output.emit()
        _output.emit(f"evidence: {profile.evidence}")


def _junit(target: Target, measurement: Measurement) -> str:
    """A test suite with a case for each probe."""
    import xml.etree.ElementTree as ET

    from workbench.safetext import visible

    results = measurement.results
    failures = sum(r.outcome.value in ("fail", "partial") for r in results)
    skipped = sum(r.outcome.value == "inconclusive" for r in results)
    counts = {"tests": str(len(results)), "failures": str(failures), "skipped": str(skipped)}
    root = ET.Element("testsuite", {"name": visible(f"workbench probe {target.name}"), **counts})
    for result in results:
        case = ET.SubElement(root, "testcase", name=result.probe, classname=measurement.subject.protocol)
        text = visible(result.words)
        if result.outcome.value == "inconclusive":
            ET.SubElement(case, "skipped", message=text)
        elif result.outcome.value != "pass":
            ET.SubElement(case, "failure", message=text, type=result.outcome.value)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"
