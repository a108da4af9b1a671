"""Strings of items that arrive in pieces, and their events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class InPieces(NamedTuple):
    """A string that arrives in pieces: ``….delta`` events, then one ``….done``.

    Attributes:
        kind: type of item it belongs to.
        at: its place in the item; ``*`` is the index of an entry.
        whole: key of the ``done`` event that holds it.
        position: key that holds the index of the entry.
        entry: type of the entry.
    """

    kind: str
    at: str
    whole: str
    position: str = ""
    entry: str = ""


TEXTS: Mapping[str, InPieces] = {
    "response.output_text": InPieces("message", "/content/*/text", "text", "content_index", "output_text"),
    "response.refusal": InPieces("message", "/content/*/refusal", "refusal", "content_index", "refusal"),
    "response.function_call_arguments": InPieces("function_call", "/arguments", "arguments"),
    "response.custom_tool_call_input": InPieces("custom_tool_call", "/input", "input"),
    "response.mcp_call_arguments": InPieces("mcp_call", "/arguments", "arguments"),
    "response.code_interpreter_call_code": InPieces("code_interpreter_call", "/code", "code"),
    "response.reasoning_summary_text": InPieces(
        "reasoning", "/summary/*/text", "text", "summary_index", "summary_text"
    ),
    "response.reasoning_text": InPieces("reasoning", "/content/*/text", "text", "content_index", "reasoning_text"),
    "response.apply_patch_call_operation_diff": InPieces("apply_patch_call", "/operation/diff", "diff"),
    "response.shell_call_command": InPieces("shell_call", "/action/commands/*", "command", "command_index"),
}
PARTS: Mapping[str, tuple[str, str]] = {
    "response.content_part": ("/content", "content_index"),
    "response.reasoning_summary_part": ("/summary", "summary_index"),
}
"""Events that bring an entry of a list whole: where the list is, and the key that holds the entry's index."""
