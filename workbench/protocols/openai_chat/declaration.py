"""Facts about Chat Completions other than its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import Carrier, JsonValue
from workbench.protocols.common import openai
from workbench.protocols.declaration import (
    BaseVariable,
    ImportHints,
    RawSdk,
    Serving,
    TokenCounts,
    Traits,
    endpoint,
)


def _props(names: Sequence[str], _: str) -> JsonValue:
    settings = {"n_ctx": 131_072, "params": {}}
    return {"default_generation_settings": settings, "total_slots": 1, "model_path": names[0], "chat_template": ""}


SERVING = Serving(
    answer_id="chatcmpl-{29}",
    answer_prefix="chatcmpl-",
    signature_beside_call=lambda proof: {"extra_content": {"google": {"thought_signature": proof}}},
    errors=openai.errors("you must provide a model parameter"),
    endpoints=(
        endpoint("GET", r"/models", openai.models),
        endpoint("GET", r"/models/(.+)", lambda _, name: openai.model(name)),
        endpoint("GET", r"/api/v0/models", openai.models),
        endpoint("GET", r"/props", _props),
        endpoint("GET", r"/version", lambda _names, _: {"version": "0.0.0-workbench"}),
        endpoint("GET", r"/get_model_info", lambda names, _: {"model_path": names[0], "is_generation": True}),
    ),
    rank=1,
    api="openai",
    variable=BaseVariable("OPENAI_BASE_URL", "{url}/v1"),
)

SDK = RawSdk(
    "openai",
    "OpenAI",
    ("/chat/completions",),
    "openai.types.chat.ChatCompletion",
    "openai.Stream[openai.types.chat.ChatCompletionChunk]",
    openai.AMBIENT,
)

IMPORT_HINTS = ImportHints(apis=("openai-completions",), has_plain_params=True, error_prefix="Error: ")

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/tool_choice",
    "tool.name": "/tools/*/function/name",
    "tool.description": "/tools/*/function/description",
    "tool.parameters": "/tools/*/function/parameters",
    "tool.strict": "/tools/*/function/strict",
    "tool.type": "/tools/*/type",
    "content.text": "/messages/*/content/*[type=text]/text",
    "content.image": "/messages/*/content/*[type=image_url]",
    "content.image_url": "/messages/*/content/*[type=image_url]/image_url/url",
    "content.audio": "/messages/*/content/*[type=input_audio]",
    "content.file": "/messages/*/content/*[type=file]",
    "call.id": "/messages/*/tool_calls/*/id",
    "call.name": "/messages/*/tool_calls/*/function/name",
    "call.arguments": "/messages/*/tool_calls/*/function/arguments",
    "result.id": "/messages/*[role=tool]/tool_call_id",
    "result.content": "/messages/*[role=tool]/content",
    "sampling.temperature": "/temperature",
    "sampling.top_p": "/top_p",
    "sampling.presence_penalty": "/presence_penalty",
    "sampling.frequency_penalty": "/frequency_penalty",
    "sampling.seed": "/seed",
    "sampling.stop": "/stop",
    "sampling.logprobs": "/logprobs",
    "sampling.top_logprobs": "/top_logprobs",
    "sampling.top_k": "/top_k",
    "request.max_tokens": "/max_tokens",
    "request.parallel_calls": "/parallel_tool_calls",
    "reasoning.effort": "/reasoning_effort",
    "output.schema": "/response_format/json_schema/schema",
}
"""Name of a place → where it is in a request."""

CARRIERS = {
    "reasoning_content": ("/messages/*[role=assistant]/reasoning_content",),
    "reasoning": ("/reasoning", "/messages/*[role=assistant]/reasoning"),
    "reasoning_details": ("/messages/*[role=assistant]/reasoning_details",),
    "thought_signature": ("/messages/*/tool_calls/*/extra_content/google/thought_signature",),
}

TOKEN_COUNTS = TokenCounts(
    prompt="/prompt_tokens",
    output="/completion_tokens",
    total="/total_tokens",
    cached=("/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"),
    reasoning="/completion_tokens_details/reasoning_tokens",
    limits=("/max_completion_tokens", "/max_tokens"),
)

TRAITS = Traits(
    token_counts=TOKEN_COUNTS,
    whole_in_event="",
    end_pointer="/choices/0/finish_reason",
    places=PLACES,
    carriers=CARRIERS,
    has_one_switch=False,
    # Servers return one and the same reasoning in these fields (vLLM docs, reasoning outputs: renamed from
    # ``reasoning_content`` to ``reasoning`` in 0.12; OpenRouter docs, reasoning tokens).
    common_carriers=(Carrier.REASONING_CONTENT, Carrier.REASONING, Carrier.REASONING_DETAILS),
    custom_tools_are_rare=True,
    output_schemas=("/response_format/json_schema/schema",),
    usage_request={"stream_options": {"include_usage": True}},
    clients_build_all=True,
    call_format="openai",
)
