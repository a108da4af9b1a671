"""Facts about Responses beside its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.common import openai
from workbench.protocols.declaration import (
    COUNT,
    STORED,
    BaseVariable,
    ImportHints,
    RawSdk,
    RequestClues,
    Serving,
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

TRAITS = Traits(
    warm_up=("generate", False),  # OpenAI, "WebSocket mode"
    previous_pointer="/previous_response_id",
    reasoning_request={"include": ["reasoning.encrypted_content"], "store": False},
    end_repeats_calls=True,
    output_schemas=("/text/format/schema",),
    call_format="responses",
)
