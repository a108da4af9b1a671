"""Facts about Ollama's own chat other than its bodies: simulator, SDK, imports, and what rules ask."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import Carrier, JsonValue
from workbench.protocols.declaration import (
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


def _model(name: str) -> JsonValue:
    details = {"format": "gguf", "family": "workbench", "parameter_size": "0B", "quantization_level": "F16"}
    about = {"modified_at": "2026-01-01T00:00:00Z", "size": 0, "digest": "0" * 64, "details": details}
    return {"name": name, "model": name, **about}


def _show(names: Sequence[str], _: str) -> JsonValue:
    about = {"general.architecture": "workbench", "workbench.context_length": 131_072}
    capabilities = ["completion", "tools", "thinking"]
    details = _model(names[0])["details"]
    return {"modelfile": "", "template": "", "details": details, "model_info": about, "capabilities": capabilities}


SERVING = Serving(
    call_id="",
    stream_type="application/x-ndjson",
    errors=ErrorStyle(body={"error": "{message}"}, not_json="{why}"),
    endpoints=(
        endpoint("GET", r"/api/tags", lambda names, _: {"models": [_model(n) for n in names]}),
        endpoint("GET", r"/api/ps", lambda _names, _: {"models": []}),
        endpoint("POST", r"/api/show", _show),
        endpoint("GET", r"/api/version", lambda _names, _: {"version": "0.0.0-workbench"}),
    ),
    rank=5,
    clues=RequestClues(paths=r"\A/api/"),
    variable=BaseVariable("OLLAMA_HOST"),
)

SDK = TransportSdk(
    "ollama",
    ("import httpx", "import ollama"),
    "ollama.Client(transport=Recorded())",
    'client.chat(model="recorded")',
    'client.chat(model="recorded", stream=True)',
)

IMPORT_HINTS = ImportHints(providers=("ollama",), carrier=Carrier.MESSAGE_THINKING)

PLACES = {
    "request.tools": "/tools",
    "tool.name": "/tools/*/function/name",
    "tool.description": "/tools/*/function/description",
    "tool.parameters": "/tools/*/function/parameters",
    "tool.type": "/tools/*/type",
    "content.text": "/messages/*/content",
    "content.image": "/messages/*/images/*",
    "call.name": "/messages/*/tool_calls/*/function/name",
    "call.arguments": "/messages/*/tool_calls/*/function/arguments",
    "result.content": "/messages/*[role=tool]/content",
    "sampling.temperature": "/options/temperature",
    "sampling.top_p": "/options/top_p",
    "sampling.top_k": "/options/top_k",
    "sampling.presence_penalty": "/options/presence_penalty",
    "sampling.frequency_penalty": "/options/frequency_penalty",
    "sampling.seed": "/options/seed",
    "sampling.stop": "/options/stop",
    "request.max_tokens": "/options/num_predict",
    "reasoning.effort": "/think",
    "output.schema": "/format",
}
"""Name of a place → where it is in a request."""

CARRIERS = {"thinking": ("/messages/*[role=assistant]/thinking",)}

TOKEN_COUNTS = TokenCounts(
    at="",
    prompt="/prompt_eval_count",
    output="/eval_count",
    limits=("/options/num_predict",),
)

TRAITS = Traits(
    token_counts=TOKEN_COUNTS,
    whole_in_event="",
    end_pointer="/done",
    places=PLACES,
    carriers=CARRIERS,
    may_be_empty=True,
    output_schemas=("/format",),
)
