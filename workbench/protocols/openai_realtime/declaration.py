"""Facts about the Realtime API other than its bodies: simulator, imports, and what rules ask."""

from __future__ import annotations

from workbench.protocols.common import openai
from workbench.protocols.declaration import RequestClues, Serving, TokenCounts, Traits

PROTOCOL = "openai-realtime"

SERVING = Serving(
    answer_id="resp_{21}",
    item_ids={"call": "item_{21}", "text": "item_{21}"},
    errors=openai.errors("Missing required parameter: 'model'."),
    list_key="input",
    rank=50,
    clues=RequestClues(paths=r"/realtime"),
    api="openai",
)

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/tool_choice",
    "tool.name": "/tools/*/name",
    "tool.description": "/tools/*/description",
    "tool.parameters": "/tools/*/parameters",
    "tool.type": "/tools/*/type",
    "content.text": "/input/*/content/*[type=input_text]/text",
    "content.image": "/input/*/content/*[type=input_image]",
    "call.id": "/input/*[type=function_call]/call_id",
    "call.name": "/input/*[type=function_call]/name",
    "call.arguments": "/input/*[type=function_call]/arguments",
    "result.id": "/input/*[type=function_call_output]/call_id",
    "result.content": "/input/*[type=function_call_output]/output",
    "request.max_tokens": "/max_output_tokens",
    "request.parallel_calls": "/parallel_tool_calls",
    "reasoning.effort": "/reasoning/effort",
}
"""Name of a place → where it is in a request."""

TRAITS = Traits(
    token_counts=TokenCounts(
        prompt="/input_tokens",
        output="/output_tokens",
        total="/total_tokens",
        cached=("/input_token_details/cached_tokens",),
        limits=("/max_output_tokens",),
    ),
    places=PLACES,
    may_be_empty=True,
    end_repeats_calls=True,
    call_format="responses",
)
