"""A loop as JSON, to continue it in another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from workbench.errors import SessionFormatError
from workbench.ir import NOTHING, JsonValue, Media, Opaque, Part, Text
from workbench.send.loop.machine import ConversationLoop
from workbench.send.loop.steps import CallResult, Limits, LoopPolicy
from workbench.wire import loads
from workbench.wire.session import text

VERSION = 2

_KINDS: Mapping[str, type[Text | Media | Opaque]] = {"text": Text, "media": Media, "opaque": Opaque}
_OWN = ("protocol", "contract", "parser", "turns", "tokens", "is_estimated", "errors")
_DEFAULTS = {f.name: f.default for f in fields(LoopPolicy)}


def dump(loop: ConversationLoop) -> dict[str, JsonValue]:
    """The complete loop as a JSON value. Contains the secrets of its exchange."""
    return {
        "version": VERSION,
        "exchange": loads(text.dump(loop.exchange)),
        "limits": {f.name: getattr(loop.limits, f.name) for f in fields(Limits)},
        "results": [_plain(result) for result in loop.results],
        "said": loop.user_text,
        "made": list(loop.call_keys),
        "policy": {f.name: _own(getattr(loop.policy, f.name)) for f in fields(LoopPolicy)},
        **{name: getattr(loop, name) for name in _OWN},
    }


def load(plain: JsonValue) -> ConversationLoop:
    """The loop from a JSON value. Raises SessionFormatError."""
    try:
        if plain["version"] != VERSION:
            raise SessionFormatError(f"the loop has version {plain['version']!r:.20}; this version reads {VERSION}")
        policy: dict[str, Any] = {name: value or _DEFAULTS[name] for name, value in plain["policy"].items()}
        return ConversationLoop(
            exchange=text.load(plain["exchange"]),
            limits=Limits(**plain["limits"]),
            results=tuple(_result(result) for result in plain["results"]),
            user_text=plain["said"],
            call_keys=tuple(plain["made"]),
            policy=LoopPolicy(**policy),
            **{name: plain[name] for name in _OWN},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise SessionFormatError(f"not a loop ({type(error).__name__}: {error})") from error


def _own(value: Any) -> JsonValue:
    return dict(value) if isinstance(value, Mapping) else value


def _plain(result: CallResult) -> JsonValue:
    own = {"text": result.text, "is_error": result.is_error, "element": result.element}
    return {**own, "parts": [_plain_part(part) for part in result.parts]}


def _plain_part(part: Part) -> JsonValue:
    kind = next(name for name, known in _KINDS.items() if isinstance(part, known))
    values = {f.name: getattr(part, f.name) for f in fields(part) if f.name != "source"}
    return {"part": kind, **{k: dict(v) if k == "extra" else v for k, v in values.items()}}


def _result(plain: JsonValue) -> CallResult:
    return CallResult(plain["text"], plain["is_error"], tuple(_part(p) for p in plain["parts"]), plain["element"])


def _part(plain: JsonValue) -> Part:
    values: dict[str, Any] = {k: (v or NOTHING) if k == "extra" else v for k, v in plain.items() if k != "part"}
    return _KINDS[plain["part"]](**values)
