"""Types of messages: one that a server does not know, in the text of its error, and those of events without a type.

Facts: openai.com ("Invalid value: 'x'" with the parameter ``type``); servers that speak the same protocols in words of
their own (livekit/agents-js issue 2386, router-for-me/CLIProxyAPI pull request 5775).
"""

from __future__ import annotations

import re

from workbench import regex
from workbench.ir import JsonValue
from workbench.protocols.common.error_body import read_error

_INVALID = regex.compile(r"Invalid value: '([^']{1,80})'")
_TYPE = regex.compile(
    r"\b(?:unknown|unsupported|unrecogni[sz]ed|unexpected|invalid)(?: websocket)?(?: client)? "
    r"(?:event|message|request)(?: type)?:? ['\"`]?([A-Za-z_]+(?:\.[A-Za-z_]+){0,5})",
    re.IGNORECASE,
)


def event_type(value: dict[str, JsonValue]) -> str:
    """The type of an event; empty for one without a type, unless its members show that it is an error.

    xAI sends errors so, and gateways that put the body of an HTTP error into a message (opencode issue 48227).
    """
    kind = value.get("type")
    if isinstance(kind, str) and kind:
        return kind
    return "error" if kind is None and read_error(value) else ""


def unknown_type(error: JsonValue) -> str:
    """The type that an error says is not known; empty if it says something else.

    Args:
        error: the error of an event, an object or only its text.
    """
    param = error.get("param") if isinstance(error, dict) else None
    text = str(error.get("message") if isinstance(error, dict) else error)
    found = _INVALID.match(text) if param in ("type", None) else None
    found = found or _TYPE.search(text)
    return found[1] if found else ""
