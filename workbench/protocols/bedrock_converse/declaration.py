"""Facts about Converse beside its bodies: simulator, imports, and what rules ask."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.declaration import BaseVariable, ErrorStyle, ImportHints, Serving, Traits

SERVING = Serving(
    call_id="tooluse_{22}",
    stream_type="application/vnd.amazon.eventstream",
    errors=ErrorStyle(body={"message": "{message}"}, headers=(("x-amzn-requestid", "{request_id}"),)),
    variable=BaseVariable("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
)

IMPORT_HINTS = ImportHints(
    providers=("bedrock", "amazon"), apis=("bedrock-converse-stream",), carrier=Carrier.REASONING_BLOCK
)

TRAITS = Traits(caches_marked_only=True, schema_key="inputSchema")
