"""The members of a Realtime session, and the parameters of a response that come from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice

from workbench.ir import JsonValue
from workbench.protocols import SocketFact
from workbench.protocols.common.settings import LostSetting, repeated_settings
from workbench.wire import Exchange, split_url

Value = dict[str, JsonValue]

_OWN = ("id", "object", "expires_at", "client_secret", "input")
"""Members of a session, and of a response, that are no parameters of a response."""

_PROTOCOL = "openai-realtime"
_TRANSCRIPTION = "realtime.transcription_session"


def member_object(value: Value, key: str) -> Value:
    """The object of a key; empty for anything else."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def tool_names(session: Value) -> list[str]:
    """Names of the tools of a session."""
    tools = session.get("tools")
    read = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    named = [
        tool if "name" in tool else member_object(tool, "function") for tool in read
    ]  # xAI's session has the latter
    return [str(tool["name"]) for tool in named if "name" in tool]


def waits_for_silence(session: Value) -> bool:
    """The server requests a response by itself when the user stops speaking; so it does unless the client says no.

    A detection whose type is null is off, too: some servers lose the type when only another member is updated.
    """
    for holder in (session, member_object(member_object(session, "audio"), "input")):
        detection = holder.get("turn_detection", {})
        if detection is None or (isinstance(detection, dict) and detection.get("type", "") is None):
            return False
    return True


def responds_by_itself(session: Value) -> bool:
    """The server begins a response when the user stops speaking: a session for speech, with ``create_response``."""
    holders = (session, member_object(member_object(session, "audio"), "input"))
    is_off = any(member_object(holder, "turn_detection").get("create_response") is False for holder in holders)
    return not is_for_transcripts(session) and not is_off and waits_for_silence(session)


def interrupts_by_itself(session: Value) -> bool:
    """The server ends a response when the user speaks over it; so it does unless the client says no."""
    holders = (session, member_object(member_object(session, "audio"), "input"))
    detections = [member_object(holder, "turn_detection") for holder in holders]
    return any(detections) and not any(found.get("interrupt_response") is False for found in detections)


def is_for_transcripts(session: Value) -> bool:
    """A session that only transcribes: it has no responses."""
    return session.get("type") == "transcription" or session.get("object") == _TRANSCRIPTION


def modalities(session: Value, response: Value) -> tuple[str, ...]:
    """The modalities that a response, or else its session, states; empty if neither does."""
    for holder in (response, session):
        stated = holder.get("output_modalities", holder.get("modalities"))
        if isinstance(stated, list):
            return tuple(map(str, stated))
    return ()


def is_only_written(response: Value) -> bool:
    """A response that is complete and has texts, but nothing that was spoken."""
    output = response.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    parts = [part for item in items for part in _parts(item) if item.get("type") == "message"]
    kinds = {str(part.get("type")) for part in parts if isinstance(part, dict)}
    return response.get("status") == "completed" and bool(kinds) and kinds <= {"text", "output_text"}


def spoken_text(response: Value) -> str:
    """What the messages of a response say, as text or transcript."""
    output = response.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    parts = [part for item in items for part in _parts(item) if item.get("type") == "message"]
    words = (part.get("transcript") or part.get("text") for part in parts if isinstance(part, dict))
    return " ".join(word for word in words if isinstance(word, str))


def _parts(item: Value) -> list[JsonValue]:
    content = item.get("content")
    return content if isinstance(content, list) else []


def input_format(session: Value) -> Value:
    """The format of the user's audio, as far as a session or an update states it."""
    stated = member_object(member_object(session, "audio"), "input").get("format", session.get("input_audio_format"))
    return stated if isinstance(stated, dict) else {"type": stated} if stated else {}


def lost_settings(updates: Iterable[Value], session: Value) -> tuple[LostSetting, ...]:
    """What the first of some updates sets, and the session after it does not have.

    Args:
        updates: it, and those sent behind it; a server may confirm all of them with the state behind the last one.
    """
    table = repeated_settings(_PROTOCOL)
    first, *later = accumulate(islice(updates, LATER), updated_session)
    found = tuple(table.losses(first, session))
    for whole in later if found else ():
        remaining = {lost.place for lost in table.losses(whole, session)}
        found = tuple(lost for lost in found if lost.place in remaining)
    return found


def ignored_settings(losses: Iterable[tuple[int, LostSetting]], handshake: Exchange) -> Iterator[SocketFact]:
    """Say of each update, by its frame, for what of it the session that the server confirmed has other values."""
    host = split_url(handshake.request.url).hostname or "" if handshake.request else ""
    table, found = repeated_settings(_PROTOCOL), dict[int, list[str]]()
    for number, lost in losses:
        if table.is_repeated_by(host, lost.place):
            found.setdefault(number, []).append(lost.words)
    for number, members in found.items():
        text = f"the server ignored values that message {number + 1} sets: {', '.join(members):.160}"
        yield SocketFact("params.ignored", text, (number,), is_harmless=True)


def keeps_tools(wanted: Sequence[str], later: Iterable[Value]) -> bool:
    """The last of the updates behind one, if any states tools, still declares these: none took them back."""
    stated = [tool_names(update) for update in later if "tools" in update]
    return not stated or set(wanted) <= set(stated[-1])


LATER = 8
"""Updates in a row that a server may confirm with one state."""


def updated_session(session: Value, update: Value) -> Value:
    """A session with the members that an update has; objects in it are merged, lists replaced."""
    merged = dict(session)
    for key, value in update.items():
        before = merged.get(key)
        merged[key] = updated_session(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return merged


def settings_of(session: Value, response: Value) -> Value:
    """The parameters of a response: those of the session, but for what the request itself states."""
    whole = updated_session(_without(session, _OWN), _without(response, _OWN))
    first: Value = {key: whole[key] for key in ("model", "instructions") if key in whole}
    return {**first, **whole}


def _without(value: Value, keys: Iterable[str]) -> Value:
    return {key: inner for key, inner in value.items() if key not in keys}
