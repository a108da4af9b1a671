"""A new protocol is one package: everything that speaks of protocols knows it, without an edit elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import run
from tests.tui.driving import showing
from workbench import protocols
from workbench.convert import convert
from workbench.formats import exporters, exporting
from workbench.formats.importers import open_input
from workbench.formats.importers._transcript import protocol_of
from workbench.ir import ToolCallIR
from workbench.protocols import with_turns
from workbench.protocols.decode import DecodedExchange
from workbench.rules.inspection import Inspector
from workbench.simulator import Simulator, serve
from workbench.wire.exchange import (
    Body,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    State,
)
from workbench.wire.session import exchanges_of, text
from workbench.wire.session.store import open_session

__all__ = ["run"]

URL = "https://telegraph.example/telegraph/wire"
TOOL = {"do": "weather", "about": "The weather of a town.", "takes": {"type": "object", "properties": {"town": {}}}}
ASK = {"who": "caller", "words": "How is the weather in Oslo?"}
ERRAND = {"ticket": "ticket-1", "do": "weather", "with": {"town": "Oslo"}}
HISTORY = [ASK, {"who": "operator", "errands": [ERRAND]}, {"who": "errand", "ticket": "ticket-1", "words": "rain"}]
REQUEST = {"operator": "morse-1", "brief": "Be short.", "log": HISTORY, "can": [TOOL], "limit": 100}
REPLY = {"words": "Let me look.", "errands": [ERRAND]}
TOLL = {"heard": 9, "sent": 4}
TELEGRAM = {
    "telegram": "tg-1",
    "operator": "morse-1",
    "reply": REPLY,
    "ended": "errands",
    "toll": {"heard": 9, "sent": 4},
}
STREAM = b"".join(
    b"event: %s\ndata: %s\n\n" % (name.encode(), json.dumps(data).encode())
    for name, data in (
        ("open", {"telegram": "tg-1", "operator": "morse-1"}),
        ("words", {"add": "Let me "}),
        ("words", {"add": "look."}),
        ("errand", {"ticket": "ticket-1", "do": "weather"}),
        ("orders", {"add": '{"town": '}),
        ("orders", {"add": '"Oslo"}'}),
        ("close", {"ended": "errands", "toll": TOLL}),
    )
)

CLIENT = """
import os, urllib.request
base = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
urllib.request.urlopen(urllib.request.Request(base + "/telegraph/wire", {body!r})).read()
"""


def exchange(request: object = REQUEST, response: bytes = b"", kind: str = "application/json") -> Exchange:
    answer = HttpResponse(200, Headers((("content-type", kind),)), Body(response)) if response else None
    return Exchange("1", HttpRequest("POST", URL, Headers(), Body(json.dumps(request).encode())), answer)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A call without a result, and the stream that made the call."""
    path = tmp_path / "telegraph.jsonl"
    lost = {**REQUEST, "log": [*HISTORY[:2], {"who": "caller", "words": "Well?"}], "live": True}
    held = (exchange({**REQUEST, "log": [ASK], "live": True}, STREAM, "text/event-stream"), exchange(lost))
    text.write(held, path)
    return path


def test_both_sides_are_decoded_with_their_places() -> None:
    for body, kind in ((json.dumps(TELEGRAM).encode(), "application/json"), (STREAM, "text/event-stream")):
        decoded = DecodedExchange(0, exchange(response=body, kind=kind))
        assert (decoded.protocol, decoded.protocol_from, decoded.problems) == ("telegraph", "from the URL", [])
        assert decoded.request and decoded.response and not decoded.response.anomalies
        assert [m.role for m in decoded.request.messages] == ["user", "assistant", "tool"]
        (message,) = decoded.response.messages
        said, call = message.parts
        assert isinstance(call, ToolCallIR) and call.input == {"town": "Oslo"} and decoded.response.stop == "tool_calls"
        assert [body[slice(*span)] for span in decoded.place_of("response", message, said, "text").spans]
        adapter = protocols.get("telegraph")
        assert adapter.encode_response(decoded.response, body) == body
        assert adapter.encode_request(decoded.request, decoded.request_text) == decoded.request_text
    without_url = DecodedExchange(0, Exchange("1", HttpRequest(body=Body(json.dumps(REQUEST).encode()))))
    assert (without_url.protocol, without_url.protocol_from) == ("telegraph", "from the request body")


def test_turns_of_a_websocket_are_exchanges() -> None:
    events = [part.partition(b"\ndata: ") for part in STREAM.removeprefix(b"event: ").rstrip().split(b"\n\nevent: ")]
    said = [json.dumps({"event": name.decode(), **json.loads(data)}).encode() for name, _, data in events]
    asked = json.dumps({**REQUEST, "log": [ASK], "live": True}).encode()
    frames = [Frame("sent", "text", asked), *(Frame("received", "text", data) for data in said)]
    closes = Frame("received", "close", b"\x03\xe8")
    opened = HttpRequest("GET", URL.replace("https", "wss"))
    channel = Exchange("w", opened, HttpResponse(101), kind=ExchangeKind.WEBSOCKET, frames=(*frames * 2, closes))
    _, *turns = with_turns([channel])
    assert [turn.state for turn in turns] == [State.COMPLETE] * 2
    decoded = DecodedExchange(1, turns[0])
    assert decoded.protocol == "telegraph" and decoded.request and decoded.response and not decoded.problems
    assert [call.name for message in decoded.response.messages for _, call in message.tool_calls()] == ["weather"]


@pytest.mark.parametrize("other", ["anthropic-messages", "gemini", "openai-chat", "ollama"])
def test_it_is_converted_to_others_and_back(other: str) -> None:
    there = convert(json.dumps(REQUEST).encode(), other, protocol="telegraph")
    back = convert(there.body, "telegraph", protocol=other)
    log = json.loads(back.body)["log"]
    assert [entry["who"] for entry in log] == ["caller", "operator", "errand"]
    assert log[1]["errands"][0]["with"] == {"town": "Oslo"}
    assert log[1]["errands"][0]["ticket"] == log[2]["ticket"]


def test_a_simulator_speaks_it() -> None:
    simulator = Simulator("generic")
    reply = simulator.send("POST", "/telegraph/wire", (), json.dumps({**REQUEST, "log": [ASK]}).encode())
    said = json.loads(reply.body())
    assert reply.status == 200 and said["telegram"].startswith("tg-")
    assert said["reply"]["errands"][0]["ticket"].startswith("ticket-")
    streamed = simulator.send("POST", "/telegraph/wire", (), json.dumps({**REQUEST, "live": True}).encode())
    body = streamed.body()
    assert body.startswith(b"event: open\n") and b"event: close\n" in body
    refused = simulator.send("POST", "/telegraph/wire", (), json.dumps({"log": [ASK]}).encode())
    assert (refused.status, json.loads(refused.body())) == (
        400,
        {"fault": {"kind": "garbled", "message": "no operator is named"}},
    )
    assert json.loads(simulator.send("GET", "/telegraph/operators").body()) == {"operators": ["morse-1"]}


def test_a_session_is_checked(run, session: Path) -> None:
    done = run("check", session)
    assert "telegraph" in done.out and "closure.missing-result" in done.out, done
    assert "/log/2" in done.out or "/log/1" in done.out


def test_a_request_is_sent_in_it_and_out_of_it(run, session: Path) -> None:
    with serve(Simulator("generic")) as server:
        done = run(
            "send", session, "--exchange", 1, "--target", server.url, "--as", "telegraph", "--yes", "--format", "json"
        )
    (sent,) = json.loads(done.out)["sent"]
    assert (sent["protocol"], sent["status"], sent["converted"]) == ("telegraph", 200, False)
    other = run("send", session, "--exchange", 1, "--target", "sim:anthropic", "--format", "json")
    assert json.loads(other.out)["sent"][0]["status"] == 200


def test_it_is_recorded(run, tmp_path: Path) -> None:
    client = tmp_path / "client.py"
    client.write_text(CLIENT.format(body=json.dumps({**REQUEST, "log": [ASK]}).encode()))
    out = tmp_path / "recorded.wb"
    with serve(Simulator("generic")) as server:
        words = ("record", "--upstream", server.url, "--out", str(out), "--", sys.executable, str(client))
        done = subprocess.run([sys.executable, "-m", "workbench", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    recorded = open_session(out)
    decoded = [DecodedExchange(n, held) for n, held in enumerate(exchanges_of(recorded))]
    recorded.close()
    assert [d.protocol for d in decoded] == ["telegraph"] and decoded[0].response and decoded[0].response.messages


@pytest.mark.parametrize(("form", "words"), [("python-sdk", "telegraph.Office("), ("curl", "/telegraph/wire")])
def test_it_is_exported(run, session: Path, form: str, words: str) -> None:
    done = run("export", session, "--exchange", 1, "--as", form)
    assert done.status == 0 and words in done.out, done.err


def test_an_exported_test_passes_where_the_package_is_installed(
    session: Path, tmp_path: Path, give_contracts: Callable[[Path], None]
) -> None:
    """The trial of the exporter sees installed packages alone, so the test is run here."""
    form = exporters.load("pytest")
    made = form.write(exporters.ExportSelection(Inspector(open_input(str(session))), (0,)))
    exporting.write_export(made, form, tmp_path / "kept")
    give_contracts(tmp_path / "home")
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "workbench.pytest_plugin", "kept")
    environment = os.environ | {"HOME": str(tmp_path / "home"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout


def test_importers_know_its_provider() -> None:
    assert protocol_of("telegraph") == "telegraph"


async def test_the_app_shows_what_was_decoded(session: Path) -> None:
    async with showing(open_input(str(session)), exchange=0) as driver:
        shown = driver.text
        assert "weather" in shown and "Oslo" in shown
