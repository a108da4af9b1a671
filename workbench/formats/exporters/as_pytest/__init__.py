"""Writes a folder with a regression test for pytest: transcript, broken request, and a readable test.

It runs wherever the package and its ``testing`` extra are installed, without network or key, from any folder. It is
proved when it is written: in a separate process it fails on the broken request and passes on the fixed one.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from workbench.config import resources
from workbench.formats.exporters import ExportResult, ExportSelection
from workbench.formats.exporters._secret_removal import knowing
from workbench.formats.exporters.as_pytest._cases import ExportCase, case_of
from workbench.formats.exporters.as_pytest._proof import prove
from workbench.formats.exporters.as_pytest._text import BROKEN, CONTRACTS, SIGNATURE, TOOLS, TRANSCRIPT, module
from workbench.lazy_dataclass import replace
from workbench.protocols.mcp import ASKED_BY, as_tool_request
from workbench.wire import TOOL_HOP, Exchange, ExchangeKind
from workbench.wire.session import text

__all__ = ["RUNS", "SUFFIX", "TITLE", "leftovers", "prove", "write"]

TITLE = "pytest test"
SUFFIX = ""
RUNS = {"broken": BROKEN, "fixed": TRANSCRIPT}
"""Transcript of a proof's run → file."""


def write(selection: ExportSelection) -> ExportResult:
    """Write a test of the exchanges in their fixed form.

    The broken form is in ``selection.broken``, else the request before its edit, else the request with one planted
    fault.

    Raises:
        LocalProtocolError: nothing can be tested; one line with what to do.
        SessionFormatError: an exchange cannot be read.
    """
    case = case_of(selection)
    files = {TRANSCRIPT: _session(case.fixed), BROKEN: _session(case.broken), **_contracts(case)}
    has_contracts = len(files) > 2
    if tools := _tool_calls(selection):
        files[TOOLS] = _session(tools)
    source = module(case, has_contracts=has_contracts, has_tools=bool(tools)).encode()
    digest = hashlib.sha256(b"\0".join((selection.name.encode("utf-8", "surrogateescape"), source, *files.values())))
    slug = re.sub(r"[^a-z0-9]+", "_", case.refused.finding.rule if case.refused.finding else "unreadable")
    files[f"test_{slug}_{digest.hexdigest()[:8]}.py"] = source
    broken = f"broken: request {case.worst.number} of {BROKEN}, {case.how}"
    return ExportResult(files, (broken, *case.notes), case.left_out)


def leftovers(folder: Path) -> list[Path]:
    """Test files that an earlier export wrote into a folder."""
    return [path for path in folder.glob("test_*_????????.py") if SIGNATURE in path.read_text("utf-8", "replace")]


def _contracts(case: ExportCase) -> dict[str, bytes]:
    """User contracts that the test needs."""
    own = resources.own_profiles()
    used = {place.provider.partition(":")[0] for place in case.places}
    return {
        f"{CONTRACTS}/workbench/profiles/{name}.yaml": resources.profile(own[name])
        for name in sorted(used & own.keys())
    }


def _tool_calls(selection: ExportSelection) -> list[Exchange]:
    """Requests to tool servers and their responses, of the whole session, without secrets."""
    session, redactor = selection.session, knowing(selection)
    at = [s.index for s in session.summaries() if s.kind is ExchangeKind.MCP or s.hop == TOOL_HOP]
    tool_requests = (as_tool_request(session.exchange(index)) for index in at)
    by_client = [
        exchange for exchange in tool_requests if exchange.meta.get(ASKED_BY) == "client" and not exchange.branch
    ]
    return [redactor.exchange(replace(exchange, frames=())) for exchange in by_client]


def _session(exchanges: Sequence[Exchange]) -> bytes:
    """The text form."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / TRANSCRIPT
        text.write(exchanges, path)
        return path.read_bytes()
