"""Faults and features of simulators, by the names that people type."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENT_FAULTS: Mapping[str, str] = {
    "invalid-json": "text that is no JSON",
    "double-encoded": "the JSON text of the arguments as a JSON string",
    "empty": "nothing at all",
    "truncated": "cut off in the middle",
    "wrong-type": "a value of another type than the schema says",
    "missing-required": "a required argument is left out",
    "unknown-tool": "a tool that nobody declared",
}

STREAM_FAULTS: Mapping[str, str] = {
    "split-utf8": "chunks of one byte inside characters that are not ASCII",
    "reused-index": "two calls at least, all under one index",
    "missing-index": "calls and blocks without their index",
    "cut": "the connection breaks in the middle",
    "no-terminator": "the last event never comes",
    "error": "an error event instead of the end",
    "empty-choices": "a chunk without choices in front",
    "comments": "comment lines between the events (server-sent events only)",
    "json-body": "a whole JSON body although a stream was asked for",
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
    "reasoning": "reasoning that comes back",
    "reasoning-missing": "a call that comes back without its reasoning",
    "reasoning-empty": "reasoning that comes back empty",
    "reasoning-altered": "reasoning that comes back with another text",
    "reasoning-stale": "reasoning from before the user's last words",
    "reasoning-forgotten": "calls from before the user's last words without their reasoning",
    "results": "a result beyond result-limit; else its end goes unread",
    "context": "a request beyond context; else its oldest messages go unread",
    "odd-names": "names of tools with other characters than letters, digits, _ and -",
    "odd-ids": "the same for ids of calls",
}
"""Features of a request that a simulator can refuse, or (some of them) accept without reading."""

UNREAD = (
    *("choice-auto", "choice-none", "choice-any", "choice-tool", "system", "mid-system", "developer", "media"),
    "reasoning",
)
"""Features that can be ignored."""

KEYWORD = "schema:"
"""Prefix of a JSON Schema keyword to refuse or ignore in any tool: ``schema:pattern``."""
