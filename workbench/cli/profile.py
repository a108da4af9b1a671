"""List, show and compare measured capability profiles, or decide which tools a model may be given.

  workbench profile list
  workbench profile show NAME
  workbench profile diff A B
  workbench profile gate NAME --tools FILE

NAME is a number of the list, or part of an endpoint or a model; NAME@2 is the second newest measurement in its history.
diff with one name compares the newest measurement with the one before.

gate decides which tools of FILE a model may be given, and why: first tools that only read, then tools that write, once
enough samples show that the model calls tools, reads results and corrects failed calls. FILE is an MCP response to
tools/list, a list of names, a mapping of names to risks (read-only, idempotent-write, destructive), a request or a
session. The risk of a tool is the listed one, else that of its annotations (readOnlyHint, destructiveHint,
idempotentHint), else that of the first word of its name, else destructive.

JSON output: list is {{"profiles": [{{…}}]}}, show one profile, diff {{"before", "after", "key", "facts", "gained",
"lost"}} with lists of {{"name", "before", "after"}}, gate the key of the profile with
"stage" (none, read-only, idempotent, everything), "held": [TEXT…] (missing for the next stage), and "tools": [{{"name",
"risk", "because", "enabled", "reason"}}]. A profile has "provider", "model", "endpoint", "protocol",
"chat_template_hash", {names}, "verified_at", "probe_version", "evidence", "facts" and "probes"; show adds "drift":
[{{"probe", "before": [passes, samples], "after", "runs", "chance"}}], changes in how often a probe passes.

Exit status: 1 if two profiles differ in a fact, or a tool is not enabled; 2 if there is no such profile.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.errors import UnreadableInput, UsageError, WireError
from workbench.views import fact_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.probes.profiles import (
        CapabilityProfile,
        Drift,
        ProfileDifferences,
        ProfileKey,
        ProfileStore,
        RatedTool,
        ToolGate,
    )


def run_gate(profile: CapabilityProfile, tools: str, *, is_json: bool) -> int:
    """Print which tools are enabled, and why; 1 if one is not. Raises UsageError, OSError."""
    from workbench.probes.profiles import fall, gate

    found = gate(profile, list(_read(Path(tools))), fall(profile), profile.why_stale(time.time()))
    if is_json:
        _output.emit_json({**profile.key._asdict(), **found.as_json()})
    else:
        _print(profile, found)
    return 0 if all(tool.is_enabled for tool in found.tools) else 1


def _print(profile: CapabilityProfile, gate: ToolGate) -> None:
    from workbench.probes.profiles import STAGES, GateStage

    key = profile.key
    _output.emit(f"{key.endpoint} · {key.protocol} · {key.model}")
    _output.emit(
        f"stage {int(gate.stage)} of {len(GateStage) - 1}: {', '.join(STAGES[1 : gate.stage + 1]) or STAGES[0]}"
    )
    for line in gate.missing:
        _output.emit(f"  next: {_output.cut(line, 200)}")
    _output.emit()
    width = max((len(tool.name) for tool in gate.tools), default=0)
    for tool in gate.tools:
        sign = "✓" if tool.is_enabled else "✗"
        _output.emit(f"{sign} {_output.cut(tool.name):<{min(width, 40)}}  {tool.risk:<16}  {tool.because}")


def _read(path: Path) -> Iterator[RatedTool]:
    """Read the tools from a list, or from the requests of a session. Raises UsageError, OSError."""
    from workbench.config import safeyaml
    from workbench.errors import ProfileError
    from workbench.probes.profiles import tools_of
    from workbench.wire import loads

    data = path.read_bytes()
    try:
        yield from tools_of(loads(data))
        return
    except WireError:
        pass
    except UsageError:
        if data.lstrip()[:1] == b"[":
            raise
    if found := list(_declared_tools(path)):
        yield from found
        return
    try:
        yield from tools_of(safeyaml.load(data, name=str(path)))
    except ProfileError as error:
        raise UsageError("not a list of tools", where=str(path), hint=str(error)) from error


def _declared_tools(path: Path) -> Iterator[RatedTool]:
    """Tools of all requests of a session, each once."""
    from workbench.formats.importers import open_input
    from workbench.probes.profiles import RatedTool, annotations_of
    from workbench.protocols import DecodedExchange
    from workbench.wire.session import exchanges_of

    try:
        session = open_input(str(path))
    except UnreadableInput:
        return
    seen: set[str] = set()
    try:
        for index, exchange in enumerate(exchanges_of(session)):
            request = DecodedExchange(index, exchange).request
            for tool in request.tools if request else ():
                if tool.name and tool.name not in seen:
                    seen.add(tool.name)
                    yield RatedTool(tool.name, annotations_of(tool.extra))
    finally:
        session.close()


NAME = "profile"
HELP = "list, show and compare measured capability profiles"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from workbench.probes.profiles import NAMES

    quoted = ", ".join(f'"{name}"' for name in NAMES)
    parser.description = (parser.description or "").format(names=quoted)
    parser.add_argument("what", choices=("list", "show", "diff", "gate"))
    parser.add_argument("names", metavar="NAME", nargs="*", help="profiles")
    parser.add_argument("--tools", metavar="FILE", help="with gate: file that lists the tools to check")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """List, show or compare."""
    from workbench.probes.profiles import ProfileStore, drift

    most = {"list": 0, "show": 1, "diff": 2, "gate": 1}[args.what]
    least = min(most, 1)
    if not least <= len(args.names) <= most:
        expected = f"{least} to {most} names" if least < most else _output.number(most, "name")
        raise UsageError(f"profile {args.what} needs {expected}, not {len(args.names)}", hint="see --help")
    if bool(args.tools) != (args.what == "gate"):
        raise UsageError("--tools FILE is needed by gate, and only allowed there", hint="see --help")
    store = ProfileStore.of_user()
    for fault in store.faults:
        _output.complain(fault, 0)
    if args.what == "list":
        return _list(args, store)
    if args.what == "gate":
        return run_gate(store.find(args.names[0]), args.tools, is_json=args.format == "json")
    if args.what == "show":
        profile = store.find(args.names[0])
        return _show(
            args, profile, drift([p for p in store.history(profile.key) if p.verified_at <= profile.verified_at])
        )
    before, after = _pair(store, args.names)
    return _diff(args, before, after)


def _pair(store: ProfileStore, names: list[str]) -> tuple[CapabilityProfile, CapabilityProfile]:
    if len(names) == 2:
        return store.find(names[0]), store.find(names[1])
    name = names[0].partition("@")[0]
    return store.find(f"{name}@2"), store.find(name)


def _list(args: argparse.Namespace, store: ProfileStore) -> int:
    profiles = store.latest()
    if args.format == "json":
        _output.emit_json({"profiles": [profile.as_json() for profile in profiles]})
        return 0
    if not profiles:
        _output.emit("no profile yet: workbench probe --target T creates one")
    for number, profile in enumerate(profiles, 1):
        key = profile.key
        stale = profile.why_stale(time.time())
        known = sum(profile.fact(name) is not None for name in _names())
        _output.emit(f"{number:>3}  {_profile_title(key)}")
        _output.emit(
            f"     {_measured_at(profile)}, {known} of {len(_names())} facts{f', stale: {stale}' if stale else ''}"
        )
    return 0


def _profile_title(key: ProfileKey) -> str:
    """Endpoint, protocol, model and chat template of a profile, in one line."""
    parts = (_output.cut(key.endpoint, 60), key.protocol, _output.cut(key.model, 60))
    return " · ".join(
        (*parts, *([f"template {_output.cut(key.chat_template_hash, 16)}"] if key.chat_template_hash else []))
    )


def _names() -> tuple[str, ...]:
    from workbench.probes.profiles import NAMES

    return NAMES


def _show(args: argparse.Namespace, profile: CapabilityProfile, drifts: Sequence[Drift]) -> int:
    if args.format == "json":
        _output.emit_json({**profile.as_json(), "drift": [asdict(change) for change in drifts]})
        return 0
    key = profile.key
    _output.emit(f"{_profile_title(key)}, contract {key.provider}")
    stale = profile.why_stale(time.time())
    _output.emit(f"{_measured_at(profile)}{f'; stale: {stale}' if stale else ''}")
    _output.emit()
    for name in (*_names(), *(n for n in profile.facts if n not in _names())):
        value = profile.fact(name)
        _output.emit(f"  {name:<30} {fact_words(value)}")
    _output.emit()
    for result in profile.results:
        low, high = result.interval
        share = f"{result.passes}/{result.n}, {low:.0%}–{high:.0%}" if result.n else "not measured"
        _output.emit(f"  {result.probe:<14} {result.outcome.value:<13} {share:<20} {_output.cut(result.words)}")
    for change in drifts:
        _output.emit(f"  drift: {change}")
    if profile.evidence:
        _output.emit()
        _output.emit(f"evidence: {profile.evidence}")
    return 0


def _diff(args: argparse.Namespace, before: CapabilityProfile, after: CapabilityProfile) -> int:
    from workbench.probes.profiles import differences

    found = differences(before, after)
    is_other = bool(found.facts or found.gained or found.lost)
    if args.format == "json":
        lists = {
            name: [asdict(change) for change in getattr(found, name)] for name in ("key", "facts", "gained", "lost")
        }
        _output.emit_json({"before": before.as_json(), "after": after.as_json(), **lists})
    else:
        _print_diff(before, after, found)
    return 1 if is_other else 0


def _print_diff(before: CapabilityProfile, after: CapabilityProfile, profile_differences: ProfileDifferences) -> None:
    for sign, profile in (("-", before), ("+", after)):
        _output.emit(f"{sign} {_profile_title(profile.key)}, {_measured_at(profile)}")
    _output.emit()
    changes = (
        *profile_differences.key,
        *profile_differences.facts,
        *profile_differences.gained,
        *profile_differences.lost,
    )
    for change in changes:
        _output.emit(f"  {change.name:<30} {fact_words(change.before)} -> {fact_words(change.after)}")
    if not changes:
        _output.emit("  same facts in both")


def _measured_at(profile: CapabilityProfile) -> str:
    return f"measured {time.strftime('%Y-%m-%d %H:%M', time.gmtime(profile.verified_at))} UTC"
