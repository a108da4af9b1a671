"""Facts about Converse other than its bodies: simulator, imports, and what rules ask."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.declaration import BaseVariable, ErrorStyle, ImportHints, Serving, TokenCounts, Traits

SERVING = Serving(
    call_id="tooluse_{22}",
    stream_type="application/vnd.amazon.eventstream",
    errors=ErrorStyle(body={"message": "{message}"}, headers=(("x-amzn-requestid", "{request_id}"),)),
    variable=BaseVariable("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
)

IMPORT_HINTS = ImportHints(
    providers=("bedrock", "amazon"), apis=("bedrock-converse-stream",), carrier=Carrier.REASONING_BLOCK
)

PLACES = {
    "request.tools": "/toolConfig/tools",
    "request.tool_choice": "/toolConfig/toolChoice",
    "tool.name": "/toolConfig/tools/*/toolSpec/name",
    "tool.description": "/toolConfig/tools/*/toolSpec/description",
    "tool.parameters": "/toolConfig/tools/*/toolSpec/inputSchema/json",
    "tool.strict": "/toolConfig/tools/*/toolSpec/strict",
    "content.text": "/messages/*/content/*/text",
    "content.image": "/messages/*/content/*/image",
    "content.file": "/messages/*/content/*/document",
    "call.id": "/messages/*/content/*/toolUse/toolUseId",
    "call.name": "/messages/*/content/*/toolUse/name",
    "call.arguments": "/messages/*/content/*/toolUse/input",
    "result.id": "/messages/*/content/*/toolResult/toolUseId",
    "result.content": "/messages/*/content/*/toolResult/content",
    "sampling.temperature": "/inferenceConfig/temperature",
    "sampling.top_p": "/inferenceConfig/topP",
    "sampling.stop": "/inferenceConfig/stopSequences",
    "request.max_tokens": "/inferenceConfig/maxTokens",
}
"""Name of a place → where it is in a request."""

CARRIERS = {
    "reasoningContent": ("/messages/*/content/*/reasoningContent",),
    "signature": ("/messages/*/content/*/reasoningContent/reasoningText/signature",),
}

TOKEN_COUNTS = TokenCounts(
    prompt="/inputTokens",
    output="/outputTokens",
    total="/totalTokens",
    beside=("/cacheReadInputTokens", "/cacheWriteInputTokens"),
    limits=("/inferenceConfig/maxTokens",),
)

TRAITS = Traits(
    ends_with_calls=True,
    token_counts=TOKEN_COUNTS,
    end_pointer="/stopReason",
    places=PLACES,
    carriers=CARRIERS,
    caches_marked_only=True,
    schema_key="inputSchema",
    output_schemas=("/outputConfig/textFormat/structure/jsonSchema/schema",),
)
