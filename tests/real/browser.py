"""The app in a real browser: Chromium, driven over its own debugging protocol.

    python -m tests.real browser [--chromium PROGRAM]

Checks what a person does: open the printed address, read the first break, press keys, make the window larger, load the
page again; and the HTML report: a click on a call lights its bytes, its result and its reasoning.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

from workbench.config import resources

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 30.0
"""Seconds that something may take to come."""


class Tab:
    """A page of the browser.

    Attributes:
        painted: what came over WebSockets of the page, as text.
        sent: what the page sent over them.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self.painted = ""
        self.sent = ""

    async def read(self) -> None:
        """Take what the browser says, until the tab is closed."""
        async for message in self._socket:
            told = json.loads(message.data)
            frame = told.get("params", {}).get("response", {})
            if told.get("method") == "Network.webSocketFrameReceived":
                data = frame["payloadData"]
                self.painted += b64decode(data).decode("utf-8", "replace") if frame["opcode"] == 2 else data
            elif told.get("method") == "Network.webSocketFrameSent":
                self.sent += frame["payloadData"]
            elif told.get("id") in self._answers:
                self._answers.pop(told["id"]).set_result(told)

    async def ask(self, method: str, **params: object) -> Mapping[str, Any]:
        """Result of a command of the debugging protocol."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        told = await asyncio.wait_for(self._answers[number], PATIENCE)
        return dict(told.get("result", {}))

    async def value(self, script: str) -> Any:
        """Value of an expression on the page."""
        told = await self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        return told["result"].get("value")

    async def press(self, key: str) -> None:
        """Press a key that types a character."""
        code = {"key": key, "code": f"Key{key.upper()}", "windowsVirtualKeyCode": ord(key.upper())}
        await self.ask("Input.dispatchKeyEvent", type="keyDown", text=key, **code)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", **code)

    async def go(self, address: str) -> None:
        """Load an address, and forget what was painted."""
        self.painted = self.sent = ""
        await self.ask("Page.navigate", url=address)

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for something. Raises AssertionError if it does not come."""
        for _ in range(int(PATIENCE / 0.1)):
            if holds():
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"not seen: {what}; sent {self.sent[-200:]!r}, painted {self.painted[-200:]!r}")


@asynccontextmanager
async def browsing(program: str) -> AsyncIterator[Tab]:
    """A new tab of a new browser without a window."""
    with tempfile.TemporaryDirectory() as profile:
        words = (
            *(program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"),
            *(f"--user-data-dir={profile}", "--window-size=1200,800", "about:blank"),
        )
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            port = Path(profile) / "DevToolsActivePort"
            while not port.exists() or not port.read_text():
                await asyncio.sleep(0.1)
            host = f"http://127.0.0.1:{port.read_text().split()[0]}"
            async with aiohttp.ClientSession() as web:
                async with web.get(f"{host}/json") as answer:
                    pages = [page for page in await answer.json() if page["type"] == "page"]
                async with web.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    tab = Tab(socket)
                    async with asyncio.TaskGroup() as group:
                        reading = group.create_task(tab.read())
                        for part in ("Page", "Runtime", "Network"):
                            await tab.ask(f"{part}.enable")
                        yield tab
                        reading.cancel()
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def check_app(tab: Tab, session: Path) -> None:
    """The app on a session: first break, keys, size, and the same app after the page was loaded again."""
    words = (sys.executable, "-m", "workbench", "open", str(session), "--web")
    server = await asyncio.create_subprocess_exec(
        *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert server.stdout
    try:
        address = (await asyncio.wait_for(server.stdout.readline(), PATIENCE)).decode().strip()
        await tab.go(address)
        await tab.until(lambda: "reasoning.missing" in tab.painted, "the rule of the first break")
        assert "token" not in await tab.value("location.href"), "the token is in the address"
        assert await tab.value("document.querySelector('.xterm') !== null"), "no terminal on the page"
        tab.painted = ""
        await tab.press("f")
        await tab.until(lambda: "Repair 1" in tab.painted, "the repairs, after f")
        tab.sent = ""
        await tab.ask("Emulation.setDeviceMetricsOverride", width=1600, height=1000, deviceScaleFactor=1, mobile=False)
        await tab.until(lambda: "resize" in tab.sent, "the new size")
        tab.painted = ""
        await tab.ask("Page.reload")
        await tab.until(lambda: "Repair 1" in tab.painted, "the same screen after the page was loaded again")
        foreign = await tab.value(
            "performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.includes('127.0.0.1')).join()"
        )
        assert not foreign, f"loaded from elsewhere: {foreign}"
        async with aiohttp.ClientSession() as web, web.get(address.partition("?")[0]) as answer:
            assert answer.status == 403, "a page without the token is served"
    finally:
        server.terminate()
        await server.wait()


_LIT = """(() => { const mark = getComputedStyle(document.documentElement).getPropertyValue('--mark').trim();
  const probe = document.createElement('i'); probe.style.background = mark; document.body.append(probe);
  const wanted = getComputedStyle(probe).backgroundColor; probe.remove();
  return [...document.querySelectorAll('li, pre span')].filter(e => getComputedStyle(e).backgroundColor === wanted)
    .map(e => e.localName + ' ' + e.textContent).join('\\n'); })()"""
"""What is lit on the page, a line each."""


async def check_report(tab: Tab, session: Path, report: Path) -> None:
    """The HTML report: no script, nothing fetched; a click on a call lights what belongs to it."""
    subprocess.run(
        [sys.executable, "-m", "workbench", "export", str(session), "--as", "html", "-o", str(report)], check=True
    )
    await tab.go(report.as_uri())
    found = "[...document.querySelectorAll('.story li')].find(e => e.textContent.includes('◆')).querySelector('a')"
    for _ in range(100):
        if await tab.value(f"document.readyState === 'complete' && !!document.querySelector('.story') && !!{found}"):
            break
        await asyncio.sleep(0.1)
    assert await tab.value("document.scripts.length") == 0
    assert await tab.value("performance.getEntriesByType('resource').length") == 0
    assert not await tab.value(_LIT), "lit before a click"
    await tab.value(f"{found}.click()")
    lit = str(await tab.value(_LIT)).split("\n")
    for what, sign in (("the call", "◆"), ("its result", "◇"), ("its reasoning", "∴")):
        assert any(line.startswith("li") and sign in line for line in lit), f"not lit: {what}"
    assert any(line.startswith("span") for line in lit), "no bytes are lit"


async def _check(program: str) -> None:
    session = resources.folder("sessions") / "deepseek-reasoning-lost.jsonl"
    async with browsing(program) as tab:
        await check_app(tab, session)
        print("the app in the browser: as it has to be")
        with tempfile.TemporaryDirectory() as folder:
            await check_report(tab, session, Path(folder) / "report.html")
        print("the HTML report: as it has to be")


def main(words: Sequence[str]) -> int:
    """Run the checks. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.real browser", description=__doc__)
    parser.add_argument("--chromium", default=next(filter(shutil.which, PROGRAMS), ""), metavar="PROGRAM")
    args = parser.parse_args(words)
    if not args.chromium:
        print(f"skipped: none of {', '.join(PROGRAMS)} is installed")
        return 0
    wrong: list[str] = []
    try:
        asyncio.run(_check(args.chromium))
    except* AssertionError as found:
        wrong += [f"✗ {error}" for error in found.exceptions]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0
