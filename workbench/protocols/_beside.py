"""Operations of model servers that ask no model for an answer, although their bodies look like it.

Counting sends the conversation itself; caches hold one; embeddings and rerankings take an ``input`` or a ``prompt``.
Facts: the API references of Anthropic, Google, OpenAI, Ollama, Cohere and AWS Bedrock; recorded by crmne/ruby_llm,
posit-dev/chatlas, 0xPlaygrounds/rig and simonw/llm-gemini, 2026-11-22.
"""

from __future__ import annotations

from workbench import regex

_BESIDE = regex.compile(
    r"/count[_-]tokens|/input_tokens|/(?:de)?tokenize|/embed(?:dings?)?|/(?:re)?rank|/moderations|/cachedContents"
    r"|:(?:count|compute)Tokens|:(?:batch|asyncBatch)?[eE]mbedContents?|/guardrail/[^/]+/version/[^/]+/apply"
    r"|/images?/(?:generations|edits|variations)|/audio/(?:speech|transcriptions|translations)"
    r"|/model/[^/]*(?:embed|rerank)[^/]*/invoke"
)


def is_beside(url: str) -> bool:
    """True for a path that ends in an operation other than a request to a model."""
    path = url.partition("?")[0].partition("#")[0].rstrip("/")
    return any(found.end() == len(path) for found in _BESIDE.finditer(path))
