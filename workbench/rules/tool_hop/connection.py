"""Rules on a connection to a tool server as a whole: its lines, its responses, changed lists and cancellations."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Finding
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import ChannelFacts, fault_of_line
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.course import of_lapses
from workbench.rules.tool_hop.rules import CANCELLED_END, FRAMING, LIST_CHANGED, RESPONSE_ID, make


def of_connection(decoded: DecodedExchange, facts: ChannelFacts, asked_later: int | None) -> Iterator[Finding]:
    """Findings on a connection.

    Args:
        facts: what its messages say together.
        asked_later: index of a model exchange that began after the tool list had changed; None if there is none.
    """
    yield from _of_lines(decoded)
    yield from of_lapses(decoded, facts.lapses)
    if facts.odd_responses:
        number, why = facts.odd_responses[0]
        more = f" ({len(facts.odd_responses):,} such responses)" if len(facts.odd_responses) > 1 else ""
        yield make(decoded, RESPONSE_ID, RESPONSE, "", f"message {number} of the server {why}{more}")
    if facts.reused_ids:
        number, id_ = facts.reused_ids[0]
        text = f"message {number} of the client reuses the id {id_} of an open request: one of the two gets no response"
        yield make(decoded, RESPONSE_ID, REQUEST, "", text)
    if facts.stale_call:
        changed, called = facts.stale_call
        text = f"message {changed} says that the tool list changed; message {called} calls a tool without tools/list"
        yield make(decoded, LIST_CHANGED, REQUEST, "", text)
    elif facts.stale is not None and asked_later is not None and not decoded.is_arriving:
        text = f"message {facts.stale} says that the tool list changed; the client never fetched the list again"
        yield make(
            decoded, LIST_CHANGED, REQUEST, "", f"{text}, and sent a request to the model in exchange {asked_later + 1}"
        )
    if facts.silent_after_cancel is not None:
        text = f"after message {facts.silent_after_cancel} cancelled a request, the server never responded again"
        yield make(decoded, CANCELLED_END, RESPONSE, "", text)


def _of_lines(decoded: DecodedExchange) -> Iterator[Finding]:
    frames = decoded.exchange.frames
    for side, direction, whose in ((REQUEST, "sent", "client"), (RESPONSE, "received", "server")):
        lines = (n for n, frame in enumerate(frames) if (frame.direction, frame.opcode) == (direction, "text"))
        faults = [(number, fault) for number in lines if (fault := fault_of_line(frames[number].data))]
        if faults:
            number, fault = faults[0]
            more = f" ({len(faults):,} such lines)" if len(faults) > 1 else ""
            text = f"message {number} of the {whose} is {fault}{more}"
            line = quote(frames[number].data.decode("utf-8", "backslashreplace"))
            yield make(decoded, FRAMING, side, "", text, line)
