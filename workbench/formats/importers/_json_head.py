"""Recognises JSON by the beginning of a file."""

from __future__ import annotations

from workbench import regex

_JSON = regex.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_CALL = regex.compile(rb'\s*\[?\s*\{\s*"(?:name|tool|tool_name|function|action)"\s*:\s*["{]')
_ARGUMENTS = regex.compile(rb'[,{]\s*"(?:arguments|parameters|args|input|action_input|tool_input)"\s*:')


def is_json(head: bytes) -> bool:
    """True if it starts with an object or a list."""
    return bool(_JSON.match(head))


def is_written_call(head: bytes) -> bool:
    """True if it starts like a tool call that a model wrote as text."""
    return bool(_CALL.match(head) and _ARGUMENTS.search(head, 0, 4096))
