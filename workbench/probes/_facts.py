"""What probes learn: every fact of a profile by its name, with its values."""

from __future__ import annotations

from collections.abc import Mapping

FACTS: Mapping[str, str] = {
    # format
    "tool_call_format": "how calls come: anthropic, openai, responses, gemini, ollama …, json-text, xml, none",
    "parser": "the text format that calls are read with, empty for the protocol's own form",
    "parsed_from": "where a call in text was found: text or reasoning",
    # schema
    "schema_level": "strict-json-schema, simple-object or string-only",
    "schema_required": "every required argument is there",
    "schema_enum": "an enum is kept to",
    "schema_integer": "an integer is one",
    "schema_nested": "a nested object is as declared",
    "schema_array": "an array is as declared",
    # closure, parallel, repair
    "closes": "the answer uses the result of a call",
    "supports_parallel_tool_use": "one answer makes several calls, and their results go through",
    "error_repair": "reliable (at once), limited (after several errors) or none",
    "repair_tries": "errors that it took",
    "repair_limit": "errors after which it was not waited for any longer",
    # reasoning
    "reasoning_carrier": "where reasoning came, or none",
    "requires_reasoning_replay": "without it the next request is refused, or its answer degrades",
    "reasoning_replay": "way of sending it back → taken, refused, needed, ignored, not tried",
    "reasoning_replay_scope": "never, optional, turn or conversation",
    # streaming
    "supports_streaming_tool_use": "a streamed call is the one of a whole answer",
    "streams_arguments_whole": "the arguments of a streamed call can be read",
    "streams_finish_reason": "the finish reason of a stream with a call, as sent",
    "streams_usage": "token counts come with a stream",
    "streams_deltas": "it comes in pieces",
    "streams_stable": "the usual clients join the pieces to the same message",
    # arguments
    "argument_text": "strict, double-encoded, fenced, trailing text, repaired or broken",
    "argument_values": "kind of text that is hard to write → kept or changed",
    # text-format
    "text_formats": "how and where calls came → how often",
    "text_format": "the format of most calls in text, empty for none",
    # choice
    "tool_choice": "mode → honoured, ignored, refused, unsayable, unseen",
    # keywords
    "refused_keywords": "keywords of a schema that are refused",
    "unresolved_keywords": "those for which no request was left",
    "ignored_keywords": "those that are taken, and broken by a call that is asked to",
    "strict_tools": "taken, refused or unsayable",
    # names
    "tool_names": "kind of name → taken, refused, changed, unseen",
    "call_ids": "kind of id → taken or refused",
    # large-results, context
    "large_results": "bytes of a result: accepted, read, tried",
    "context": "tokens of a history, estimated: kept, tried; trimming: none, silent, refused",
    # system, media, cancelled, canary
    "system_placement": "place of instructions → seen, ignored, refused, as top",
    "media_in_results": "a picture in a result: seen, ignored, refused, unsayable",
    "cancelled_calls": "the news that a call was cancelled: taken, repeated, refused",
    "reasoning_seen": "reasoning that comes back, in the turn and later: seen, unseen, refused",
}
"""Name → what it says."""
