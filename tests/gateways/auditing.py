"""An audit of a gateway that runs in the same loop."""

from __future__ import annotations

from tests.gateways.dirty import made
from tests.gateways.proxy import running
from workbench.recorder.audit.client import read_base
from workbench.recorder.audit.run import AuditPlan, AuditResult, run_audit
from workbench.recorder.audit.upstream import AuditUpstream

PATIENCE = 2.0
"""Seconds after which a piece counts as held back: only gateways that hold something back take that long."""


async def audited(name: str, *protocols: str, cases: tuple[str, ...] = (), patience: float = PATIENCE) -> AuditResult:
    """What comes of a gateway of ``tests.gateways.dirty``; "" is the clean one."""
    upstream = AuditUpstream()
    await upstream.start()
    try:
        async with running(made(name, upstream.port)) as url:
            return await run_audit(AuditPlan(read_base(url), protocols, only=cases, patience=patience), upstream)
    finally:
        await upstream.close()
