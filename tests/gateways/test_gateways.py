"""Every dirty gateway is called by its defect, in an audit and by comparing its two sides; a clean one by none."""

from __future__ import annotations

import pytest

from tests.gateways.auditing import PATIENCE, audited
from tests.gateways.dirty import CHAT, GATEWAYS
from workbench.diff.comparison import compare_hops, hops_of
from workbench.recorder.audit.cases import PROTOCOLS
from workbench.recorder.audit.client import read_base
from workbench.recorder.audit.run import AuditPlan, run_audit
from workbench.recorder.audit.upstream import AuditUpstream
from workbench.recorder.audit.verdicts import GatewayFault
from workbench.recorder.relay.server import Relay
from workbench.wire.session import MemorySession

ONLY_AN_AUDIT_SEES = {"ends-broken-streams", "keeps-upstream-running", "gets-for-head", "mixes-answers"}
"""Both sides hold the same bytes, and what is wrong is how they end; or nothing tells what belongs together."""

BESIDE = {
    "drops-unknown-fields": {"null or empty dropped"},
    "merges-events": {"buffered"},
    "own-status": {"error rewritten"},
    "stream-to-body": {"field dropped"},
    "escapes-unicode": {"spelled anew"},
    "writes-json-anew": {"escapes"},
    "drops-usage": {"field dropped"},
}
"""What a defect does beside what it is called by."""


HOLDS = {"buffered", "events re-cut", "events dropped", "stream became one body"}
"""What is waited for in vain."""


def test_there_are_twenty_and_more_of_many_kinds() -> None:
    assert len(GATEWAYS) >= 20
    assert len({dirty.kind for dirty in GATEWAYS.values()}) >= 20


@pytest.mark.parametrize("name", GATEWAYS)
async def test_a_dirty_gateway_is_called_by_its_defect(name: str) -> None:
    dirty = GATEWAYS[name]
    patience = 0.5 if dirty.kind in HOLDS else PATIENCE
    audit = await audited(name, dirty.protocol, cases=dirty.cases, patience=patience)
    assert [v.case.name for v in audit.verdicts if any(f.kind == dirty.kind for f in v.damages)] == [
        v.case.name for v in audit.verdicts
    ]
    assert {f.kind for v in audit.verdicts for f in v.damages} <= {dirty.kind} | BESIDE.get(name, set())

    session = MemorySession("audit", audit.exchanges)
    assert hops_of(session) == ["client", "upstream"]
    named = {damage.kind for pair in compare_hops(session, "client", "upstream") for damage in pair.damages}
    assert (dirty.kind in named) != (name in ONLY_AN_AUDIT_SEES)


async def test_nothing_is_named_on_a_clean_gateway() -> None:
    audit = await audited("", *PROTOCOLS)
    assert [(v.protocol, v.case.name, v.damages) for v in audit.verdicts if v.damages] == []
    assert len(audit.verdicts) > 300
    pairs = compare_hops(MemorySession("audit", audit.exchanges[:200]), "client", "upstream")
    assert [(pair.before, pair.damages) for pair in pairs if not pair.is_same_bytes] == []


class _Deaf:
    def __getattr__(self, name: str) -> object:
        return lambda *told: None


async def test_our_own_recorder_is_a_clean_gateway() -> None:
    upstream = AuditUpstream()
    await upstream.start()
    relay = Relay({"it": upstream.url}, _Deaf())  # type: ignore[arg-type]
    await relay.start()
    try:
        audit = await run_audit(AuditPlan(read_base(relay.url("it")), ("anthropic-messages",)), upstream)
    finally:
        await relay.close()
        await upstream.close()
    assert [(v.case.name, v.damages) for v in audit.verdicts if v.damages] == []


async def test_a_defect_is_told_from_others_in_all_cases() -> None:
    """The whole audit of one gateway, of which the other rows stay clean."""
    audit = await audited("trims-texts", CHAT)
    assert {f.kind for v in audit.verdicts for f in v.damages} == {"text trimmed"}
    assert not any(f.kind in list(GatewayFault) for v in audit.verdicts for f in v.damages)
