"""Cases of an audit: requests and responses, protocol by protocol.

In: a protocol and a model name. Out: ``AuditCase`` values. A further protocol is one more module, its import and its
line in ``_ROOMS``.
It may import what ``recorder`` may.
"""

from __future__ import annotations

import json
from functools import cache
from urllib.parse import quote

from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE
from workbench.recorder.audit.case import AuditCase
from workbench.recorder.audit.cases import (
    _answers,
    _requests,
    anthropic_messages,
    gemini,
    openai_chat,
    openai_responses,
)
from workbench.recorder.audit.cases._speech import Speech

__all__ = [
    "PROTOCOLS",
    "cases_of",
    "conversion_cases",
    "hello",
    "speech_of",
]


_ROOMS = (anthropic_messages, openai_chat, openai_responses, gemini)

PROTOCOLS = tuple(room.SPEECH.protocol for room in _ROOMS)
"""Names of the protocols that can be audited."""


@cache
def speech_of(protocol: str) -> Speech:
    """Templates of a protocol for plain requests and responses. Raises KeyError."""
    found: Speech = {room.SPEECH.protocol: room.SPEECH for room in _ROOMS}[protocol]
    return found


def cases_of(protocol: str, model: str = "") -> tuple[AuditCase, ...]:
    """Every case of a protocol, in the order of the score card. Raises KeyError.

    Args:
        model: asked for, "" for one that the provider has.
    """
    found, own = _cases(protocol), speech_of(protocol).model
    return tuple(_asking(case, own, model) for case in found) if model not in ("", own) else found


def conversion_cases(protocol: str, target_protocol: str, model: str = "") -> tuple[AuditCase, ...]:
    """Cases for a gateway that translates to another protocol upstream. Raises KeyError.

    Requests are those of the first, answers those of the second, where they can be judged by what they say.
    """
    here, there = speech_of(protocol), speech_of(target_protocol)
    asks = (case for case in cases_of(protocol, model) if case.is_convertible and case.theme.side == REQUEST)
    answers = (case for case in cases_of(target_protocol) if case.is_convertible and case.theme.side == RESPONSE)
    return (
        *(replace(case, response=there.answer()) for case in asks),
        *(
            _asking(
                replace(case, request=here.request(case.name, streams=case.streams)), here.model, model or here.model
            )
            for case in answers
        ),
    )


def hello(protocol: str, model: str = "") -> AuditCase:
    """A plain request, to see whether a gateway has a way for the protocol. Raises KeyError."""
    speech = speech_of(protocol)
    return _asking(speech.plain(), speech.model, model or speech.model)


@cache
def _cases(protocol: str) -> tuple[AuditCase, ...]:
    room = next(room for room in _ROOMS if room.SPEECH.protocol == protocol)
    return (*_requests.cases(room.SPEECH), *room.cases(), *_answers.cases(room.SPEECH))


def _asking(case: AuditCase, old: str, new: str) -> AuditCase:
    """The case for another model."""
    body, request = case.request.body, case.request
    changed = None if body is None else body.replace(f'"{old}"'.encode(), json.dumps(new).encode())
    return replace(
        case, request=replace(request, path=request.path.replace(f"/{old}:", f"/{quote(new)}:"), body=changed)
    )
