"""What an entry hands over: a bare body, a stream, a text, or a HAR file where there is more than one exchange."""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.breakages import Entry
from workbench.protocols import with_turns
from workbench.wire.exchange import Body, Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse
from workbench.wire.session import store

URLS = {
    "anthropic-messages": "https://api.anthropic.com/v1/messages",
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "openai-responses": "https://api.openai.com/v1/responses",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
    "ollama": "http://localhost:11434/api/chat",
}
"""Protocol → where its requests go if the entry does not say."""

JSON_TYPE, STREAM_TYPE = "application/json", "text/event-stream"

NOT_A_FILE = {"arrivals_ms", "forwarded", "cuts"}
"""Evidence that no such file can carry: arrival times, two hops."""


class Artefact(NamedTuple):
    """What a person would have on disk.

    Attributes:
        suffix: how the file name ends.
        text: what the file holds.
        index: the exchange that holds the fault.
    """

    suffix: str
    text: str
    index: int = 0

    @property
    def raw(self) -> bytes:
        """The bytes of the file; lone surrogates are kept, since some faults are made of them."""
        return self.text.encode("utf-8", "surrogatepass")


class Trip(NamedTuple):
    """One exchange of a HAR file."""

    url: str
    request: str
    status: int
    response: str
    mime: str = JSON_TYPE


def artefact(entry: Entry) -> Artefact | None:
    """The file that shows the fault of an entry; None where no file can."""
    evidence = entry["evidence"]
    if NOT_A_FILE & evidence.keys():
        return None
    for key, make in _MAKERS.items():
        if key in evidence:
            return make(entry)
    if "headers" in evidence or "url" in evidence:
        return _har(entry, [_faulty(entry)])
    return Artefact(".json", dump(evidence["request"]))


def corrected(entry: Entry) -> Artefact | None:
    """The file with the corrected request, or with the frames without the fault; None where the entry has neither."""
    if "fixed_frames" in entry["evidence"]:
        return _connections(entry, entry["evidence"]["fixed_frames"])
    if "fixed_request" not in entry:
        return None
    body = dump(entry["fixed_request"])
    if "url" not in entry["evidence"]:
        return Artefact(".json", body)
    return Artefact(".har", _har_text([Trip(_url(entry), body, 200, "{}")], {}))


def dump(value: Any) -> str:
    """JSON text, not escaped."""
    return json.dumps(value, ensure_ascii=False)


def before_answer(request: Entry) -> Entry:
    """The request whose answer this one replays: its history ends before the last turn of the model."""
    cut = copy.deepcopy(request)
    for key, is_models in _MODEL_TURNS.items():
        items = cut.get(key)
        if isinstance(items, list):
            start = max((n for n, item in enumerate(items) if isinstance(item, dict) and is_models(item)), default=None)
            while key == "input" and start and is_models(items[start - 1]):
                start -= 1
            cut[key] = items[:start]
    return cut


_MODEL_TURNS: dict[str, Callable[[Entry], bool]] = {
    "messages": lambda m: m.get("role") == "assistant",
    "contents": lambda m: m.get("role") == "model",
    "input": lambda m: m.get("type") in ("reasoning", "function_call") or m.get("role") == "assistant",
}
"""List of a history → whether the model wrote one of its items."""


def _earlier(entry: Entry) -> Artefact:
    """Earlier exchanges of the conversation, then the one at fault."""
    evidence, trips = entry["evidence"], []
    for past in evidence["earlier"]:
        answer = (past["sse"], STREAM_TYPE) if "sse" in past else (dump(past.get("response", {})), JSON_TYPE)
        trips.append(Trip(past.get("url") or _url(entry), dump(past["request"]), past.get("status", 200), *answer))
    is_answer = entry["expected"]["in"] == "response"
    return _har(entry, [*trips, _answered(entry) if is_answer else _faulty(entry)])


def _attempts(entry: Entry) -> Artefact:
    body, error = dump(entry["evidence"]["request"]), _error(entry)
    given = (a if isinstance(a, int) else a.get("status", 200) for a in entry["evidence"]["attempts"])
    return _har(entry, [Trip(_url(entry), body, status, error) for status in given])


def _response(entry: Entry) -> Artefact:
    """The answer alone, with its request, or with the next request that replays it."""
    evidence = entry["evidence"]
    if "request" not in evidence:
        return Artefact(".json", dump(evidence["response"]))
    if entry["expected"]["in"] == "response":
        return _har(entry, [_answered(entry)])
    return _har(entry, [_answered(entry, before_answer(evidence["request"])), _faulty(entry)])


def _sse(entry: Entry) -> Artefact:
    evidence = entry["evidence"]
    if "request" not in evidence:
        return Artefact(".sse", evidence["sse"])
    return _har(entry, [Trip(_url(entry), dump(evidence["request"]), 200, evidence["sse"], STREAM_TYPE)])


def _raw(entry: Entry) -> Artefact:
    """A body that is no JSON cannot be opened by itself: then the entry says where it went."""
    body = entry["evidence"]["request_raw"]
    trip = Trip(_url(entry), body, entry.get("http_status") or 200, _error(entry))
    return _har(entry, [trip]) if "url" in entry["evidence"] else Artefact(".json", body)


SOCKETS = {
    "openai-realtime": "wss://api.openai.com/v1/realtime?model=gpt-realtime",
    "openai-responses": "wss://api.openai.com/v1/responses",
    "gemini-live": "wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta."
    "GenerativeService.BidiGenerateContent",
}
"""Protocol → where its WebSockets are."""


def _frames(entry: Entry) -> Artefact:
    """A session with the connection and its turns, or with the handshake that was refused."""
    evidence = entry["evidence"]
    if "status" not in evidence:
        return _connections(entry, evidence["frames"])
    refusal = HttpResponse(evidence["status"], body=Body(evidence["answer"].encode()))
    return _session([Exchange("1", _handshake(entry), refusal, started_at=1.79e9)])


def _connections(entry: Entry, lines: Iterable[str]) -> Artefact:
    """A session with each connection and its turns, as the recorder writes it.

    ``> connect`` begins another one, ``> connect 2`` two seconds after the last message; ``> wait 12`` lets seconds
    pass; else messages are a tenth of a second apart.
    ``"<480 bytes>"`` in a message is so much silence in base64, ``"<480 loud bytes>"`` so much sound.
    """
    waited = 0.0
    connections: list[list[Frame]] = [[]]
    starts = [1.79e9]
    for number, line in enumerate(lines):
        if line.startswith("> connect"):
            pause = line.removeprefix("> connect").strip()
            starts.append(starts[-1] + (float(pause) + (connections[-1][-1].at or 0.0) if pause else 1000))
            connections.append([])
        elif line.startswith("> wait "):
            waited += float(line.removeprefix("> wait "))
        else:
            connections[-1].append(_frame(line, number / 10 + waited))
    shaken, socket = _handshake(entry), ExchangeKind.WEBSOCKET
    return _session(
        Exchange(str(n), shaken, HttpResponse(101), kind=socket, frames=tuple(frames), started_at=start)
        for n, (frames, start) in enumerate(zip(connections, starts, strict=True), 1)
    )


def _frame(line: str, seconds: float) -> Frame:
    """``> …`` is sent, ``< …`` received; a text that begins with ``close`` is the code and the reason of a close."""
    direction, text = "sent" if line[0] == ">" else "received", _SOUND.sub(_sound, line[2:])
    if not text.startswith("close "):
        return Frame(direction, "text", text.encode(), seconds)
    code, _, reason = text.removeprefix("close ").partition(" ")
    return Frame(direction, "close", int(code).to_bytes(2) + reason.encode(), seconds)


def _sound(found: re.Match[str]) -> str:
    sample = b"\x00\x20\x00\xe0" if found[2] else b"\0\0\0\0"
    return f'"{base64.b64encode(sample * (int(found[1]) // 4)).decode()}"'


_SOUND = re.compile(r'"<([0-9]+)( loud)? bytes>"')


def _handshake(entry: Entry) -> HttpRequest:
    evidence = entry["evidence"]
    headers = Headers(tuple(evidence.get("handshake", {}).items()))
    return HttpRequest("GET", evidence.get("url") or SOCKETS[entry["protocol"]], headers)


def _session(connections: Iterable[Exchange]) -> Artefact:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        store.save(tuple(with_turns(connections)), path, form="text")
        return Artefact(".jsonl", path.read_text(encoding="utf-8"))


_MAKERS: dict[str, Callable[[Entry], Artefact]] = {
    "frames": _frames,
    "earlier": _earlier,
    "request_raw": _raw,
    "text": lambda entry: Artefact(".txt", entry["evidence"]["text"]),
    "attempts": _attempts,
    "response": _response,
    "sse": _sse,
}
"""Kind of evidence → how it is handed over; the first that an entry has."""


def _answered(entry: Entry, request: Entry | None = None) -> Trip:
    evidence = entry["evidence"]
    return Trip(_url(entry), dump(request or evidence["request"]), 200, dump(evidence["response"]))


def _faulty(entry: Entry) -> Trip:
    """The request at fault, with what people saw of its answer; behind earlier exchanges a 2xx says nothing."""
    status = entry.get("http_status") or 200
    answer = "{}" if "earlier" in entry["evidence"] and status < 400 else _error(entry)
    return Trip(_url(entry), dump(entry["evidence"]["request"]), status, answer)


def _error(entry: Entry) -> str:
    return dump({"error": {"message": entry["symptom"]}})


def _url(entry: Entry) -> str:
    return entry["evidence"].get("url") or URLS.get(entry["protocol"], "")


def _har(entry: Entry, trips: list[Trip]) -> Artefact:
    """A HAR file whose last exchange is the one at fault."""
    return Artefact(".har", _har_text(trips, entry["evidence"].get("headers", {})), len(trips) - 1)


def _har_text(trips: Iterable[Trip], headers: dict[str, Any]) -> str:
    sent = [{"name": "content-type", "value": JSON_TYPE}]
    sent += [{"name": name, "value": str(value)} for name, value in headers.items()]
    log = {
        "version": "1.2",
        "creator": {"name": "catalogue", "version": "1"},
        "entries": [_har_entry(number, trip, sent) for number, trip in enumerate(trips)],
    }
    return dump({"log": log})


def _har_entry(number: int, trip: Trip, sent: list[dict[str, str]]) -> Entry:
    common = {"httpVersion": "HTTP/1.1", "cookies": [], "headersSize": -1}
    posted = {"mimeType": JSON_TYPE, "text": trip.request}
    content = {"size": len(trip.response.encode()), "mimeType": trip.mime, "text": trip.response}
    return {
        "startedDateTime": f"2026-01-01T00:00:{number:02d}.000Z",
        "time": 100,
        "request": {
            **common,
            "method": "POST",
            "url": trip.url,
            "headers": sent,
            "queryString": [],
            "bodySize": len(trip.request.encode()),
            "postData": posted,
        },
        "response": {
            **common,
            "status": trip.status,
            "statusText": "",
            "headers": [{"name": "content-type", "value": trip.mime}],
            "content": content,
            "redirectURL": "",
            "bodySize": -1,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 100, "receive": 0},
    }
