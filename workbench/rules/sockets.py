"""WebSockets as a whole: how they were closed, and what their messages show together.

A connection is no exchange with a model, so no contract judges it: its own messages do. What one turn shows is judged
as over HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from workbench import regex
from workbench.config import resources, safeyaml
from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.errors import WireError
from workbench.globs import matches_glob
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange, SocketTurns, is_socket_url
from workbench.protocols.common import read_error
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.wording import quote, weaker
from workbench.rules.recording import find_refused, is_refused_handshake, with_refusal
from workbench.wire import Exchange, ExchangeKind, Frame, close_of, loads, split_url

if TYPE_CHECKING:
    from workbench.protocols.common.socket_facts import HeldConversation
    from workbench.rules.inspection import InspectedExchange

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def _rule(name: str, severity: Severity, summary: str) -> Rule:
    return Rule(f"socket.{name}", severity, summary, breaks=Breaks.CONVERSATION, basis=Basis.RECORDING)


CLOSED = _rule("closed", ERROR, "A WebSocket was closed with an error code.")
BETA_SHAPE = _rule("beta-shape", ERROR, "A handshake requests the beta of the Realtime API, which was removed.")
TWO_RESPONSES = _rule("two-responses", ERROR, "A response was requested while another response was in progress.")
CANCELLED = _rule("cancelled-call", ERROR, "A result was sent for a call that was cancelled or is incomplete.")
UNANSWERED = _rule("unanswered-call", ERROR, "The model waits for a result that was not sent or has a wrong id.")
UNUSED = _rule("unused-result", WARNING, "A result or an input was sent, but no response was requested after it.")

NO_RESPONSE = _rule("no-response", WARNING, "The server did not respond to a request.")
TOOLS_DROPPED = _rule("tools-dropped", ERROR, "The session lacks tools that the client declared.")
UNKNOWN_MESSAGE = _rule("unknown-message", ERROR, "The client sent a message that is not part of the API.")
REFUSED_HANDSHAKE = _rule("refused-handshake", ERROR, "A server refused to open a WebSocket to a model.")
REFUSED = _rule("refused-message", ERROR, "The server refused a message that does not request a response.")

RULES = (
    *(CLOSED, BETA_SHAPE, TWO_RESPONSES, CANCELLED, UNANSWERED, UNUSED),
    *(NO_RESPONSE, TOOLS_DROPPED, UNKNOWN_MESSAGE, REFUSED, REFUSED_HANDSHAKE),
)
_WHEN_OVER = frozenset((UNANSWERED.slug, UNUSED.slug))
"""Rules on what is missing: as long as the connection is open, it may still come."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Nothing: a turn is judged by the other families."""
    return iter(())


def with_transport_findings(
    row: InspectedExchange,
    decoded: DecodedExchange,
    before: DecodedExchange | None = None,
    earlier: Iterable[Exchange] = (),
) -> InspectedExchange:
    """The row; if the recorder refused it, with that alone; of a WebSocket with what its frames show.

    Args:
        before: the same connection when it had fewer frames: those are not read again.
        earlier: the connections before it, the newest first.
    """
    row = with_refusal(row, decoded)
    if is_refused_handshake(decoded) and not find_refused(decoded):
        found = tuple(_handshake(decoded))
        others = (f for f in row.findings if not found or f.rule != _ANSWER_ERROR)
        return replace(row, findings=(*others, *found))
    if decoded.exchange.kind is not ExchangeKind.WEBSOCKET or not decoded.exchange.frames:
        return row
    turns = _turns(decoded, before)
    found = (
        *_closings(decoded, turns),
        *_facts(decoded, turns),
        *_not_resumed(decoded, turns, before, earlier),
        *_not_carried(decoded, turns, before, earlier),
    )
    return replace(row, findings=(*row.findings, *found))


_NAMES_FAILURE = regex.compile(
    r"(?i)cancell?ed|abort|timed? ?-?out|expired|exceeded|limit reached|maximum|error|fail|invalid|unauthori|denied"
    r"|overload|quota|unavailable|not found|refused"
)
"""Words of a reason with which a server ends a connection for a fault, whatever the code."""

_ANSWER_ERROR = "answer.error"
"""What is said of the refusal of a handshake as of any response."""

_FALLS_BACK = 426
"""Status for which clients use HTTP from then on (Codex: one handshake)."""


def _handshake(decoded: DecodedExchange) -> Iterator[Finding]:
    """A handshake with a model's address that was answered with another status than 101."""
    request, response = decoded.exchange.request, decoded.exchange.response
    if request is None or response is None or not is_socket_url(request.url):
        return
    meaning = _table()["handshakes"].get(response.status) or _table()["handshakes"].get(response.status // 100)
    text = f"the server answered the handshake with {response.status}" + (f": {meaning}" if meaning else "")
    severity = Severity.INFO if response.status == _FALLS_BACK else REFUSED_HANDSHAKE.severity
    found = _finding(decoded, weaker(REFUSED_HANDSHAKE, severity), RESPONSE, text, ())
    body_text = decoded.response_text.decode("utf-8", "replace").strip()
    yield replace(found, evidence=quote(body_text, 200) if body_text else found.evidence)


class _ReadFrames(NamedTuple):
    """The turns of a connection, and its frames that they were read from."""

    turns: SocketTurns
    frames: Sequence[Frame]


def _turns(decoded: DecodedExchange, before: DecodedExchange | None) -> SocketTurns:
    """The turns of a connection; of one that grew, only the new frames are read."""
    frames = decoded.exchange.frames
    known: _ReadFrames | None = before.facts.pop(_ReadFrames, None) if before else None
    count = len(known.frames) if known else 0
    if known is None or count > len(frames) or known.frames[-1] != frames[count - 1]:
        known, count = _ReadFrames(SocketTurns(decoded.exchange), ()), 0
    for frame in frames[count:]:
        known.turns.add(frame)
    decoded.facts[_ReadFrames] = known._replace(frames=frames)
    return known.turns


def _facts(decoded: DecodedExchange, turns: SocketTurns) -> Iterator[Finding]:
    _, close, reason = _first_close(decoded)
    is_broken = close is not None and _is_fault(close, reason, _host(decoded))
    for fact in turns.facts():
        is_explained = is_broken and fact.rule == NO_RESPONSE.slug
        if not is_explained and not (decoded.is_arriving and (fact.is_of_end or fact.rule in _WHEN_OVER)):
            side = REQUEST if fact.is_of_client else RESPONSE
            rule = weaker(get_rule(fact.rule)) if fact.is_harmless else get_rule(fact.rule)
            yield _finding(decoded, rule, side, fact.message, fact.frames)
    if not decoded.is_arriving and not is_broken:
        for number in turns.unanswered():
            yield _without_response(decoded, number, turns.unread_after(number))


_MOST_EARLIER = 4
"""Connections among which the one to continue is looked for."""


def _not_resumed(
    decoded: DecodedExchange, turns: SocketTurns, before: DecodedExchange | None, earlier: Iterable[Exchange]
) -> Iterator[Finding]:
    """A session that keeps handles to resume, and begins again without the one that an earlier connection ended with.

    A client that reads no handle looks as if it resumed (codetrial pull request 3).
    """
    opening = turns.resumption
    if opening is None or not opening.is_wanted or opening.handle:
        return
    known = before.facts.get(_newest_handle) if before else None  # earlier connections are read once
    found = decoded.facts[_newest_handle] = known or _newest_handle(opening.session, earlier)
    if found.handle:
        text = f"the setup does not resume the session: connection {found.connection} ended with the handle"
        text += f" {quote(found.handle, 40)}, and the model has none of what was said there"
        yield _finding(decoded, weaker(get_rule("state.lost")), REQUEST, text, (opening.number,))


class _NewestHandle(NamedTuple):
    """The handle with which a session may be resumed, and the id of the connection that it ended; empty for none."""

    handle: str = ""
    connection: str = ""


def _newest_handle(session: str, earlier: Iterable[Exchange]) -> _NewestHandle:
    """The last handle of a session, of the earlier connections; none if the client itself closed the last one."""
    for connection in islice(earlier, _MOST_EARLIER):
        read = SocketTurns(connection)
        for frame in connection.frames:
            read.add(frame)
        previous = read.resumption
        if previous and previous.newest and previous.session == session:
            close = next((frame for frame in connection.frames if frame.opcode == "close"), None)
            is_left = close is not None and close.direction == "sent"
            return _NewestHandle() if is_left else _NewestHandle(previous.newest, connection.id)
    return _NewestHandle()


_SOON = 30.0
"""Seconds between two connections of one conversation."""

_CONTINUES = ("conversation_id=", "call_id=")
"""Parameters of an address that continue a conversation (docs.x.ai, "Voice Agent", resumption)."""


def _not_carried(
    decoded: DecodedExchange, turns: SocketTurns, before: DecodedExchange | None, earlier: Iterable[Exchange]
) -> Iterator[Finding]:
    """A connection of an agent that begins again right after another one broke (pydantic-ai issue 6622)."""
    conversation, url = turns.held_conversation, decoded.exchange.request.url if decoded.exchange.request else ""
    if conversation is None or conversation.is_carried or any(name in url for name in _CONTINUES):
        return
    cached: _BrokenConnection | None = before.facts.get(_broken_before) if before else None
    found = decoded.facts[_broken_before] = cached or _broken_before(decoded.exchange, conversation, earlier)
    if found.connection:
        text = (
            f"the conversation of connection {found.connection}, which broke {found.seconds:.0f} s before, is neither"
        )
        text += " resumed nor sent again: the model has none of what was said there"
        yield _finding(decoded, weaker(get_rule("state.lost")), REQUEST, text, (conversation.number,))


class _BrokenConnection(NamedTuple):
    """A connection that broke shortly before another one of the same agent; the id is empty for none."""

    connection: str = ""
    seconds: float = 0.0


def _broken_before(
    exchange: Exchange, conversation: HeldConversation, earlier: Iterable[Exchange]
) -> _BrokenConnection:
    """The last connection of the same agent, if it did not end by a close of the client, and was answered."""
    for connection in islice(earlier, _MOST_EARLIER):
        turns = SocketTurns(connection)
        for frame in connection.frames:
            turns.add(frame)
        previous = turns.held_conversation
        if previous and previous.session == conversation.session:
            close = next((frame for frame in connection.frames if frame.opcode == "close"), None)
            is_left = close is not None and close.direction == "sent"
            end = (connection.started_at or 0.0) + previous.at
            seconds = (exchange.started_at or 0.0) - end
            is_of_it = previous.is_answered and not is_left and 0.0 <= seconds <= _SOON
            return _BrokenConnection(connection.id, seconds) if is_of_it else _BrokenConnection()
    return _BrokenConnection()


def _without_response(decoded: DecodedExchange, number: int, unread: Sequence[tuple[int, Frame]]) -> Finding:
    """A request without an event; what the server sent in its place, where that is no JSON."""
    text = f"message {number + 1} requests a response, but the server did not respond"
    if not unread:
        return _finding(decoded, NO_RESPONSE, RESPONSE, text, (number,))
    first = quote(unread[0][1].data.decode("utf-8", "replace").strip(), 120)
    text = f"message {number + 1} requests a response, but the server sent text instead of JSON: {first}"
    return _finding(decoded, get_rule("stream.framing"), RESPONSE, text, (number, *(n for n, _ in unread)))


def _closings(decoded: DecodedExchange, turns: SocketTurns) -> Iterator[Finding]:
    """The first close frame, if its code names a fault; the other side only repeats it."""
    number, frame, reason = _first_close(decoded)
    if frame is not None and _is_early(decoded.exchange.frames, number):
        code = close_of(frame.data)[0]
        message = f"the server closed the connection with {code} right after message {number}, before it had answered"
        yield _finding(
            decoded, weaker(CLOSED), RESPONSE, f"{message} any: a normal code that says no reason", (number,)
        )
    elif frame is not None and _is_one_shot(decoded.exchange, number, turns):
        message = (
            "the server closed the connection with a normal code right after a response: clients such as Codex keep"
        )
        message += " it for their next request, and may repeat the one that was answered"
        yield _finding(decoded, weaker(CLOSED), RESPONSE, message, (number,))
    if frame is None or not _is_fault(frame, reason, _host(decoded)):
        return
    code, _ = close_of(frame.data)
    who, side = ("client", REQUEST) if frame.direction == "sent" else ("server", RESPONSE)
    meaning, severity = _meaning(code, reason, _host(decoded))
    if side == RESPONSE and turns.resumption and turns.resumption.newest and turns.are_complete:
        meaning, severity = f"{meaning} (the session can be resumed: the server gave a handle)", WARNING
    reason_text = f", saying {quote(reason, 120)}" if reason else ""
    message = f"the {who} closed the connection with {code}{reason_text}: {meaning}"
    yield _finding(decoded, weaker(CLOSED, severity), side, message, (number,))


_MOST_GREETINGS = 4
"""Messages with which a server opens a session and confirms its settings."""

_GREETINGS = regex.compile(rb'"type":\s*"(?:transcription_)?session\.|^\s*\{\s*"setupComplete"')


def _is_early(frames: Sequence[Frame], number: int) -> bool:
    """The server, without a fault, ends a connection on which it has only greeted, at a message of the client.

    Sessions of voice last until the client leaves (community.openai.com 1163317).
    """
    code, reason = close_of(frames[number].data)
    known = _codes().get(code)
    is_plain = frames[number].direction == "received" and known is not None and known.is_normal and not reason
    messages = [frame for frame in frames[:number] if frame.opcode in ("text", "binary")]
    received = [frame for frame in messages if frame.direction == "received"] if is_plain else []
    if not received or len(received) > _MOST_GREETINGS or messages[-1].direction == "received":
        return False
    return all(_GREETINGS.search(frame.data[:4096]) for frame in received)


_AT_ONCE = 1.0
"""Seconds after a response within which a close belongs to it."""


_COMPLETED = b'"response.completed"'


def _is_one_shot(connection: Exchange, number: int, turns: SocketTurns) -> bool:
    """A server of the Responses API ends a connection with its response, for no reason (relay-ai pull request 56)."""
    frame, before = connection.frames[number], connection.frames[number - 1] if number else None
    code, reason = close_of(frame.data)
    known = _codes().get(code)
    url = connection.request.url if connection.request else ""
    is_plain = frame.direction == "received" and known is not None and known.is_normal and not reason
    if not is_plain or before is None or before.direction == "sent" or _COMPLETED not in before.data:
        return False
    is_at_once = frame.at is not None and before.at is not None and frame.at - before.at < _AT_ONCE
    return is_at_once and turns.are_complete and split_url(url).path.endswith("/responses")


def _first_close(decoded: DecodedExchange) -> tuple[int, Frame | None, str]:
    """The first close frame with its number, and why; without a reason, the error that the server sent before it."""
    last: Frame | None = None
    for number, frame in enumerate(decoded.exchange.frames):
        if frame.opcode == "close":
            reason = close_of(frame.data)[1]
            is_told = reason or frame.direction == "sent" or last is None
            return number, frame, reason if is_told or last is None else _error_words(last)
        if frame.opcode in ("text", "binary"):
            last = frame if frame.direction == "received" else None
    return 0, None, ""


def _error_words(frame: Frame) -> str:
    """What the error in a message says, which the server sent for the connection; empty if it is none."""
    try:
        value = loads(frame.data)
    except WireError:
        return ""
    is_error = isinstance(value, dict) and value.get("type") in ("error", None)
    found = read_error(value) if is_error else None
    return f"{found.code}: {found.message}" if found and found.code else found.message if found else ""


def _meaning(code: int, reason: str, host: str) -> tuple[str, Severity]:
    """What a close frame means; only a warning if a normal code has a reason that no provider is known for."""
    known, explained = _codes().get(code), _reason(code, reason, host)
    if known is None or explained or not known.is_normal:
        return explained or (known.text if known else _range(code)), CLOSED.severity
    return f"{known.text}, but the reason describes a failure", WARNING


def _host(decoded: DecodedExchange) -> str:
    url = decoded.exchange.request.url if decoded.exchange.request else ""
    return split_url(url).hostname or ""


def _is_fault(frame: Frame, reason: str, host: str) -> bool:
    """True for a frame that closes the connection with an error, or with a normal code and a reason that is none."""
    code, _ = close_of(frame.data)
    known = _codes().get(code)
    if known is None or not known.is_normal or _reason(code, reason, host):
        return True
    return frame.direction == "received" and bool(_NAMES_FAILURE.search(reason))


def _range(code: int) -> str:
    """What a code means that nobody registered."""
    return "a code defined by the provider" if 4000 <= code < 5000 else "an unregistered code"


def _finding(decoded: DecodedExchange, rule: Rule, side: str, message: str, frames: tuple[int, ...]) -> Finding:
    numbers = ", ".join(str(number + 1) for number in frames[:8])
    evidence = f"message {numbers} of the connection" if frames else "the handshake of the connection"
    return Finding(
        rule.slug, rule.severity, decoded.index, side, "", message, evidence=evidence, basis=rule.basis
    )  # fmt: skip


class _CloseCode(NamedTuple):
    text: str
    is_normal: bool


@cache
def _table() -> Mapping[str, JsonValue]:
    table = safeyaml.load(resources.close_codes(), name="close_codes.yaml")
    return table if isinstance(table, dict) else {}


@cache
def _codes() -> Mapping[int, _CloseCode]:
    return {int(code): _CloseCode(each["text"], each.get("normal") is True) for code, each in _table()["codes"].items()}


def _reason(code: int, reason: str, host: str) -> str:
    """What a provider means by a code and its reason; empty if that is not known."""
    for known in _table()["reasons"]:
        hosts = known.get("hosts")
        is_there = hosts is None or any(matches_glob(host, glob) for glob in hosts)
        if known["code"] == code and known["reason"].lower() in reason.lower() and is_there:
            return str(known["text"])
    return ""
