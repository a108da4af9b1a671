"""Facts about Messages other than its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import Carrier, JsonValue
from workbench.protocols.declaration import (
    COUNT,
    BaseVariable,
    ErrorStyle,
    ImportHints,
    PartInEvent,
    RawSdk,
    RequestClues,
    Serving,
    TokenCounts,
    Traits,
    endpoint,
)
from workbench.protocols.shapes.blocks.places import PLACES


def _model(name: str) -> JsonValue:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _models(names: Sequence[str], _: str) -> JsonValue:
    listed = [_model(n) for n in names]
    return {"data": listed, "has_more": False, "first_id": names[0], "last_id": names[-1]}


SERVING = Serving(
    call_id="toolu_01{22}",
    answer_id="msg_01{22}",
    answer_prefix="msg_",
    errors=ErrorStyle(
        body={"type": "error", "error": {"type": "{type}", "message": "{message}"}, "request_id": "{request_id}"},
        types={
            400: "invalid_request_error",
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            405: "invalid_request_error",
            413: "request_too_large",
            429: "rate_limit_error",
            500: "api_error",
            504: "timeout_error",
            529: "overloaded_error",
        },
        headers=(
            ("request-id", "{request_id}"),
            ("anthropic-organization-id", "00000000-0000-4000-8000-000000000000"),
        ),
        not_found="Not Found",
        without_model="model: Field required",
        not_json="The request body is not valid JSON: {why}",
        missing="{name}: Field required",
    ),
    endpoints=(
        endpoint("POST", r"/messages/count_tokens", COUNT),
        endpoint("GET", r"/models", _models),
        endpoint("GET", r"/models/([^/]+)", lambda _, name: _model(name)),
    ),
    counted=lambda n: {"input_tokens": n},
    count_defaults={"max_tokens": 1},
    rank=3,
    spellings=((r"/messages(/?)\Z", r"/v1/messages\1"),),
    clues=RequestClues(("anthropic-version",), "/anthropic/", r"/count_tokens\Z"),
    variable=BaseVariable("ANTHROPIC_BASE_URL", prefix="/anthropic"),
)

SDK = RawSdk(
    "anthropic",
    "Anthropic",
    ("/v1/messages", "/messages"),
    "anthropic.types.Message",
    "anthropic.Stream[anthropic.types.RawMessageStreamEvent]",
    ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"),
    token_argument="auth_token",
)

IMPORT_HINTS = ImportHints(
    providers=("anthropic", "vertex_ai_anthropic", "google-vertex-anthropic"),
    models=("claude",),
    apis=("anthropic-messages",),
    carrier=Carrier.THINKING,
    has_plain_params=True,
)

CARRIERS = {
    "thinking": ("/thinking", "/messages/*/content/*[type=thinking]/thinking"),
    "signature": ("/messages/*/content/*[type=thinking]/signature",),
}

TOKEN_COUNTS = TokenCounts(
    prompt="/input_tokens", output="/output_tokens", reasoning="/output_tokens_details/thinking_tokens"
)

TRAITS = Traits(
    token_counts=TOKEN_COUNTS,
    whole_in_event="/message",
    part_in_event=PartInEvent(b"content_block_start", "content_block", "content", "index"),
    end_pointer="/stop_reason",
    places=PLACES,
    carriers=CARRIERS,
    previous_pointer="/thread/previous_message_id",
    thread_keeps_tools=True,
    ends_with_calls=True,
    caches_marked_only=True,
    schema_key="input_schema",
    output_schemas=("/output_config/format/schema", "/output_format/schema"),
    thinking_request="adaptive",
    clients_build_all=True,
    call_format="anthropic",
)
