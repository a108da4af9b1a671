"""The members of a Realtime session, and the parameters of a response that come from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, islice
from math import isclose

from workbench.ir import JsonValue

Value = dict[str, JsonValue]

_OWN = ("id", "object", "expires_at", "client_secret", "input")
"""Members of a session, and of a response, that are no parameters of a response."""

_BETA_NAMES: Mapping[str, str] = {
    "/output_modalities": "/modalities",
    "/max_output_tokens": "/max_response_output_tokens",
    "/audio/input/turn_detection": "/turn_detection",
    "/audio/input/transcription": "/input_audio_transcription",
    "/audio/input/noise_reduction": "/input_audio_noise_reduction",
    "/audio/output/voice": "/voice",
    "/audio/output/speed": "/speed",
}
"""Place of a member in a session → its place in the sessions of the beta, which servers of others still have."""

_ECHOED = ("/tool_choice", "/output_modalities", "/modalities", "/turn_detection", "/audio/input/turn_detection")
"""Members that a session repeats as they were set, if the server applies them."""

_SWITCHED = ("turn_detection", "transcription", "noise_reduction")
"""Ends of the names of members that null switches off; any other that is null gets its default."""

_PRECISION = 1e-6
"""Relative error of a number that a server keeps in single precision (0.6 is 0.6000000238418579 there)."""

_TRANSCRIPTION = "realtime.transcription_session"


def object_of(value: Value, key: str) -> Value:
    """The object of a key; empty for anything else."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def tool_names(session: Value) -> list[str]:
    """Names of the tools of a session."""
    tools = session.get("tools")
    read = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    named = [tool if "name" in tool else object_of(tool, "function") for tool in read]  # xAI's session has the latter
    return [str(tool["name"]) for tool in named if "name" in tool]


def waits_for_silence(session: Value) -> bool:
    """The server requests a response by itself when the user stops speaking; so it does unless the client says no.

    A detection whose type is null is off, too: some servers lose the type when only another member is updated.
    """
    for holder in (session, object_of(object_of(session, "audio"), "input")):
        detection = holder.get("turn_detection", {})
        if detection is None or (isinstance(detection, dict) and detection.get("type", "") is None):
            return False
    return True


def responds_by_itself(session: Value) -> bool:
    """The server begins a response when the user stops speaking: a session for speech, with ``create_response``."""
    holders = (session, object_of(object_of(session, "audio"), "input"))
    is_off = any(object_of(holder, "turn_detection").get("create_response") is False for holder in holders)
    is_conversation = session.get("type") != "transcription" and session.get("object") != _TRANSCRIPTION
    return is_conversation and not is_off and waits_for_silence(session)


def members_lost(updates: Iterable[Value], session: Value) -> tuple[str, ...]:
    """Members that the first of some updates sets, and the session after it does not have, each in words.

    Args:
        updates: it, and those sent behind it; a server may confirm all of them with the state behind the last one.
    """
    first, *later = accumulate(islice(updates, _LATER), merge)
    found = tuple(_ignored_members(first, session))
    for whole in later if found else ():
        remaining = frozenset(_ignored_members(whole, session))
        found = tuple(words for words in found if words in remaining)
    return found


_LATER = 8
"""Updates in a row that a server may confirm with one state."""


def _ignored_members(update: Value, session: Value) -> Iterator[str]:
    """Members that an update sets and the session after it does not have, each in words.

    A session without a member says nothing, unless it has it in the place of the other version of the API.
    """
    for place, beta in _BETA_NAMES.items():
        for own, other in ((place, beta), (beta, place)):
            setting, current = _at(update, own), _at(session, other)
            if _at(session, own) is _ABSENT and _is_ignored(own, setting, current):
                yield f"{own[1:].replace('/', '.')} (the session has {other[1:].replace('/', '.')})"
    for place in _ECHOED:
        setting, current = _at(update, place), _at(session, place)
        if _is_ignored(place, setting, current):
            yield place[1:].replace("/", ".")


_ABSENT = object()


def _at(value: JsonValue, place: str) -> object:
    for name in place.split("/")[1:]:
        if not isinstance(value, dict) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _is_ignored(place: str, setting: object, current: object) -> bool:
    """The server has another value at a place than was set there."""
    if setting is None and place.endswith(_SWITCHED):
        return current is not None and current is not _ABSENT
    return setting is not _ABSENT and _differ(setting, current)


def _differ(setting: object, current: object) -> bool:
    """The server has another value; an object may have more members than was set, and nothing says less."""
    if current is _ABSENT or setting is None:
        return False
    if isinstance(setting, dict) and isinstance(current, dict):
        return any(name in current and _differ(value, current[name]) for name, value in setting.items())
    if isinstance(setting, list) and isinstance(current, list):
        return sorted(map(str, setting)) != sorted(map(str, current))
    if isinstance(setting, float) and isinstance(current, float):
        return not isclose(setting, current, rel_tol=_PRECISION)
    return setting != current and (current is None or type(setting) is type(current))


def merge(session: Value, update: Value) -> Value:
    """A session with the members that an update has; objects in it are merged, lists replaced."""
    merged = dict(session)
    for key, value in update.items():
        before = merged.get(key)
        merged[key] = merge(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return merged


def settings_of(session: Value, response: Value) -> Value:
    """The parameters of a response: those of the session, but for what the request itself states."""
    whole = merge(_without(session, _OWN), _without(response, _OWN))
    first: Value = {key: whole[key] for key in ("model", "instructions") if key in whole}
    return {**first, **whole}


def _without(value: Value, keys: Iterable[str]) -> Value:
    return {key: inner for key, inner in value.items() if key not in keys}
