"""Facts about Interactions beside its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from workbench.ir import Carrier
from workbench.protocols.common.google import model, models
from workbench.protocols.declaration import (
    STORED,
    BaseVariable,
    ErrorStyle,
    ImportHints,
    Serving,
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

TRAITS = Traits(output_schemas=("/response_format/schema",), previous_pointer="/previous_interaction_id")
