"""Facts about generateContent other than its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.common.google import model, models
from workbench.protocols.declaration import (
    COUNT,
    BaseVariable,
    ErrorStyle,
    ImportHints,
    RequestClues,
    Serving,
    TokenCounts,
    Traits,
    TransportSdk,
    endpoint,
)
from workbench.protocols.shapes.contents.places import PLACES, SDK_CONFIG

SERVING = Serving(
    call_id="",
    answer_id="{22}",
    array_unless="alt=sse",
    errors=ErrorStyle(
        body={"error": {"code": "{status}", "message": "{message}", "status": "{type}"}},
        types={
            400: "INVALID_ARGUMENT",
            401: "UNAUTHENTICATED",
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            405: "INVALID_ARGUMENT",
            429: "RESOURCE_EXHAUSTED",
            500: "INTERNAL",
            503: "UNAVAILABLE",
            504: "DEADLINE_EXCEEDED",
        },
        are_words=True,
        not_json="Invalid JSON payload received. {why}",
        missing="* GenerateContentRequest.{name}: {name} is not specified",
    ),
    endpoints=(
        endpoint("POST", r"/(?:models|tunedModels)/([^/:]+):countTokens", COUNT),
        endpoint("GET", r"/v1[a-z0-9]*/models", models),
        endpoint("GET", r"/v1[a-z0-9]*/models/([^/:]+)", lambda _, name: model(name)),
    ),
    counted=lambda n: {"totalTokens": n, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": n}]},
    count_envelope="generateContentRequest",
    model_in_url=True,
    list_key="contents",
    status_key="code",
    rank=4,
    clues=RequestClues(("x-goog-api-key", "x-goog-api-client"), paths=r"/v1beta/|:"),
    variable=BaseVariable("GOOGLE_GEMINI_BASE_URL"),
)

SDK = TransportSdk(
    "google-genai",
    ("import httpx", "from google import genai"),
    'genai.Client(api_key="sent by the transport", http_options={"httpx_client": http})',
    'client.models.generate_content(model="recorded", contents="recorded")',
    'client.models.generate_content_stream(model="recorded", contents="recorded")',
)

IMPORT_HINTS = ImportHints(
    providers=("google", "gemini", "gcp", "vertex"),
    models=("gemini",),
    apis=("google-generative-ai", "google-gemini-cli", "google-vertex"),
    carrier=Carrier.THOUGHT_SIGNATURE,
    list_key="contents",
)

CARRIERS = {
    "thoughtSignature": ("/contents/*/parts/*/thoughtSignature",),
    "thought_signature": ("/contents/*/parts/*/thought_signature",),
}

TOKEN_COUNTS = TokenCounts(
    at="/usageMetadata",
    prompt="/promptTokenCount",
    output="/candidatesTokenCount",
    total="/totalTokenCount",
    cached=("/cachedContentTokenCount",),
    beside=("/thoughtsTokenCount", "/toolUsePromptTokenCount"),
    limits=("/generationConfig/maxOutputTokens",),
)

TRAITS = Traits(
    token_counts=TOKEN_COUNTS,
    whole_in_event="",
    end_pointer="/candidates/0/finishReason",
    sdk_fields=frozenset((SDK_CONFIG,)),
    places=PLACES,
    carriers=CARRIERS,
    output_schemas=("/generationConfig/responseSchema", "/generationConfig/responseJsonSchema"),
    empty_is_message=True,
    partial_markers=(b'"partialArgs"', b'"willContinue"'),
    clients_read_lines=True,
)
