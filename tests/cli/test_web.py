"""The app in a browser: who gets it, what the page loads, what arrives."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench import children

FILE = SESSIONS / "anthropic-parallel-result-lost.jsonl"
HOSTILE_NAME = 'it\'s $(touch pwned) "quoted" ; & 日本.jsonl'


class Served:
    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        parts = urlsplit(address)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.token = parts.query.partition("=")[2]


@contextmanager
def serving(home: Path, *words: str) -> Iterator[Served]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "TEXTUAL", "WORKBENCH"))}
    process = subprocess.Popen(
        children.running_module("workbench", *words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=children.environment(environment | {"HOME": str(home)}),
        cwd=home,
    )
    assert process.stdout
    try:
        address = process.stdout.readline().strip()
        assert address, process.communicate()[1]
        yield Served(process, address)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    (home / HOSTILE_NAME).write_bytes(FILE.read_bytes())
    with serving(home, "open", HOSTILE_NAME, "--web") as page:
        yield page


async def frames(served: Served, steps: dict[str, tuple[str, ...]]) -> str:
    """What a page is sent until the app is left. ``steps``: words → what is typed once they are shown, in order."""
    import aiohttp

    seen = b""
    left = list(steps.items())
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        await client.get(served.address)
        socket = f"{served.origin}/ws?width=120&height=40"
        async with client.ws_connect(socket, headers={"Origin": served.origin}) as page, asyncio.timeout(60):
            async for message in page:
                seen += message.data if isinstance(message.data, bytes) else message.data.encode()
                while left and left[0][0].encode() in seen:
                    for key in left.pop(0)[1]:
                        await page.send_json(["stdin", key])
    return seen.decode()


async def test_the_app_arrives_and_takes_keys(served: Served) -> None:
    steps = {"closure.missing-result": ("\x1a",), "cannot be suspended": ("\x03", "?", "q", "\x11")}
    seen = await frames(served, steps)
    assert "run_tests" in seen
    assert "cannot be suspended" in seen


def test_only_who_has_the_token_is_let_in(served: Served) -> None:
    paths = ("/", "/ws", "/static/js/textual.js", "/static/css/xterm.css", "/download/x", "/nothing")
    for path in paths:
        for query in ("", "?token=", "?token=x", f"?token={served.token[:-1]}"):
            assert httpx.get(served.origin + path + query).status_code == 403, path + query
    with httpx.Client() as client:
        page = client.get(served.address)
        assert page.status_code == 200
        cookie = page.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert client.get(f"{served.origin}/static/js/textual.js").status_code == 200
        assert client.get(served.origin).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_other_names_and_origins_are_refused_even_with_the_token(served: Served, headers: dict[str, str]) -> None:
    assert httpx.get(served.address, headers=headers).status_code == 403


def test_a_socket_without_its_pages_origin_is_refused(served: Served) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    for origin in ({}, {"Origin": "http://evil.example"}):
        answer = httpx.get(
            f"{served.origin}/ws?token={served.token}",
            headers={**upgrade, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **origin},
        )
        assert answer.status_code == 403


def test_the_page_loads_nothing_from_elsewhere(served: Served) -> None:
    page = httpx.get(served.address)
    loaded = re.findall(r"(?:src|href)=\"([^\"]*)\"", page.text)
    assert loaded
    assert all(url.startswith(served.origin) for url in loaded), loaded
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"


def test_the_page_takes_the_token_out_of_its_address(served: Served) -> None:
    page = httpx.get(served.address).text
    assert page.count("<script>") >= 2 and 'history.replaceState(null, "", "/")' in page
    assert page.index("history.replaceState") > page.index('id="terminal"'), "the terminal is there by then"
    assert served.token not in page


async def arrives(page: Any, wanted: bytes) -> bytes:
    """What a page is sent until it holds a text."""
    seen = b""
    async with asyncio.timeout(60):
        while wanted not in seen:
            message = await page.receive()
            assert isinstance(message.data, bytes | str), message
            seen += message.data if isinstance(message.data, bytes) else message.data.encode()
    return seen


async def test_a_page_that_lost_its_connection_finds_its_app_as_it_was(served: Served) -> None:
    import aiohttp

    def connect(client: aiohttp.ClientSession) -> Any:
        return client.ws_connect(f"{served.origin}/ws/one?width=120&height=40", headers={"Origin": served.origin})

    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        await client.get(served.address)
        async with connect(client) as page:
            await arrives(page, b"closure.missing-result")
            await page.send_json(["stdin", "?"])
            await arrives(page, b"keys: ")
        async with connect(client) as page:
            seen = await arrives(page, b"keys: ")
            assert seen.startswith(b"\x1b[?1049h"), "the terminal of the new page is set up again"
            await page.send_json(["stdin", "\x11"])
            async with asyncio.timeout(60):
                while not page.closed:
                    await page.receive()
            assert page.close_code == 4000, "the person has left: the page does not connect again"


async def test_ctrl_c_ends_the_server_and_the_apps(tmp_path: Path) -> None:
    import aiohttp

    with serving(tmp_path, "--web") as home:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
            await client.get(home.address)
            async with client.ws_connect(f"{home.origin}/ws", headers={"Origin": home.origin}) as page:
                async with asyncio.timeout(60):
                    await page.receive()
                children = Path(f"/proc/{home.process.pid}/task/{home.process.pid}/children").read_text().split()
                assert children
                home.process.send_signal(signal.SIGINT)
                assert await asyncio.to_thread(home.process.wait, 60) == 130
        assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []


async def test_an_app_ends_with_a_server_that_was_killed(tmp_path: Path) -> None:
    import aiohttp

    with serving(tmp_path, "--web") as home:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
            await client.get(home.address)
            async with client.ws_connect(f"{home.origin}/ws", headers={"Origin": home.origin}) as page:
                async with asyncio.timeout(60):
                    await page.receive()
                (pid,) = Path(f"/proc/{home.process.pid}/task/{home.process.pid}/children").read_text().split()
                home.process.kill()
                home.process.wait()
        async with asyncio.timeout(60):
            while Path(f"/proc/{pid}/stat").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
                await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("open", "-", "--web"), "--web cannot read standard input"),
        (("open", "missing.jsonl", "--web"), "missing.jsonl"),
        (("open", str(FILE), "--web", "--exchange", "99"), "99"),
        (("open", str(FILE), "--web", "--port", "70000"), "not a port"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.status in (2, 4)
    assert said in done.err
