"""Facts about InvokeModel other than its bodies: simulator, and what rules ask."""

from __future__ import annotations

from workbench.protocols.declaration import ErrorStyle, Serving, TokenCounts, Traits
from workbench.protocols.shapes.blocks.places import PLACES

PROTOCOL = "bedrock-invoke"

SERVING = Serving(
    call_id="toolu_bdrk_01{22}",
    answer_id="msg_bdrk_01{22}",
    stream_type="application/vnd.amazon.eventstream",
    errors=ErrorStyle(body={"message": "{message}"}, headers=(("x-amzn-requestid", "{request_id}"),)),
)


TOKEN_COUNTS = TokenCounts(
    prompt="/input_tokens", output="/output_tokens", reasoning="/output_tokens_details/thinking_tokens"
)

TRAITS = Traits(
    token_counts=TOKEN_COUNTS,
    places=PLACES,
    caches_marked_only=True,
    schema_key="input_schema",
    output_schemas=("/output_config/format/schema", "/output_format/schema"),
)
