"""What a rule reads of its case is noted, so that its findings can be shared between contracts."""

from __future__ import annotations

from tests.lasting_faults import FAULTS, conversation
from workbench.rules._shared.shared_results import SharedResults
from workbench.rules.inspection import Inspector


def test_findings_are_shared_where_the_chain_is_the_same() -> None:
    wire, fault = FAULTS["reasoning altered"]
    inspector = Inspector(conversation(wire, fault, 5))
    inspector.run()
    decoded, shared = inspector.detail(4).decoded, SharedResults()
    for provider in ("anthropic", "deepseek", "anthropic", "bedrock"):
        judged = inspector.judge(decoded, provider, shared=shared)
        assert judged.findings == inspector.judge(decoded, provider).findings
