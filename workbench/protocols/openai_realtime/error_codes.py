"""Errors of a Realtime connection: their codes, and what they concern."""

from __future__ import annotations

from workbench.protocols.openai_realtime.session_members import Value, member_object

ACTIVE = "conversation_already_has_active_response"
NOT_ACTIVE = "response_cancel_not_active"
DUPLICATE = "item_create_duplicate_item_id"
HARMLESS = frozenset({NOT_ACTIVE, DUPLICATE, "input_audio_buffer_commit_empty"})
"""Codes of errors that concern neither a response nor the conversation: they stay with the connection."""

_CODES = {
    "already has an active response": ACTIVE,
    "no active response found": NOT_ACTIVE,
    "the buffer is empty": "input_audio_buffer_commit_empty",
}
"""Part of the text of an error → its code."""


def code_of(error: Value) -> str:
    """The code of an error; earlier versions of the API gave none with some texts (openai_realtime_client issue 3)."""
    text = str(error.get("message"))
    return str(error.get("code") or next((code for words, code in _CODES.items() if words in text), ""))


def error_of(value: Value) -> Value:
    """The error of an event; some servers send only its text (vLLM)."""
    told = value.get("error")
    return {"message": told, "code": value.get("code")} if isinstance(told, str) else member_object(value, "error")
