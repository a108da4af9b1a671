"""Capabilities of protocols with contents, over HTTP and in other envelopes."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols import MediaCapabilities, ReasoningCapabilities, ToolCapabilities
from workbench.protocols.shapes.contents.parts import ANY_TYPE, FAMILIES

KINDS = frozenset(("image", "document", "audio", "video"))
"""Kinds of media."""

REASONING = ReasoningCapabilities(
    carriers=frozenset((Carrier.THOUGHT_SIGNATURE.value,)),
    plain=Carrier.THOUGHT_SIGNATURE.value,
    switches=frozenset(("on", "off")),
    effort_or_budget=True,
)

MEDIA = MediaCapabilities(
    kinds=KINDS,
    in_results=KINDS,
    sources=frozenset(("data", "url")),
    untyped={kind: f"{kind}{ANY_TYPE}" for kind in FAMILIES},
)

TOOLS = ToolCapabilities(
    error_flag=True,
    arguments="object",
    call_ids=True,
    name_pattern=r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}",
    result_names=True,
    json_results=True,
    results_text_first=True,
)
