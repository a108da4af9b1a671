"""Facts about Responses other than its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.common import openai
from workbench.protocols.declaration import (
    COUNT,
    STORED,
    BaseVariable,
    ImportHints,
    PartInEvent,
    RawSdk,
    RequestClues,
    Serving,
    TokenCounts,
    Traits,
    endpoint,
)

SERVING = Serving(
    answer_id="resp_{48}",
    answer_prefix="resp_",
    item_ids={"call": "fc_{48}", "custom": "ctc_{48}", "reasoning": "rs_{48}", "text": "msg_{48}"},
    errors=openai.errors("Missing required parameter: 'model'."),
    endpoints=(
        endpoint("POST", r"/responses/input_tokens", COUNT),
        endpoint("GET DELETE", r"/responses/([^/]+)", STORED),
        endpoint("GET", r"/models", openai.models),
        endpoint("GET", r"/models/(.+)", lambda _, name: openai.model(name)),
    ),
    counted=lambda n: {"object": "response.input_tokens", "input_tokens": n},
    list_key="input",
    rank=2,
    clues=RequestClues(paths=r"/responses"),
    api="openai",
    variable=BaseVariable("OPENAI_BASE_URL", "{url}/v1"),
)

SDK = RawSdk(
    "openai",
    "OpenAI",
    ("/responses",),
    "openai.types.responses.Response",
    "openai.Stream[openai.types.responses.ResponseStreamEvent]",
    openai.AMBIENT,
)

IMPORT_HINTS = ImportHints(
    apis=("openai-responses", "azure-openai-responses", "openai-codex-responses"), carrier=Carrier.ENCRYPTED_ITEM
)

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/tool_choice",
    "tool.name": "/tools/*/name",
    "tool.description": "/tools/*/description",
    "tool.parameters": "/tools/*/parameters",
    "tool.strict": "/tools/*/strict",
    "tool.type": "/tools/*/type",
    "content.text": "/input/*/content/*[type=input_text]/text",
    "content.image": "/input/*/content/*[type=input_image]",
    "content.image_url": "/input/*/content/*[type=input_image]/image_url",
    "content.file": "/input/*/content/*[type=input_file]",
    "call.id": "/input/*[type=function_call]/call_id",
    "call.name": "/input/*[type=function_call]/name",
    "call.arguments": "/input/*[type=function_call]/arguments",
    "result.id": "/input/*[type=function_call_output]/call_id",
    "result.content": "/input/*[type=function_call_output]/output",
    "sampling.temperature": "/temperature",
    "sampling.top_p": "/top_p",
    "sampling.top_logprobs": "/top_logprobs",
    "request.max_tokens": "/max_output_tokens",
    "request.parallel_calls": "/parallel_tool_calls",
    "reasoning.effort": "/reasoning/effort",
    "output.schema": "/text/format/schema",
}
"""Name of a place → where it is in a request."""

CARRIERS = {
    "encrypted_content": tuple(f"/input/*[type={kind}]/encrypted_content" for kind in ("reasoning", "compaction")),
    "reasoning": ("/reasoning",),
}

TOKEN_COUNTS = TokenCounts(
    prompt="/input_tokens",
    output="/output_tokens",
    total="/total_tokens",
    cached=("/input_tokens_details/cached_tokens",),
    reasoning="/output_tokens_details/reasoning_tokens",
    limits=("/max_output_tokens",),
)

TRAITS = Traits(
    token_counts=TOKEN_COUNTS,
    whole_in_event="/response",
    part_in_event=PartInEvent(b"response.output_item.added", "item", "output", "output_index"),
    end_pointer="/status",
    may_be_silent=("generate", False),  # OpenAI, "WebSocket mode"
    places=PLACES,
    carriers=CARRIERS,
    previous_pointer="/previous_response_id",
    reasoning_request={"include": ["reasoning.encrypted_content"], "store": False},
    end_repeats_calls=True,
    output_schemas=("/text/format/schema",),
    call_format="responses",
)
