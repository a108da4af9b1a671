"""Facts about Interactions other than its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.common.google import model, models
from workbench.protocols.declaration import (
    STORED,
    BaseVariable,
    ErrorStyle,
    ImportHints,
    Serving,
    TokenCounts,
    Traits,
    TransportSdk,
    endpoint,
)

SERVING = Serving(
    call_id="{8}",
    answer_id="v1_{64}",
    errors=ErrorStyle(body={"error": {"message": "{message}", "code": "invalid_request"}}),
    endpoints=(
        endpoint("GET DELETE", r"/interactions/([^/]+)", STORED),
        endpoint("GET", r"/v1[a-z0-9]*/models", models),
        endpoint("GET", r"/v1[a-z0-9]*/models/([^/:]+)", lambda _, name: model(name)),
    ),
    list_key="input",
    variable=BaseVariable("GOOGLE_GEMINI_BASE_URL"),
)

SDK = TransportSdk(
    "google-genai",
    ("import httpx", "from google import genai"),
    'genai.Client(api_key="sent by the transport", http_options={"httpx_client": http})',
    'client.interactions.create(model="recorded", input="recorded")',
    'client.interactions.create(model="recorded", input="recorded", stream=True)',
)

IMPORT_HINTS = ImportHints(carrier=Carrier.THOUGHT_SIGNATURE)

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/generation_config/tool_choice",
    "tool.name": "/tools/*/name",
    "tool.description": "/tools/*/description",
    "tool.parameters": "/tools/*/parameters",
    "tool.type": "/tools/*/type",
    "call.id": "/input/*[type=function_call]/id",
    "call.name": "/input/*[type=function_call]/name",
    "call.arguments": "/input/*[type=function_call]/arguments",
    "result.id": "/input/*[type=function_result]/call_id",
    "result.content": "/input/*[type=function_result]/result",
    "content.text": "/input/*/content/*[type=text]/text",
    "content.image": "/input/*/content/*[type=image]",
    "content.audio": "/input/*/content/*[type=audio]",
    "content.file": "/input/*/content/*[type=document]",
    "sampling.temperature": "/generation_config/temperature",
    "sampling.top_p": "/generation_config/top_p",
    "sampling.seed": "/generation_config/seed",
    "sampling.stop": "/generation_config/stop_sequences",
    "request.max_tokens": "/generation_config/max_output_tokens",
    "reasoning.effort": "/generation_config/thinking_level",
    "output.schema": "/response_format/schema",
}
"""Name of a place → where it is in a request."""

TOKEN_COUNTS = TokenCounts(
    prompt="/total_input_tokens",
    output="/total_output_tokens",
    total="/total_tokens",
    cached=("/total_cached_tokens",),
    beside=("/total_thought_tokens", "/total_tool_use_tokens"),
    limits=("/generation_config/max_output_tokens",),
)

TRAITS = Traits(
    token_counts=TOKEN_COUNTS,
    places=PLACES,
    output_schemas=("/response_format/schema",),
    previous_pointer="/previous_interaction_id",
)
