"""``profile gate``: the tools that a measured model may be given."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.errors import UnreadableInput, UsageError, WireError

if TYPE_CHECKING:
    from workbench.probes.profiles import CapabilityProfile, RatedTool, ToolGate


def run(profile: CapabilityProfile, tools: str, *, is_json: bool) -> int:
    """Print which tools are enabled, and why; 1 if one is not. Raises UsageError, OSError."""
    from workbench.probes.profiles import fall, gate

    found = gate(profile, list(_read(Path(tools))), fall(profile), profile.why_stale(time.time()))
    if is_json:
        _output.emit_json({**profile.key._asdict(), **found.as_json()})
    else:
        _print(profile, found)
    return 0 if all(tool.is_enabled for tool in found.tools) else 1


def _print(profile: CapabilityProfile, found: ToolGate) -> None:
    from workbench.probes.profiles import STAGES, GateStage

    key = profile.key
    _output.emit(f"{key.endpoint} · {key.protocol} · {key.model}")
    _output.emit(
        f"stage {int(found.stage)} of {len(GateStage) - 1}: {', '.join(STAGES[1 : found.stage + 1]) or STAGES[0]}"
    )
    for line in found.missing:
        _output.emit(f"  next: {_output.cut(line, 200)}")
    _output.emit()
    width = max((len(tool.name) for tool in found.tools), default=0)
    for tool in found.tools:
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
