"""Every published breakage that a repair is offered for: opened, repaired, sent, exported as a test, the test tried.

The exported tests run together, once on what was broken and once on what is right, in processes of their own that know
no configuration, no key and no other plugin.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import breakages
from tests.breakages.artefacts import artefact
from workbench.edits import repairs
from workbench.edits.branches.tree import Workspace
from workbench.formats import exporting
from workbench.formats.exporters import ExportSelection, load
from workbench.formats.importers import open_input
from workbench.protocols.decode import DecodedExchange
from workbench.rules.inspection import Inspector
from workbench.send.outgoing import prepare
from workbench.send.sending import Sender
from workbench.send.target_names import resolve
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession, Session, exchanges_of

FORM = load("pytest")


class Mended(NamedTuple):
    """A breakage after the whole way."""

    name: str
    title: str
    status: int
    notes: tuple[str, ...]
    folder: Path


def mend(entry: dict[str, Any], folder: Path) -> Mended | None:
    """Open, repair, send and export one breakage; None where no repair is offered."""
    opened = open_entry(entry, folder)
    if opened is None:
        return None
    session, index = opened
    provider, protocol = entry["contract"], entry["protocol"]
    inspector = Inspector(session, provider=provider, protocol=protocol)
    findings = [f for f in inspector.detail(index).row.findings if repairs.is_repairable(f)]
    offered = [
        tried for f in findings for tried in repairs.checked_repairs(inspector, index, f) if tried.repair.verified
    ]
    if not offered:
        return None
    workspace = Workspace(session)
    node = workspace.commit(workspace.root(index), offered[0].request, offered[0].repair.title)
    label = inspector.detail(index).contract.label
    node = workspace.commit_response(node, asyncio.run(sent(node.exchange, session, label, protocol)))
    assert node.exchange.response is not None
    branch = MemorySession(session.name, (*exchanges_of(session), workspace.node(node.parent).exchange, node.exchange))
    last = Inspector(branch, provider=provider, protocol=protocol)
    made = FORM.write(ExportSelection(last, (len(branch) - 1,), name=entry["id"]))
    out = folder / "exported" / entry["id"]
    exporting.write_export(made, FORM, out)
    return Mended(entry["id"], offered[0].repair.title, node.exchange.response.status, made.notes, out)


def open_entry(entry: dict[str, Any], folder: Path) -> tuple[Session, int] | None:
    """The session that an entry tells, and which exchange of it is at fault."""
    evidence = entry["evidence"]
    if "forwarded" in evidence:
        url = "https://relay.example/v1/" + ("messages" if "anthropic" in entry["protocol"] else "chat/completions")
        sides = (("client", evidence["request"], 0.0), ("gateway", evidence["forwarded"], 1.0))
        hops = [
            Exchange(
                hop, HttpRequest(url=url, body=Body(json.dumps(body).encode())), hop=hop, started_at=at, duration=2
            )
            for hop, body, at in sides
        ]
        return MemorySession(entry["id"], tuple(hops)), 1
    given = artefact(entry)
    if given is None:
        return None
    path = folder / f"{entry['id']}{given.suffix}"
    path.write_bytes(given.raw)
    return open_input(str(path)), given.index


async def sent(exchange: Exchange, session: Session, label: str, protocol: str) -> Exchange:
    async with Sender(known=session) as sender:
        decoded = DecodedExchange(0, exchange, protocol)
        return await sender.send(prepare(decoded, resolve(f"sim:{label}")), parent=exchange.id)


def test_from_every_breakage_to_a_test_that_is_red_before_and_green_after(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """One test: what it takes is made once, whatever the number of processes that tests are shared out to."""
    chosen = breakages.entries()[:: 1 if pytestconfig.getoption("--every") else 10]
    mended = [one for one in (mend(entry, tmp_path) for entry in chosen) if one]
    assert len(mended) > len(chosen) * 0.65
    assert [(one.name, one.title, one.status) for one in mended if one.status != 200] == []
    assert [(one.name, one.notes) for one in mended if "as recorded before the edit" not in one.notes[0]] == []

    proofs = dict(zip((one.name for one in mended), FORM.prove([one.folder for one in mended]), strict=True))
    assert {name: proof.why_not for name, proof in proofs.items() if proof.why_not} == {}
    for red, green in (proof.runs for proof in proofs.values()):
        assert red.failed and not red.problem
        assert green.passed >= 3 and not green.failed

    for one in mended:
        files = [path for path in one.folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        texts = [path.read_text(encoding="utf-8") for path in files]
        assert len(texts) == 3
        assert not [text for text in texts if str(tmp_path) in text]
