"""What can go wrong with an answer, by the names that people type."""

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
