"""Facts about Live other than its bodies: simulator and what rules ask."""

from __future__ import annotations

from workbench.protocols.declaration import ErrorStyle, RequestClues, Serving, TokenCounts, Traits
from workbench.protocols.shapes.contents.places import PLACES as CONTENT_PLACES

PROTOCOL = "gemini-live"

SERVING = Serving(
    call_id="function-call-{19}",
    errors=ErrorStyle(body={"error": {"code": "{status}", "message": "{message}", "status": "{type}"}}),
    list_key="contents",
    rank=60,
    clues=RequestClues(paths=r"BidiGenerateContent"),
)

_NOT_OF_LIVE = frozenset((
    "request.tool_choice", "content.file", "sampling.logprobs", "sampling.top_logprobs", "reasoning.effort",
    "output.schema",
))  # fmt: skip

PLACES = {name: place for name, place in CONTENT_PLACES.items() if name not in _NOT_OF_LIVE}
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
    may_be_silent=("proactivity", {"proactiveAudio": True}),  # what is not said to the model needs no answer (SDK 3.6)
    empty_is_message=True,
    answer_form_differs=True,
)
