"""The command, run by a shell with the real curl against a loopback server."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import LocalProtocolError
from workbench.formats.exporters.curl import curl_command
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Redaction

MESSAGES = "https://api.anthropic.com/v1/messages"
HEADERS = (
    ("Host", "api.anthropic.com"), ("User-Agent", "test/1"), ("accept", "application/json"),
    ("content-type", "application/json"), ("x-api-key", "sk-ant-secret-0123456789abcdef"), ("content-length", "9"),
    ("Connection", "keep-alive, x-hop"), ("x-hop", "1"), ("accept-encoding", "gzip, zstd"),
)  # fmt: skip


def request(
    url: str = MESSAGES,
    headers: tuple[tuple[str, str], ...] = HEADERS,
    body: Body | bytes = b'{"a": 1}',
    method: str = "POST",
    redactions: tuple[Redaction, ...] = (),
) -> Exchange:
    whole = body if isinstance(body, Body) else Body(body)
    return Exchange("1", HttpRequest(method, url, Headers(headers), whole, redactions=redactions))


def test_half_a_character_in_a_url_is_percent_encoded() -> None:
    assert "'https://h/%ED%A0%80'" in curl_command(request("https://h/\ud800")).text


def test_the_command() -> None:
    assert curl_command(request()).text == (
        "curl --globoff --compressed -X POST --url https://api.anthropic.com/v1/messages \\\n"
        "  -H 'User-Agent: test/1' \\\n"
        "  -H 'accept: application/json' \\\n"
        "  -H 'content-type: application/json' \\\n"
        "  -H 'x-api-key: '\"${ANTHROPIC_API_KEY:?set it first}\" \\\n"
        "  --data-raw '{\"a\": 1}'"
    )


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        (MESSAGES, "${ANTHROPIC_API_KEY:?set it first}"),
        ("https://api.anthropic.com:443/v1/messages", "${ANTHROPIC_API_KEY:?set it first}"),
        ("http://api.anthropic.com/v1/messages", "${API_KEY:?set it first}"),
        ("https://api.anthropic.com.evil.example/v1/messages", "${API_KEY:?set it first}"),
        ("https://api.anthropic.com@evil.example/v1/messages", "${API_KEY:?set it first}"),
        ("https://api.anthropic.com:8443/v1/messages", "${API_KEY:?set it first}"),
        ("https://api.anthropic.com:x/v1/messages", "${API_KEY:?set it first}"),
        ("http://127.0.0.1:8000/v1/messages", "${API_KEY:?set it first}"),
    ],
)
def test_a_providers_key_goes_to_the_provider_alone(url: str, variable: str) -> None:
    assert f'"{variable}"' in curl_command(request(url)).text


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            (("authorization", "Bearer sk-abcdefghijklmnop"),),
            "'authorization: Bearer '\"${ANTHROPIC_API_KEY:?set it first}\"",
        ),
        ((("cookie", "a=b; c=d"),), "'cookie: '\"${COOKIE:?set it first}\""),
        ((("x-auth-token", "REDACTED"),), "'x-auth-token: '\"${ANTHROPIC_API_KEY:?set it first}\""),
        ((("x-empty", ""),), "'x-empty;'"),
        ((("x", "a"), ("X", "b")), "-H 'x: a' \\\n  -H 'X: b'"),
        ((), "-H Accept: \\\n  -H User-Agent: \\\n  -H Content-Type:"),
    ],
)
def test_headers(headers: tuple[tuple[str, str], ...], expected: str) -> None:
    assert expected in curl_command(request(headers=headers)).text


def test_what_stands_in_for_a_secret_is_never_pasted() -> None:
    url = "https://generativelanguage.googleapis.com/v1/models?key=AIzaStandIn0000000000&alt=sse"
    at = url.index("AIza")
    marks = (Redaction("url", at, at + 21, "api-key"), Redaction("header:x-odd", 0, 4, "api-key"))
    marks += (Redaction("body", 6, 10, "api-key"), Redaction("body", 8, 9, "x"), Redaction("body", 900, 999, "x"))
    made = curl_command(request(url, (("x-odd", "abcd"),), b'{"a":"wxyz"}', redactions=marks))
    assert "StandIn" not in made.text and "abcd" not in made.text and "wxyz" not in made.text
    assert "key='\"${GEMINI_API_KEY:?set it first}\"'&alt=sse'" in made.text
    assert '--data-raw \'{"a":"\'"${SECRET:?set it first}"\'"}\'' in made.text
    assert any("SECRET" in note for note in made.notes)


def test_secrets_that_nobody_marked_are_found() -> None:
    body = b'{"a": "sk-0123456789abcdefghijkl", "b": "sk-zzzzzzzzzzzzzzzzzzzzzz", "c": "sk-0123456789abcdefghijkl"}'
    text = curl_command(request("https://u:pw@host/x?api_key=abcdefghijkl", body=body)).text
    assert "sk-" not in text and "abcdefghijkl" not in text and "pw" not in text
    assert text.count("${SECRET_2:?set it first}") == 1
    assert text.count('"${SECRET:?set it first}"') == 2


@pytest.mark.parametrize(
    "exchange",
    [
        Exchange("1"),
        request("file:///etc/passwd"),
        request("gopher://x/_"),
        request("-o/etc/passwd"),
        request("ws://host/x"),
        request("https:///x"),
        request(method="P\x1bST"),
        request(method="-o x"),
    ],
)
def test_what_curl_cannot_send_is_refused(exchange: Exchange) -> None:
    with pytest.raises(LocalProtocolError):
        curl_command(exchange)


def test_a_request_without_a_host() -> None:
    assert "--url https://api.anthropic.com/v1/x" in curl_command(request("/v1/x")).text
    assert '--url "${BASE_URL:?set it first}"/v1/x' in curl_command(request("/v1/x", (("host", "a b"),))).text


def test_headers_that_http_does_not_allow_are_named_and_left_out() -> None:
    made = curl_command(request(headers=(("a b", "1"), ("@/etc/passwd", "2"), ("x", "1\r\nEvil: 2"), (":path", "/"))))
    assert "Evil" not in made.text and "passwd" not in made.text
    assert len([n for n in made.notes if "left out" in n]) == 3


def test_a_body_in_a_coding_is_sent_decoded() -> None:
    headers = (*HEADERS, ("content-encoding", "gzip"))
    made = curl_command(request(headers=headers, body=Body(gzip.compress(b'{"a": 1}'), "gzip")))
    assert "--data-raw '{\"a\": 1}'" in made.text
    assert "content-encoding" not in made.text
    torn = curl_command(request(headers=headers, body=Body(gzip.compress(b'{"a": 1}')[:-9], "gzip")))
    assert "content-encoding: gzip" in torn.text


def test_a_stream_is_shown_as_it_comes() -> None:
    answer = HttpResponse(200, Headers((("content-type", "text/event-stream; charset=utf-8"),)))
    exchange = request()
    assert "--no-buffer" in curl_command(Exchange("1", exchange.request, answer)).text
    lines = HttpResponse(200, Headers((("content-type", "application/x-ndjson"),)), Body(b'{"done":true}'))
    assert "--no-buffer" in curl_command(Exchange("1", exchange.request, lines)).text


NAMES = st.from_regex(r"\A[a-z@:!-]{1,8}\Z") | st.text(max_size=8)


@settings(max_examples=60)
@given(st.text(max_size=40), st.lists(st.tuples(NAMES, st.text(max_size=30)), max_size=4), st.binary(max_size=60))
def test_every_command_is_one_that_a_shell_reads_as_data(
    path: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    """With every program but curl and printf out of reach, the shell calls curl once and nothing else."""
    made = curl_command(request(f"https://host/{path}", tuple(headers), body))
    given = "API_KEY=k COOKIE=c SECRET=s SECRET_2=s SECRET_3=s BASE_URL=u"
    script = f"PATH=/nowhere\n{given}\ncurl() {{ echo ONE; }}\n{made.text}\n"
    done = subprocess.run(["sh"], input=script.encode(), capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"ONE\n", b"")


# With the real thing.


class Taken:
    """What a server was sent."""

    def __init__(self) -> None:
        self.line = ""
        self.headers: list[tuple[str, str]] = []
        self.body = b""


@pytest.fixture
def server() -> Iterator[tuple[str, Taken]]:
    taken = Taken()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            taken.line = self.requestline
            taken.headers = list(self.headers.items())
            taken.body = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}", taken
        listening.shutdown()
        thread.join()


needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


def send(text: str, folder: Path) -> str:
    env = {"PATH": os.environ["PATH"], "API_KEY": "the key", "COOKIE": "c=1", "no_proxy": "*"}
    done = subprocess.run(
        ["sh"], input=text.encode(), capture_output=True, env=env, cwd=folder, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert not list(folder.iterdir())
    return done.stdout.decode()


@needs_curl
@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"messages": [{"role": "user", "content": "it's $(touch x) `touch y` \\n \\' \" é 日本"}]}).encode(),
        '{"raw": "é 日本 \u202e\u200b"}\n'.encode(),
        b"\0\xff\x1b[2J'; touch z; '\n\n",
        b"@/etc/passwd",
        b"",
        b"{" + b'"x": "' + b"word 'n' " * 20_000 + b'"}',
        b"\x01" + b"y" * 1_200_000,
    ],
    ids=["json", "hidden", "binary", "at", "empty", "large", "huge"],
)
def test_the_server_gets_the_same_body(body: bytes, server: tuple[str, Taken], tmp_path: Path) -> None:
    url, taken = server
    made = curl_command(request(f"{url}/v1/messages?beta=true&x=%20[1]", body=body))
    assert send(made.text, tmp_path) == "ok"
    assert taken.body == body
    assert taken.line == "POST /v1/messages?beta=true&x=%20[1] HTTP/1.1"


@needs_curl
def test_the_server_gets_the_same_headers(server: tuple[str, Taken], tmp_path: Path) -> None:
    url, taken = server
    sent = (
        ("X-Case", "kept"), ("x-twice", "1"), ("x-twice", "2"), ("x-empty", ""), ("x-odd", "caf\xe9 \x1b'\"$(id)"),
        ("Authorization", "Bearer abcdefghijklmnopqrst"), ("Cookie", "a=b"),
    )  # fmt: skip
    assert send(curl_command(request(f"{url}/../x", sent)).text, tmp_path) == "ok"
    got = [(name, value) for name, value in taken.headers if name not in ("Host", "Content-Length")]
    assert got == [*sent[:5], ("Authorization", "Bearer the key"), ("Cookie", "c=1")]
    assert taken.line == "POST /../x HTTP/1.1"


@pytest.mark.parametrize(
    "body", [b'{"a": 1}', b'\0{"api_key": "sk-0123456789abcdefghijkl"}'], ids=["argument", "piped"]
)
@pytest.mark.parametrize("missing", ["API_KEY", "SECRET"])
def test_nothing_is_sent_while_a_key_is_not_set(body: bytes, missing: str) -> None:
    made = curl_command(request("http://127.0.0.1:1/v1/messages", body=body))
    keys = {name: "k" for name in ("API_KEY", "SECRET") if name != missing}
    script = f"curl() {{ cat >/dev/null; echo SENT; }}\n{made.text} </dev/null\n"
    done = subprocess.run(
        ["sh"], input=script.encode(), capture_output=True, env={"PATH": os.environ["PATH"]} | keys, check=False
    )
    assert (missing.encode() in done.stderr) == (b"SENT" not in done.stdout) == (missing in made.text)


def test_no_server_is_needed_to_make_one() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert curl_command(request(f"http://127.0.0.1:{unused.getsockname()[1]}/x")).text
