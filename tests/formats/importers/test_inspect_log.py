from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from workbench.errors import UnreadableInput
from workbench.formats.importers import _inspect_sample, inspect_log, open_input
from workbench.wire.exchange import Exchange, Origin, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def exchanges(data: Path) -> list[Exchange]:
    return list(exchanges_of(open_input(str(data / "inspect.json"))))


def body(exchange: Exchange) -> Any:
    assert exchange.request
    return loads(exchange.request.body.raw)


def answer(exchange: Exchange) -> Any:
    assert exchange.response
    return loads(exchange.response.body.raw)


def test_every_model_event_is_an_exchange(exchanges: list[Exchange]) -> None:
    assert [(e.id, e.request.url if e.request else "") for e in exchanges] == [
        ("sample 1 call 1", "/v1/messages"),
        ("sample 1 call 2", "/v1/messages"),
        ("sample 1 call 3", "/v1/chat/completions"),
        ("sample two epoch 2 answer 1", "/v1/messages"),
        ("sample two epoch 2 answer 2", "/v1/messages"),
    ]
    assert {e.origin for e in exchanges} == {Origin.RECONSTRUCTED}


def test_messages_come_from_the_pool_and_attachments_are_put_back(exchanges: list[Exchange]) -> None:
    first = body(exchanges[0])
    assert (first["system"], len(first["messages"])) == ("You are an agent.", 1)
    assert first["tools"][0]["description"] == "Lists files."
    assert answer(exchanges[0])["content"][0] == {"type": "thinking", "thinking": "I look.", "signature": "c2ln"}


def test_a_failed_tool_is_an_error(exchanges: list[Exchange]) -> None:
    result = body(exchanges[1])["messages"][2]["content"][0]
    assert (result["is_error"], result["content"]) == (True, "too slow")
    assert (exchanges[1].response, exchanges[1].state) == (None, State.INCOMPLETE)
    assert "failed: overloaded" in exchanges[1].note


def test_the_providers_bodies_are_taken_as_they_are(exchanges: list[Exchange]) -> None:
    call = exchanges[2]
    assert body(call)["messages"] == [{"role": "user", "content": "Lists files."}]
    assert (answer(call)["id"], call.duration) == ("chatcmpl-1", 0.5)
    assert "the provider's body" in call.note


def test_a_log_without_events_has_its_messages(exchanges: list[Exchange]) -> None:
    assert len(body(exchanges[4])["messages"]) == 3
    assert answer(exchanges[3])["content"][0] == {"type": "thinking", "thinking": "greet"}
    assert exchanges[4].meta["left_out"] == ["reasoning without the signature that the target requires: left out"]
    assert "has no events" in exchanges[4].note


def test_pooled_messages_of_a_call_are_put_back() -> None:
    call = {
        "request": {"model": "m", "messages": []},
        "call_refs": [[1, 3], [0, 1], ["x"], [2, 10**9]],
        "call_key": "messages",
        "response": {},
    }
    pool = [{"role": "user", "content": str(n)} for n in range(3)]
    sample = {"id": 1, "events": [{"event": "model", "call": call}], "call_pool": pool}
    session = inspect_log.read(log(sample), "x")
    assert [m["content"] for m in body(session.exchange(0))["messages"]] == ["1", "2", "0", "2"]


@pytest.mark.parametrize("packing", ["stored", "deflate", "zstd"])
def test_an_archive_holds_the_same(data: Path, exchanges: list[Exchange], packing: str) -> None:
    whole = loads((data / "inspect.json").read_bytes())
    members = {"header.json": {k: v for k, v in whole.items() if k != "samples"}}
    members |= {f"samples/{n}_epoch_1.json": sample for n, sample in enumerate(whole["samples"])}
    archive = packed({name: dumps(value) for name, value in members.items()}, packing)
    assert inspect_log.sniff(archive[:65_536]) > 0.9
    assert list(exchanges_of(inspect_log.read(archive, "x"))) == exchanges


def test_a_crashed_run_has_no_header(data: Path) -> None:
    sample = loads((data / "inspect.json").read_bytes())["samples"][1]
    members = {"_journal/start.json": b'{"eval":{"model":"openai/gpt-5"}}', "samples/1_epoch_1.json": dumps(sample)}
    session = inspect_log.read(packed(members, "deflate"), "x")
    assert session.exchange(0).request.url == "/v1/chat/completions"  # type: ignore[union-attr]


def test_a_damaged_member_costs_only_itself(data: Path) -> None:
    sample = dumps(loads((data / "inspect.json").read_bytes())["samples"][1])
    archive = bytearray(packed({"samples/1.json": sample, "samples/2.json": sample}, "deflate"))
    at = archive.index(b"samples/2.json") + 20
    archive[at : at + 8] = b"\xff" * 8
    session = inspect_log.read(bytes(archive), "x")
    assert len(session) == 2
    assert session.damage[0].startswith("'samples/2.json': ")


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "MAX_UNPACKED", 1_000_000)
    archive = packed({"samples/1.json": b" " * 1_100_000}, "deflate")
    assert len(archive) < 3000
    with pytest.raises(UnreadableInput, match="more than 1,000,000 bytes"):
        inspect_log.read(archive, "x")


def test_a_pool_that_is_repeated_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inspect_sample, "MAX_REPEATED", 10_000)
    pool = [{"role": "user", "content": "x" * 100}] * 50
    events = [{"event": "model", "input_refs": [[n, 50], [0, 50]]} for n in range(50)]
    with pytest.raises(UnreadableInput, match=r"more than 10,000 bytes"):
        inspect_log.read(log({"id": 1, "events": events, "message_pool": pool}), "x")


def test_attachments_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inspect_sample, "MAX_ATTACHED", 250)
    call = {"request": {"messages": [{"role": "user", "content": ["attachment://a"] * 5}]}}
    sample = {"id": 1, "events": [{"event": "model", "call": call}], "attachments": {"a": "x" * 100}}
    held = body(inspect_log.read(log(sample), "x").exchange(0))["messages"][0]["content"]
    assert [len(text) for text in held] == [100, 100, 14, 14, 14]


@pytest.mark.parametrize("damage", ["cut", "encrypted", "method", "no directory", "moved"])
def test_strange_archives_are_refused(damage: str) -> None:
    archive = bytearray(packed({"samples/1.json": b"{}"}, "deflate"))
    central = archive.index(b"PK\x01\x02")
    if damage == "cut":
        del archive[-30:]
    elif damage == "encrypted":
        archive[central + 8] |= 1
    elif damage == "method":
        archive[central + 10 : central + 12] = b"\x0e\x00"
    elif damage == "moved":
        archive[central + 42 : central + 46] = (5).to_bytes(4, "little")
    else:
        del archive[central:]
    with pytest.raises(UnreadableInput) as caught:
        inspect_log.read(bytes(archive), "x")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("head", "is_log"),
    [
        (b'{\n "version": 2,\n "status": "success",\n "eval": {"task": "x"}}', True),
        (b"PK\x03\x04\x14\0\0\0_journal/start.json", True),
        (b"PK\x03\x04\x14\0\0\0photos/1.png", False),
        (b'{"version": 2, "interactions": []}', False),
    ],
)
def test_sniff(head: bytes, is_log: bool) -> None:
    assert (inspect_log.sniff(head) > 0) == is_log


def log(sample: dict[str, Any]) -> bytes:
    return dumps({"version": 2, "status": "success", "eval": {"model": "openai/gpt-5"}, "samples": [sample]})


def packed(members: dict[str, bytes], packing: str) -> bytes:
    """An archive without times."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED if packing == "deflate" else zipfile.ZIP_STORED
            archive.writestr(info, zstandard.compress(content) if packing == "zstd" else content)
    data = bytearray(made.getvalue())
    if packing == "zstd":  # the library does not write it: the method is said by hand
        at = -1
        while (at := data.find(b"PK\x03\x04", at + 1)) >= 0:
            data[at + 8 : at + 10] = b"\x5d\x00"
        while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
            data[at + 10 : at + 12] = b"\x5d\x00"
    return bytes(data)


def test_a_log_without_events_shows_what_its_messages_say() -> None:
    call = {"id": "c1", "type": "function", "function": "ls", "arguments": {}}
    error = {"type": "timeout", "message": "it took too long"}
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "function": "ls", "content": "...", "error": error},
        {"role": "narrator", "content": "?"},
        5,
    ]
    log = {
        "version": 2,
        "status": "success",
        "eval": {"model": "openai/gpt-4o"},
        "samples": [{"messages": messages}, 5],
    }
    session = inspect_log.read(dumps(log), "x")
    assert len(session) == 2
    assert session.exchange(0).response
    last = session.exchange(1)
    assert last.request and loads(last.request.body.raw)["messages"][2]["content"] == "Error: it took too long"
    assert (last.response, last.state) == (None, State.INCOMPLETE)
    assert session.damage == (
        "sample 2: not an object",
        "left out: a message of type 'narrator', which is not supported",
        "left out: a message that is not an object",
    )


def test_a_log_of_results_alone_is_read() -> None:
    messages = [{"role": "tool", "tool_call_id": "c1", "content": "", "error": {"message": "no such file"}}]
    log = {
        "version": 2,
        "status": "success",
        "eval": {"model": "anthropic/claude"},
        "samples": [{"messages": messages}],
    }
    request = inspect_log.read(dumps(log), "x").exchange(0).request
    assert request
    [block] = loads(request.body.raw)["messages"][0]["content"]
    assert (block["content"], block["is_error"]) == ("no such file", True)
