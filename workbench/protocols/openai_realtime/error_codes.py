"""Errors of a Realtime connection: their codes, and what they concern."""

from __future__ import annotations

from workbench.protocols import SocketFact
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


def second_response(request: int, number: int, committed: int | None) -> SocketFact:
    """A request that is refused for a response in progress; or while none is (bifrost issue 7189).

    Args:
        request: message that requests the response.
        number: message that refuses it.
        committed: message that committed input, if no response followed by itself; None where one may have.
    """
    if committed is None:
        text = f"message {request + 1} requests a response while another one is in progress"
        return SocketFact("socket.two-responses", text, (request, number))
    text = f"the server refuses message {request + 1} for a response in progress, but no response had begun: the"
    text += f" server committed input (message {committed + 1}), and its turn detection is off"
    return SocketFact("answer.error", text, (request, number), is_of_client=False)
