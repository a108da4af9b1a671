"""Places of a request that consists of contents."""

from __future__ import annotations

PLACES = {
    "request.tools": "/tools",
    "request.tool_choice": "/toolConfig/functionCallingConfig",
    "tool.name": "/tools/*/functionDeclarations/*/name",
    "tool.description": "/tools/*/functionDeclarations/*/description",
    "tool.parameters": "/tools/*/functionDeclarations/*/parameters",
    "content.text": "/contents/*/parts/*/text",
    "content.image": "/contents/*/parts/*/inlineData",
    "content.file": "/contents/*/parts/*/fileData",
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
    "sampling.logprobs": "/generationConfig/responseLogprobs",
    "sampling.top_logprobs": "/generationConfig/logprobs",
    "request.max_tokens": "/generationConfig/maxOutputTokens",
    "reasoning.effort": "/generationConfig/thinkingConfig/thinkingLevel",
    "output.schema": "/generationConfig/responseSchema",
}
"""Name of a place → where it is in a request."""

SDK_CONFIG = "config"
"""Argument of google-genai's ``generate_content`` that holds the tools and parameters, as recorders of its calls keep
it; on the wire they are members of the body."""
