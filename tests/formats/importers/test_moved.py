"""Bodies that a recorder moved into files of their own are read where these lie beside the recording."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from workbench.formats.importers import open_input
from workbench.protocols.decode import DecodedExchange

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ho"}, "finish_reason": "stop"}],
}
BODY = json.dumps(ANSWER).encode()


def mapping(folder: Path, name: str, place: str = "mappings/chat.json") -> Path:
    """A stub mapping as WireMock writes it (WireMock docs, "Stubbing")."""
    file = folder / place
    file.parent.mkdir(parents=True)
    (folder / "__files").mkdir()
    request = {"method": "POST", "url": "/v1/chat/completions", "bodyPatterns": [{"equalToJson": json.dumps(ASKED)}]}
    response = {"status": 200, "headers": {"Content-Type": "application/json"}, "bodyFileName": name}
    file.write_text(json.dumps({"id": "a", "request": request, "response": response}))
    return file


@pytest.mark.parametrize("body", [BODY, gzip.compress(BODY)], ids=["text", "packed"])
@pytest.mark.parametrize("place", ["mappings/chat.json", "mappings/of/one/chat.json"])
def test_a_body_beside_its_mapping_is_read(tmp_path: Path, place: str, body: bytes) -> None:
    file = mapping(tmp_path, "body.json", place)
    (tmp_path / "__files" / "body.json").write_bytes(body)
    session = open_input(str(file))
    read = DecodedExchange(0, session.exchange(0))
    assert session.damage == ()
    assert read.response and read.response.messages[0].parts[0].text == "ho"


@pytest.mark.parametrize("name", ["body.json", "../secret.json", "/etc/hostname", "link.json", "", "a\0b"])
def test_what_does_not_lie_there_is_left_out_and_said(tmp_path: Path, name: str) -> None:
    file = mapping(tmp_path, name)
    (tmp_path / "secret.json").write_bytes(BODY)
    (tmp_path / "__files" / "link.json").symlink_to(tmp_path / "secret.json")
    session = open_input(str(file))
    assert DecodedExchange(0, session.exchange(0)).response is None
    assert name == "" or any("the response body is in another file" in line for line in session.damage)
