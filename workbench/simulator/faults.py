"""Faults and features of simulators, by the names that people type."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENT_FAULTS: Mapping[str, str] = {
    "invalid-json": "text that is not JSON",
    "double-encoded": "the JSON text of the arguments as a JSON string",
    "empty": "empty argument text",
    "truncated": "cut off in the middle",
    "wrong-type": "a value of a different type than in the schema",
    "missing-required": "a required argument is left out",
    "unknown-tool": "an undeclared tool",
}

STREAM_FAULTS: Mapping[str, str] = {
    "split-utf8": "chunks of one byte inside characters that are not ASCII",
    "reused-index": "at least two calls, all with the same index",
    "missing-index": "calls and blocks without their index",
    "cut": "the connection breaks in the middle",
    "no-terminator": "the terminal event is missing",
    "error": "an error event instead of the end",
    "empty-choices": "a chunk without choices before the first one",
    "comments": "comment lines between the events (server-sent events only)",
    "json-body": "a single JSON body although a stream was requested",
}

PLACES = ("content", "reasoning")

FEATURES: Mapping[str, str] = {
    "tools": "declared tools",
    "stream": "answers as a stream",
    "strict": "tools with strict: true",
    "choice-auto": "tool_choice auto",
    "choice-none": "tool_choice none",
    "choice-any": "tool_choice any (required)",
    "choice-tool": "tool_choice of one tool",
    "system": "the system text",
    "mid-system": "a system message between others",
    "developer": "a message with the role developer",
    "media": "media in a result",
    "errors": "a result that is an error",
    "reasoning": "replayed reasoning",
    "reasoning-missing": "a replayed call without its reasoning",
    "reasoning-empty": "replayed reasoning that is empty",
    "reasoning-altered": "replayed reasoning with another text",
    "reasoning-stale": "reasoning from before the last user message",
    "reasoning-forgotten": "calls from before the last user message without their reasoning",
    "results": "a tool result longer than result-limit; otherwise its end is not read",
    "context": "a request longer than context; otherwise its oldest messages are not read",
    "odd-names": "tool names with characters other than letters, digits, _ and -",
    "odd-ids": "call ids with characters other than letters, digits, _ and -",
}
"""Features of a request that a simulator can refuse, or (some of them) accept without reading."""

UNREAD = (
    *("choice-auto", "choice-none", "choice-any", "choice-tool", "system", "mid-system", "developer", "media"),
    "reasoning",
)
"""Features that can be ignored."""

KEYWORD = "schema:"
"""Prefix of a JSON Schema keyword to refuse or ignore in any tool: ``schema:pattern``."""
