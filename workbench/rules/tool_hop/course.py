"""Rules on the course of a connection: messages that come at a wrong time, or from the wrong side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.contracts import Finding
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import Course, Lapse, messages_over_http
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import (
    CANCELLED_END,
    CAPABILITY,
    INFO,
    LIFECYCLE,
    MESSAGE,
    NAME,
    NO_ANSWER,
    PAGINATION,
    PROGRESS,
    PROTOCOL_ERROR,
    RESPONSE_ID,
    RESULT_DROPPED,
    TOOL_MISSING,
    VERSION,
    WARNING,
    make,
)

_RULES = {
    "lifecycle": (LIFECYCLE, WARNING),
    "progress": (PROGRESS, WARNING),
    "message": (MESSAGE, WARNING),
    "unknown": (MESSAGE, INFO),
    "note": (MESSAGE, INFO),
    "unlisted-name": (NAME, WARNING),
    "unasked": (LIFECYCLE, WARNING),
    "refused": (PROTOCOL_ERROR, WARNING),
    "answer": (RESPONSE_ID, WARNING),
    "id": (RESPONSE_ID, INFO),
    "early": (LIFECYCLE, INFO),
    "version": (VERSION, WARNING),
    "capability": (CAPABILITY, INFO),
    "cancelled": (CANCELLED_END, WARNING),
    "cursor": (PAGINATION, WARNING),
    "unlisted": (TOOL_MISSING, INFO),
    "no-answer": (NO_ANSWER, WARNING),
    "left": (NO_ANSWER, INFO),
    "unfetched": (RESULT_DROPPED, WARNING),
}
"""Kind of a lapse → its rule, and how severe it is."""


def of_lapses(decoded: DecodedExchange, lapses: Iterable[Lapse]) -> Iterator[Finding]:
    """Findings on the messages of a connection, one for each kind, sender and member."""
    found: dict[tuple[str, str, str], list[Lapse]] = {}
    for lapse in lapses:
        found.setdefault((lapse.kind, lapse.sender, lapse.pointer), []).append(lapse)
    for (kind, sender, _), alike in found.items():
        rule, severity = _RULES[kind]
        more = f" ({len(alike):,} such messages)" if len(alike) > 1 else ""
        text = f"message {alike[0].place}: {alike[0].text}{more}"
        yield make(decoded, rule, REQUEST if sender == "client" else RESPONSE, "", text, severity=severity)


def of_unlisted(decoded: DecodedExchange, server: str) -> Finding:
    """A request to the model without the tools of a server, which its client has not listed."""
    text = f"{quote(server)} declares tools, but the client did not request its list before this request"
    return make(decoded, TOOL_MISSING, REQUEST, "", text, severity=INFO)


def of_lapses_over_http(decoded: DecodedExchange, course: Course) -> Iterator[Finding]:
    """The most severe finding on the messages that one HTTP request and its response carried, which the course takes.

    Args:
        course: of the connection before them.
    """
    messages = messages_over_http(decoded)
    lapses = [lapse for sender, message in messages for lapse in course.take(sender, message, decoded.index)]
    own = sorted(
        (lapse for lapse in lapses if lapse.place == decoded.index), key=lambda each: _RULES[each.kind][1] is INFO
    )
    for lapse in own[:1]:
        rule, severity = _RULES[lapse.kind]
        side = REQUEST if lapse.sender == "client" else RESPONSE
        yield make(decoded, rule, side, "", lapse.text, severity=severity)
