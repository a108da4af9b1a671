"""``workbench compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.config import resources
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session.store import save

LOST = str(resources.folder("sessions") / "deepseek-reasoning-lost.jsonl")
LOOP = str(resources.folder("sessions") / "anthropic-tool-loop.jsonl")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["compare", *words])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    out = tmp_path / "mended.jsonl"
    main(["check", LOST, "--fix", "-o", str(out)])
    capsys.readouterr()
    return str(out)


def test_the_first_divergence_is_shown_in_bytes_and_in_meaning(mended: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, LOST, mended)
    assert status == 1
    assert "exchange 1 - 1: identical" in out
    assert "first difference at byte 543 /messages/1" in out
    assert "/messages/1/reasoning_content null ->" in out
    assert "status: 400 -> (none)" in out


def test_json_has_every_pair(mended: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, LOST, mended, "--format", "json")
    told = json.loads(out)
    assert status == 1
    assert told["first"] == {"before": 1, "after": 1}
    assert [pair["same"] for pair in told["pairs"]] == ["bytes", "no"]
    request = told["pairs"][1]["request"]
    assert request["first"] == request["ranges"][0][0][0] == 543
    assert request["changes"][0]["details"][0]["pointer"] == "/messages/1/reasoning_content"


def test_a_file_is_the_same_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, LOOP, LOOP)
    assert (status, out.splitlines()[-1]) == (0, "2 of 2 identical")


def test_two_exchanges_of_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, f"{LOOP}#1", f"{LOOP}#2")
    assert status == 1
    assert "+ added assistant /messages/1" in out
    assert 'finish reason: "tool_use" -> "end_turn"' in out


def test_a_file_whose_name_ends_like_a_number_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "body.json#2"
    odd.write_bytes(b'{"model":"m","messages":[{"role":"user","content":"hi"}]}')
    assert run(capsys, str(odd), str(odd))[0] == 0


def test_spelling_is_no_difference_in_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_bytes(b'{"model":"m","messages":[{"role":"user","content":"hi"}]}')
    other.write_bytes(b'{"model": "m", "messages": [{"role": "user", "content": "\\u0068i"}]}')
    status, out, _ = run(capsys, str(one), str(other))
    assert status == 1
    assert "same meaning, different bytes" in out
    for words in ((str(one), str(other), "--meaning"), (str(one), "--meaning", str(other))):
        assert run(capsys, *words)[0] == 0
    status, _, err = run(capsys, str(one), "--meaning", str(other), str(one))
    assert status == 2
    assert "unrecognized arguments" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.json", LOOP), "nothing.json"),
        ((f"{LOOP}#9", LOOP), "no exchange 9"),
        ((LOOP, LOOP, "--exchange", "3"), "no exchange 3"),
        ((LOOP, LOOP, "--protocol", "smoke"), "no protocol named 'smoke'"),
    ],
    ids=["no file", "no such exchange", "not in both", "no protocol"],
)
def test_what_cannot_be_compared_is_one_line(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert said in err and len(err.splitlines()) == 1


def test_hostile_text_is_shown_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_bytes(b'{"model":"m","messages":[{"role":"user","content":"hi"}]}')
    other.write_bytes(b'{"model":"m","messages":[{"role":"user","content":"\\u001b[31mred"}]}')
    _, out, _ = run(capsys, str(one), str(other))
    assert "\x1b" not in out


def body(words: str, **more: object) -> dict[str, object]:
    return {"model": "m", "temperature": 1.0, **more, "messages": [{"role": "user", "content": words}]}


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """One turn at three places, each in a file of its own, and all of them in one."""
    sides = {"client": body(" hi \u00e9"), "gateway": body("hi \u00e9"), "far": body("hi \u00e9", temperature=0)}
    seen = [
        Exchange(
            hop,
            HttpRequest(url="https://a.example/v1/chat/completions", body=Body(json.dumps(value).encode())),
            HttpResponse(200, body=Body(b"{}")),
            started_at=100.0 + n / 10,
            duration=1.0 - n / 4,
            hop=hop,
        )
        for n, (hop, value) in enumerate(sides.items())
    ]
    files = {one.hop: tmp_path / f"{one.hop}.jsonl" for one in seen} | {"all": tmp_path / "all.jsonl"}
    for name, path in files.items():
        save([one for one in seen if name in (one.hop, "all")], path)
    return {name: str(path) for name, path in files.items()}


def test_two_files_of_two_places_say_what_happened(places: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, places["client"], places["gateway"])
    assert status == 1
    assert "hop client" in out and "exchange 1 - 1: different" in out
    assert 'content": ">> hi' in out and 'content": ">>hi' in out
    assert "request text trimmed /messages/0/content: whitespace at the beginning" in out


def test_one_file_is_compared_place_by_place(places: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, places["all"])
    assert status == 1
    assert out.count("exchange 1 - 2") == out.count("exchange 2 - 3") == 1
    status, out, _ = run(capsys, places["all"], "--hops", "client", "far", "--format", "json")
    (pair,) = json.loads(out)["pairs"]
    assert (status, pair["hops"], pair["outer"], pair["before"], pair["after"]) == (
        1,
        ["client", "far"],
        "before",
        0,
        2,
    )
    assert [damage["kind"] for damage in pair["damage"]] == ["value changed", "text trimmed"]
    trimmed = pair["damage"][1]
    assert trimmed["was"] == trimmed["at"] == "/messages/0/content"
    assert trimmed["same_meaning"] is False and trimmed["first"]["was"] > 0


def test_one_turn_of_one_file(places: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, places["all"], "--exchange", "1")
    assert "exchange 1 - 2" in out and "exchange 2 - 3" not in out


@pytest.mark.parametrize(
    ("words", "said"),
    [(("client",), "one hop"), (("all", "--hops", "client", "x"), "no hop named 'x'")],
    ids=["one hop", "no such place"],
)
def test_places_that_are_not_there(
    words: tuple[str, ...], said: str, places: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, *(places.get(word, word) if n == 0 else word for n, word in enumerate(words)))
    assert (status, out) == (2, "")
    assert said in err and len(err.splitlines()) == 1


def test_another_spelling_behind_a_gateway_means_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_text(json.dumps(body("hi")))
    other.write_text(json.dumps(body("hi")).replace("1.0", "1"))
    status, out, _ = run(capsys, str(one), str(other), "--meaning")
    assert status == 0
    assert "request number spelling /temperature: 1.0 became 1 (same meaning)" in out
