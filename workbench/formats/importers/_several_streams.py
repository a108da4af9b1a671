"""Several whole streams in one file, one after the other, as people keep the answers of an agent's turns.

A stream that begins again without an end (a retry behind a gateway) is one stream: what is wrong with it, its decoder
says.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.ir import JsonValue

DONE = "[DONE]"

_BEGIN_AND_END = (
    ({"message_start"}, {"message_stop"}),  # Messages
    ({"message-start"}, {"message-end"}),  # Cohere v2
    ({"messageStart"}, {"messageStop"}),  # Bedrock Converse
    ({"response.created"}, {"response.completed", "response.incomplete", "response.failed"}),  # Responses
    (
        {"interaction.created", "interaction.start"},
        {f"interaction.{end}" for end in ("completed", "complete", "requires_action", "incomplete", "failed")},
    ),  # Gemini Interactions
    ({"chat.completion.chunk"}, {DONE}),
)
_ENDS_BEFORE = {begin: ends for begins, ends in _BEGIN_AND_END for begin in begins}
_ENDS = frozenset().union(*_ENDS_BEFORE.values())
_HOLDERS = ("message", "response", "interaction")


def may_hold_several(data: bytes) -> bool:
    """False for bytes in which no stream can begin after the end of another; cheap."""
    return any(
        0 <= min((at for end in ends if (at := data.find(end.encode())) >= 0), default=-1) < data.rfind(begin.encode())
        for begin, ends in _ENDS_BEFORE.items()
    )


def next_streams(payloads: Iterable[JsonValue]) -> list[int]:
    """Positions of the payloads with which another stream begins: the one before has ended and has another id.

    Args:
        payloads: JSON values, or ``"[DONE]"``.
    """
    found: list[int] = []
    end, last_id = "", None
    for n, value in enumerate(payloads):
        kind = _kind(value)
        if kind in _ENDS_BEFORE:
            answer_id = _id(value)
            if end in _ENDS_BEFORE[kind] and (answer_id is None or answer_id != last_id):
                found.append(n)
            end, last_id = "", answer_id
        elif kind in _ENDS:
            end = kind
    return found


def _kind(value: JsonValue) -> str:
    if not isinstance(value, dict):
        return DONE if value == DONE else ""
    kind = value.get("type") or value.get("event_type") or value.get("object")
    if isinstance(kind, str):
        return kind
    return next(iter(value)) if len(value) == 1 else ""


def _id(value: JsonValue) -> JsonValue:
    """The id of the answer that begins with a payload; None if it has none."""
    if not isinstance(value, dict):
        return None
    holder = next((value[key] for key in _HOLDERS if isinstance(value.get(key), dict)), value)
    return holder.get("id")
