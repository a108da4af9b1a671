"""The catalogue of published breakages: each that has a fix gets a repair that its contract accepts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import breakages
from tests.breakages.artefacts import artefact
from tests.simulator.catalogue import label_of, target_of
from workbench.contracts import Severity, Verdict
from workbench.edits import repairs
from workbench.edits.repairs import FixResult
from workbench.formats.importers import open_input
from workbench.ir import Reasoning
from workbench.rules.inspection import Inspector
from workbench.simulator import Simulator
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession

MISSED: dict[str, str] = {}
"""Id → why no repair of it is offered."""


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> dict[str, tuple[dict[str, Any], FixResult, list[Any]]]:
    """Id → entry, what fix made of it, and every repair that is offered for its findings."""
    folder, made = tmp_path_factory.mktemp("catalogue"), {}
    for entry in breakages.entries():
        given = artefact(entry) if "fixed_request" in entry else None
        if given is None:
            continue
        path, index = folder / f"{entry['id']}{given.suffix}", given.index
        path.write_bytes(given.raw)
        session = open_input(str(path))
        inspector = Inspector(session, provider=entry["contract"], protocol=entry["protocol"])
        findings = [f for f in inspector.detail(index).row.findings if repairs.is_repairable(f)]
        offered = [tried for finding in findings for tried in repairs.checked_repairs(inspector, index, finding)]
        made[entry["id"]] = (entry, repairs.fix(inspector, index), offered)
    return made


def test_a_repair_is_offered_wherever_there_is_a_fix(scored, stated) -> None:
    good = {name for name, (_, _, offered) in scored.items() if any(tried.repair.verified for tried in offered)}
    missed = sorted(set(scored) - good)
    stated(f"repairs: {len(good)} of {len(scored)} fixable breakages; missed: {missed or 'none'}")
    assert missed == sorted(MISSED)


def test_fix_ends_where_the_contract_accepts(scored) -> None:
    """Warnings it leaves alone, unless nothing is lost by their repair."""
    refused = {n: fixed for n, (_, fixed, _) in scored.items() if fixed.before is Verdict.REFUSES}
    assert len(refused) > 50
    assert {n for n, f in refused.items() if f.after is Verdict.REFUSES} == set(MISSED)
    for _, fixed, _ in scored.values():
        assert not [f for f in fixed.remaining if f.severity is Severity.ERROR]


def test_no_repair_invents_reasoning(scored) -> None:
    """Every text, signature and sealed datum that a repair sends stood in the session before."""
    for name, (entry, fixed, offered) in scored.items():
        held = json.dumps(entry["evidence"], ensure_ascii=False)
        for tried in offered:
            assert not invented(tried.trial.decoded.request, held), (name, tried.repair.title)
        assert fixed.request.body.raw


def invented(request: Any, held: str) -> list[str]:
    return [
        value
        for message in request.messages
        for part in message.parts
        if isinstance(part, Reasoning)
        for value in (part.text, part.signature, part.data)
        if isinstance(value, str) and value and json.dumps(value, ensure_ascii=False)[1:-1] not in held
    ]


@pytest.mark.parametrize(("name", "provider"), [("B088", "kimi"), ("B089", "anthropic")])
def test_what_a_gateway_damaged_is_put_back(name: str, provider: str) -> None:
    evidence = breakages.entry(name)["evidence"]
    url = "https://relay.example/v1/" + ("messages" if provider == "anthropic" else "chat/completions")
    sides = (("client", evidence["request"], 0.0), ("gateway", evidence["forwarded"], 1.0))
    exchanges = [
        Exchange(hop, HttpRequest(url=url, body=Body(json.dumps(body).encode())), hop=hop, started_at=at, duration=2)
        for hop, body, at in sides
    ]
    inspector = Inspector(MemorySession("hops", tuple(exchanges)), provider=provider)
    finding = next(f for f in inspector.run().findings if f.rule.startswith("gateway."))
    tried = repairs.checked_repairs(inspector, finding.exchange, finding)
    assert tried[0].repair.verified
    if name == "B088":
        assert loads(tried[0].request.body.raw) == evidence["request"]


EXACT = ("B002", "B003", "B005", "B006", "B007", "B014", "B022", "B026", "B032", "B082", "B085")
"""Breakages whose one right answer is a known edit: what fix makes is that, value by value."""


@pytest.mark.parametrize("name", EXACT)
def test_where_there_is_one_right_answer_it_is_found(scored, name: str) -> None:
    entry, fixed, _ = scored[name]
    made = loads(fixed.request.body.raw)
    wanted = entry["fixed_request"]
    if name == "B002":  # what a stand-in says is its own affair
        made["messages"][3]["content"] = wanted["messages"][3]["content"]
    assert made == wanted


def test_what_fix_made_is_answered_by_the_simulator(scored) -> None:
    """Posted as its client would post it, to the provider that it was meant for."""
    for name, (entry, fixed, _) in scored.items():
        headers = tuple(fixed.request.headers) or (("content-type", "application/json"),)
        reply = Simulator(label_of(entry)).send("POST", target_of(entry), headers, fixed.request.body.raw)
        assert reply.status == 200, (name, reply.served)
