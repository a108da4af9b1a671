"""Lines about exchanges paused at breakpoints: reason, duration, remaining time of the client."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import WireError
from workbench.safetext import clip
from workbench.views import REQUEST, Line, Span, count, line, wrap

if TYPE_CHECKING:
    from workbench.ir import JsonValue

SIGN = "‖"
"""Sign of a paused exchange in every list."""

PAUSED = Span(f"{SIGN} paused", "warning strong")
"""Mark of a paused exchange in the list of exchanges."""

SHORT = 30.0
"""Seconds a client still waits from which on it is an error to think on."""

_WHY = 200
_RULE = 25
_TIME = 8
"""Columns of the list."""


class Why(NamedTuple):
    """One reason of a pause, see ``breakpoints.Reason``."""

    kind: str
    rule: str
    words: str
    pointer: str


class PausedSide(NamedTuple):
    """One side of an exchange that waits at a breakpoint.

    Attributes:
        recorder: socket of the recorder that paused it.
        id: id of the pause at that recorder.
        exchange: id of the exchange in the session.
        since, times_out_at: seconds since the epoch; ``times_out_at`` is None if client timeout unknown.
        timeout: seconds client waits; ``timeout_from`` is the source of that number.
        size: number of bytes received, ``sent`` of them passed on already.
        deeds: possible decisions: ``continue``, ``edit``, ``answer``, ``drop``.
        answered_by: what can respond: ``"simulator"``, or ``"recording"`` for a call of a tool server.
        limit: why not every decision is possible; empty if each is.
        note: what the pause means for the connection; empty for nothing.
    """

    recorder: Path
    id: int
    exchange: str
    side: str
    reasons: tuple[Why, ...]
    method: str
    url: str
    client: str
    since: float
    timeout: float | None
    timeout_from: str
    times_out_at: float | None
    size: int
    sent: int
    deeds: frozenset[str]
    answered_by: str = ""
    limit: str = ""
    note: str = ""

    @property
    def is_tool_hop(self) -> bool:
        """It is a call of a tool server, or its result."""
        from workbench.recorder.breakpoints import RECORDING

        return self.answered_by == RECORDING

    @property
    def is_message(self) -> bool:
        """It is a message of a WebSocket, which stays open."""
        return bool(self.note)

    @property
    def why(self) -> str:
        """The first reason in short: its rule, else its breakpoint."""
        return (self.reasons[0].rule or self.reasons[0].kind) if self.reasons else "a breakpoint"


def held_of(recorder: Path, pause: Mapping[str, JsonValue]) -> PausedSide:
    """Parse a pause as a recorder sends it (``breakpoints.remote``)."""
    reasons = tuple(Why(*(str(each.get(name, "")) for name in Why._fields)) for each in pause.get("reasons", ()))
    return PausedSide(
        recorder,
        pause["id"],
        pause["exchange"],
        pause["side"],
        reasons,
        pause.get("method", ""),
        pause.get("url", ""),
        pause.get("client", ""),
        pause["since"],
        pause.get("timeout"),
        pause.get("timeout_from", ""),
        pause.get("times_out_at"),
        pause.get("bytes", 0),
        pause.get("sent", 0),
        frozenset(pause.get("deeds", ())),
        pause.get("answered_by", ""),
        pause.get("limit", ""),
        pause.get("note", ""),
    )


def paused_name(paused_side: PausedSide, number: int | None) -> str:
    """``request 4``; ``a request`` until the exchange is in the list."""
    return f"{paused_side.side} {number}" if number else f"a {paused_side.side}"


def clock(seconds: float) -> str:
    """``42 s``, ``9:58``, ``1:02:03``."""
    whole = max(0, int(seconds))
    if whole < 100:
        return f"{whole} s"
    minutes = f"{whole // 60 % 60}:{whole % 60:02}"
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}" if whole >= 3600 else minutes


def patience(paused_side: PausedSide, now: float) -> Span:
    """Remaining time of the client."""
    if paused_side.times_out_at is None:
        return Span("client timeout unknown", "muted")
    seconds = paused_side.times_out_at - now
    if seconds < 0:
        return Span(f"✗ client timeout expired {clock(-seconds)} ago", "error")
    return Span(
        f"{'! ' if seconds < SHORT else ''}client timeout in {clock(seconds)}",
        "error" if seconds < SHORT else "warning",
    )


def time_left(paused_side: PausedSide, now: float) -> Span:
    """Remaining time of the client, for a column of the list."""
    if paused_side.times_out_at is None:
        return Span("?", "muted")
    seconds = paused_side.times_out_at - now
    if seconds < 0:
        return Span("✗ over", "error")
    return Span(f"! {clock(seconds)}", "error") if seconds < SHORT else Span(clock(seconds), "warning")


def first_to_decide(paused_sides: Collection[PausedSide]) -> PausedSide:
    """The pause whose client times out first, else the oldest one."""
    return min(paused_sides, key=lambda each: (each.times_out_at is None, each.times_out_at or 0.0, each.since))


def banner(paused_sides: Collection[PausedSide], number: int | None, key: str, now: float) -> Line:
    """Most urgent paused exchange, for the header of a session, and how many there are.

    Args:
        number: number of its exchange.
        key: key that opens the breakpoints screen.
    """
    first = first_to_decide(paused_sides)
    more = f" (1 of {len(paused_sides)})" if len(paused_sides) > 1 else ""
    return line(
        Span(f" {SIGN} {paused_name(first, number)} paused {clock(now - first.since)}{more}", "warning strong"),
        Span(f" · {clip(first.why, 40)} · ", "muted"),
        patience(first, now),
        Span(" · ", "muted"),
        Span(key, "accent strong"),
        Span(": decide", "muted"),
    )


def announcement(paused_side: PausedSide, key: str) -> str:
    """Notice of a new pause."""
    words = clip(paused_side.reasons[0].words, _WHY) if paused_side.reasons else ""
    return " · ".join(f for f in (words, f"{key}: decide") if f)


def row(paused_side: PausedSide, number: int | None, now: float) -> Line:
    """One line of the list."""
    return line(
        Span(f"{SIGN} ", "warning"),
        Span(f"{paused_name(paused_side, number)} ", "strong", 14),
        Span(f"{clip(paused_side.why, _RULE - 1)} ", "warning", _RULE),
        Span(f"{clock(now - paused_side.since)} ", "", -_TIME),
        time_left(paused_side, now)._replace(width=-_TIME),
    )


def row_heading() -> Line:
    """Heading of the list: name, duration of the pause, remaining time of the client."""
    return line(Span("paused now", "role", 16 + _RULE), Span("for ", "muted", -_TIME), Span("left", "muted", -_TIME))


def facts(
    paused_side: PausedSide,
    number: int | None,
    now: float,
    width: int,
    body: bytes | None = None,
    armed: Collection[str] | None = None,
) -> list[Line]:
    """Details of a pause: side, URL, client, reasons, duration, and bytes.

    Args:
        armed: names of the breakpoints that are still armed; None if unknown.
        body: the paused bytes; None while they are unknown. Of a message of a tool server they say what is called.
    """
    lines = [line(Span(f"{SIGN} {paused_name(paused_side, number)} is paused", "warning strong"))]
    lines.append(
        line(
            Span("to       " if paused_side.side == REQUEST else "from     ", "muted"), Span(clip(paused_side.url, 200))
        )
    )
    lines += _message_facts(body) if paused_side.is_tool_hop and body else ()
    if paused_side.client:
        lines.append(line(Span("client   ", "muted"), Span(clip(paused_side.client, 100))))
    for why in paused_side.reasons:
        lines.append(line(Span("why      ", "muted"), Span(clip(why.words, 400), "strong")))
        since = "" if armed is None or why.kind in armed else " (now disarmed)"
        facts = (f"breakpoint {why.kind}{since}", why.rule, why.pointer)
        lines.append(line(Span("         ", "muted"), Span(clip(" · ".join(f for f in facts if f), 200), "muted")))
    lines.append(
        line(Span("paused   ", "muted"), Span(f"{clock(now - paused_side.since)}   "), patience(paused_side, now))
    )
    if paused_side.timeout is not None:
        known = f" ({paused_side.timeout_from})" if paused_side.timeout_from else ""
        lines.append(
            line(Span("         ", "muted"), Span(f"its timeout is {clock(paused_side.timeout)}{known}", "muted"))
        )
    progress = f", {paused_side.sent:,} of them already forwarded" if paused_side.sent else ", none forwarded yet"
    lines.append(line(Span("bytes    ", "muted"), Span(f"{count(paused_side.size, 'byte')}{progress}")))
    for lead, words in (("note     ", paused_side.note), ("limit    ", paused_side.limit)):
        if words:
            lines.append(line(Span(lead, "muted"), Span(words)))
    return [piece for each in lines for piece in _wrap_facts(each, width)]


def _message_facts(body: bytes) -> Iterator[Line]:
    """Tool and arguments of a ``tools/call``, or what its response says."""
    from workbench.wire import loads

    try:
        message = loads(body)
    except WireError:
        return
    params, result, error = (
        message.get(n) if isinstance(message, dict) else None for n in ("params", "result", "error")
    )
    if isinstance(params, dict):
        yield line(Span("tool     ", "muted"), Span(clip(str(params.get("name")), 200), "strong"))
        yield line(Span("with     ", "muted"), Span(clip(_text(params.get("arguments")), 400)))
    elif isinstance(result, dict) and result.get("isError") is True:
        yield line(Span("failed   ", "muted"), Span(clip(_content_text(result), 400), "error"))
    elif result is not None or error is not None:
        name, value = ("error    ", error) if result is None else ("result   ", result)
        yield line(Span(name, "muted"), Span(clip(_content_text(value), 400)))


def _content_text(value: JsonValue) -> str:
    """The texts of a result, else all of it as JSON."""
    content = value.get("content") if isinstance(value, dict) else None
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return " ".join(texts) if texts else _text(value)


def _text(value: JsonValue) -> str:
    from workbench.wire import dumps

    return dumps(value).decode("utf-8", "replace")


def _wrap_facts(of: Line, width: int) -> list[Line]:
    room = sum(len(span.text) for span in of)
    if room <= width or len(of) != 2:
        return [of]
    lead, words = of
    wrapped = wrap(words.text, width, words.style, indent=len(lead.text), most=6)
    first = (lead, *wrapped[0][1:]) if wrapped else of
    return [first, *wrapped[1:]]


DEEDS: Mapping[str, str] = {
    "continue": "forwarded unchanged",
    "edit": "forwarded with the edits",
    "answer": "answered instead of the server",
    "drop": "dropped",
}
"""Decision → its outcome in words."""


def refusal_text(paused_side: PausedSide, deed: str) -> str:
    """Reason why a decision is not possible."""
    can = ", ".join(name for name in DEEDS if name in paused_side.deeds) or "nothing"
    why = f": {paused_side.limit}" if paused_side.limit else ""
    return f"this {paused_side.side} cannot be {DEEDS[deed]}{why}; possible: {can}"


def point_line(name: str, says: str, *, is_armed: bool) -> Line:
    """A kind of breakpoint."""
    box = Span("[x] ", "ok strong") if is_armed else Span("[ ] ", "muted")
    return line(box, Span(f"{name} ", "strong" if is_armed else "", 11 if len(name) < 11 else 0), Span(says, "muted"))


def armed_words(armed: Sequence[str]) -> str:
    """``armed: closure, id``; "" for nothing."""
    return f"armed: {', '.join(armed)}" if armed else ""
