"""Places of a request that consists of typed blocks."""

from __future__ import annotations

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/tool_choice",
    "tool.name": "/tools/*/name",
    "tool.description": "/tools/*/description",
    "tool.parameters": "/tools/*/input_schema",
    "tool.strict": "/tools/*/strict",
    "tool.type": "/tools/*/type",
    "content.text": "/messages/*/content/*[type=text]/text",
    "content.image": "/messages/*/content/*[type=image]",
    "content.image_url": "/messages/*/content/*[type=image]/source/url",
    "content.file": "/messages/*/content/*[type=document]",
    "call.id": "/messages/*/content/*[type=tool_use]/id",
    "call.name": "/messages/*/content/*[type=tool_use]/name",
    "call.arguments": "/messages/*/content/*[type=tool_use]/input",
    "result.id": "/messages/*/content/*[type=tool_result]/tool_use_id",
    "result.content": "/messages/*/content/*[type=tool_result]/content",
    "sampling.temperature": "/temperature",
    "sampling.top_p": "/top_p",
    "sampling.top_k": "/top_k",
    "sampling.stop": "/stop_sequences",
    "request.max_tokens": "/max_tokens",
    "reasoning.effort": "/output_config/effort",
    "output.schema": "/output_config/format/schema",
}
"""Name of a place → where it is in a request."""
