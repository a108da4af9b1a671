"""Facts about InvokeModel beside its bodies: simulator, and what rules ask."""

from __future__ import annotations

from workbench.protocols.declaration import ErrorStyle, Serving, Traits

SERVING = Serving(
    call_id="toolu_bdrk_01{22}",
    answer_id="msg_bdrk_01{22}",
    stream_type="application/vnd.amazon.eventstream",
    errors=ErrorStyle(body={"message": "{message}"}, headers=(("x-amzn-requestid", "{request_id}"),)),
)

TRAITS = Traits(caches_marked_only=True, schema_key="input_schema")
