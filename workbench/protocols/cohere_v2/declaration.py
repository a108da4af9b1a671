"""Facts about Cohere's chat other than its bodies: simulator, SDK, imports."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.declaration import (
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
    call_id="{name}_{12}",
    answer_id="{32}",
    errors=ErrorStyle(body={"id": "{request_id}", "message": "{message}"}),
    endpoints=(
        endpoint(
            "GET", r"/v1/models", lambda names, _: {"models": [{"name": n, "endpoints": ["chat"]} for n in names]}
        ),
    ),
    spellings=((r"(?<!/api)/chat(/?)\Z", r"/v2/chat\1"),),
    variable=BaseVariable("CO_API_URL"),
)

SDK = TransportSdk(
    "cohere",
    ("import cohere", "import httpx"),
    'cohere.ClientV2(api_key="sent by the transport", httpx_client=http)',
    'client.chat(model="recorded", messages=[])',
    'client.chat_stream(model="recorded", messages=[])',
)

IMPORT_HINTS = ImportHints(providers=("cohere",), carrier=Carrier.THINKING_CHUNK)

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/tool_choice",
    "tool.name": "/tools/*/function/name",
    "tool.description": "/tools/*/function/description",
    "tool.parameters": "/tools/*/function/parameters",
    "tool.type": "/tools/*/type",
    "content.text": "/messages/*/content/*[type=text]/text",
    "content.image": "/messages/*/content/*[type=image_url]",
    "call.id": "/messages/*/tool_calls/*/id",
    "call.name": "/messages/*/tool_calls/*/function/name",
    "call.arguments": "/messages/*/tool_calls/*/function/arguments",
    "result.id": "/messages/*[role=tool]/tool_call_id",
    "result.content": "/messages/*[role=tool]/content",
    "sampling.temperature": "/temperature",
    "sampling.top_p": "/p",
    "sampling.top_k": "/k",
    "sampling.presence_penalty": "/presence_penalty",
    "sampling.frequency_penalty": "/frequency_penalty",
    "sampling.seed": "/seed",
    "sampling.stop": "/stop_sequences",
    "sampling.logprobs": "/logprobs",
    "request.max_tokens": "/max_tokens",
    "output.schema": "/response_format/json_schema",
}
"""Name of a place → where it is in a request."""

CARRIERS = {
    "tool_plan": ("/messages/*[role=assistant]/tool_plan",),
    "thinking": ("/thinking", "/messages/*[role=assistant]/content/*[type=thinking]/thinking"),
}

TOKEN_COUNTS = TokenCounts(prompt="/tokens/input_tokens", output="/tokens/output_tokens", cached=("/cached_tokens",))

TRAITS = Traits(token_counts=TOKEN_COUNTS, end_pointer="/finish_reason", places=PLACES, carriers=CARRIERS)
