"""Facts about InvokeModel other than its bodies: simulator, and what rules ask."""

from __future__ import annotations

from workbench.protocols.declaration import ErrorStyle, Serving, TokenCounts, Traits

PROTOCOL = "bedrock-invoke"

SERVING = Serving(
    call_id="toolu_bdrk_01{22}",
    answer_id="msg_bdrk_01{22}",
    stream_type="application/vnd.amazon.eventstream",
    errors=ErrorStyle(body={"message": "{message}"}, headers=(("x-amzn-requestid", "{request_id}"),)),
)

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/tool_choice",
    "tool.name": "/tools/*/name",
    "tool.description": "/tools/*/description",
    "tool.parameters": "/tools/*/input_schema",
    "tool.strict": "/tools/*/strict",
    "tool.type": "/tools/*/type",
    "content.text": "/messages/*/content/*[type=text]/text",
    "content.image": "/messages/*/content/*[type=image]",
    "content.image_url": "/messages/*/content/*[type=image]/source/url",
    "content.file": "/messages/*/content/*[type=document]",
    "call.id": "/messages/*/content/*[type=tool_use]/id",
    "call.name": "/messages/*/content/*[type=tool_use]/name",
    "call.arguments": "/messages/*/content/*[type=tool_use]/input",
    "result.id": "/messages/*/content/*[type=tool_result]/tool_use_id",
    "result.content": "/messages/*/content/*[type=tool_result]/content",
    "sampling.temperature": "/temperature",
    "sampling.top_p": "/top_p",
    "sampling.top_k": "/top_k",
    "sampling.stop": "/stop_sequences",
    "request.max_tokens": "/max_tokens",
    "reasoning.effort": "/output_config/effort",
    "output.schema": "/output_config/format/schema",
}
"""Name of a place → where it is in a request."""

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
