"""Facts about Live other than its bodies: simulator and what rules ask."""

from __future__ import annotations

from workbench.protocols.declaration import ErrorStyle, RequestClues, Serving, TokenCounts, Traits

PROTOCOL = "gemini-live"

SERVING = Serving(
    call_id="function-call-{19}",
    errors=ErrorStyle(body={"error": {"code": "{status}", "message": "{message}", "status": "{type}"}}),
    list_key="contents",
    rank=60,
    clues=RequestClues(paths=r"BidiGenerateContent"),
)

PLACES = {
    "request.tools": "/tools",
    "tool.name": "/tools/*/functionDeclarations/*/name",
    "tool.description": "/tools/*/functionDeclarations/*/description",
    "tool.parameters": "/tools/*/functionDeclarations/*/parameters",
    "content.text": "/contents/*/parts/*/text",
    "content.image": "/contents/*/parts/*/inlineData",
    "call.id": "/contents/*/parts/*/functionCall/id",
    "call.name": "/contents/*/parts/*/functionCall/name",
    "call.arguments": "/contents/*/parts/*/functionCall/args",
    "result.id": "/contents/*/parts/*/functionResponse/id",
    "result.content": "/contents/*/parts/*/functionResponse/response",
    "sampling.temperature": "/generationConfig/temperature",
    "sampling.top_p": "/generationConfig/topP",
    "sampling.top_k": "/generationConfig/topK",
    "sampling.presence_penalty": "/generationConfig/presencePenalty",
    "sampling.frequency_penalty": "/generationConfig/frequencyPenalty",
    "sampling.seed": "/generationConfig/seed",
    "sampling.stop": "/generationConfig/stopSequences",
    "request.max_tokens": "/generationConfig/maxOutputTokens",
}
"""Name of a place → where it is in a request."""

TRAITS = Traits(
    token_counts=TokenCounts(
        at="/usageMetadata",
        prompt="/promptTokenCount",
        output="/responseTokenCount",
        total="/totalTokenCount",
        cached=("/cachedContentTokenCount",),
        beside=("/thoughtsTokenCount", "/toolUsePromptTokenCount"),
        limits=("/generationConfig/maxOutputTokens",),
    ),
    places=PLACES,
    may_be_empty=True,
    empty_is_message=True,
    answer_form_differs=True,
)
