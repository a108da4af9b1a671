"""Serves the app to a browser on this machine.

Anyone who reaches the port could use the app with its user's rights, including other users of the machine and pages in
the browser. So it listens on loopback only, answers to one host name, and requires a token with each request: once as a
query of the printed URL, which the page takes out of the address bar, then as a cookie that no script and no other site
gets. Nothing is loaded from other hosts: the web font that textual-serve's page links to is removed.

A page whose connection is lost (a laptop that slept) connects again, and finds its app as it was for ``KEEP_SECONDS``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from workbench import children, regex
from workbench.cli._app.screen_options import BROWSER
from workbench.cli._app.web_page import BEGIN, QUIT, with_script
from workbench.cli._output import emit

HOST = "127.0.0.1"
PATIENCE = 5.0
"""Seconds an app has to end once its page is gone."""

KEEP_SECONDS = 600.0
"""Seconds that an app waits for its page to connect again; a laptop that was closed for a walk."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_FOREIGN = regex.compile(r"<link[^>]*https?://(?!127\.0\.0\.1)[^>]*>")


class PageProcess(AppService):
    """Process of one page: runs the app, started without a shell."""

    words: Sequence[str] = ()
    is_over = False
    """The person has left the app."""

    def attach(self, page: web.WebSocketResponse) -> None:
        """Send what the app paints to a page."""

        async def close() -> None:
            self.is_over = True
            await page.close(code=QUIT)

        self.remote_write_bytes, self.remote_write_str, self.remote_close = page.send_bytes, page.send_str, close

    def detach(self) -> None:
        """Drop what the app paints, until another page is attached."""

        async def drop(data: object) -> None:
            pass

        self.remote_write_bytes = self.remote_write_str = drop

    async def paint_again(self, page: web.WebSocketResponse, width: int, height: int) -> None:
        """Let the app paint everything: a change of its size does that."""
        await page.send_bytes(BEGIN)
        await self.set_terminal_size(width, max(1, height - 1))
        await self.set_terminal_size(width, height)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        environment = children.environment(self._build_environment(width=width, height=height))
        environment["TEXTUAL_DRIVER"] = BROWSER
        command = children.running_module("workbench", *self.words)
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment)
        self._process, self._stdin = process, process.stdin
        return process

    async def stop(self) -> None:
        """End the process: ask first, kill it after ``PATIENCE`` seconds."""
        try:
            async with asyncio.timeout(PATIENCE):
                await super().stop()
                if self._process:
                    await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                if self._process:
                    self._process.kill()


class Pages(Server):
    """Server of the app; each page gets a process of its own.

    Args:
        words: command line of the app.
        port: port to serve at.
    """

    def __init__(self, words: Sequence[str], port: int) -> None:
        super().__init__("workbench", host=HOST, port=port, title="Workbench", public_url=f"http://{HOST}:{port}")
        self.words = words
        self.token = secrets.token_urlsafe(32)
        self._open: set[web.WebSocketResponse] = set()
        self._is_ending = False
        self._waiting: dict[str, tuple[PageProcess, asyncio.Event]] = {}

    @property
    def address(self) -> str:
        """URL to open, with the token."""
        return f"{self.public_url}/?token={self.token}"

    async def application(self) -> web.Application:
        """The guarded application."""
        app = await self._make_app()
        app.middlewares.append(self._guard)
        app.router.add_get("/ws/{page}", self.handle_websocket)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: ``_serve`` prints the address."""

    async def on_shutdown(self, app: web.Application) -> None:
        self._is_ending = True
        for page in list(self._open):
            await page.close(code=QUIT)
        for child, return_event in self._waiting.values():
            return_event.set()
            await child.stop()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests from other hosts, other origins, and without the token."""
        cookie = f"workbench-{self.port}"
        token = request.query.get("token") or request.cookies.get(cookie, "")
        is_page = "upgrade" not in request.headers.get("connection", "").lower()
        origin = request.headers.get("origin")
        if request.host != f"{HOST}:{self.port}":
            raise web.HTTPForbidden(text="the Host header names another host\n")
        if origin != self.public_url and not (is_page and origin is None):
            raise web.HTTPForbidden(text="the page was loaded from another origin\n")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="the token is missing: open the address that Workbench printed\n")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(self._headers())
            response.set_cookie(cookie, self.token, httponly=True, samesite="Strict", path="/")
        return response

    def _headers(self) -> dict[str, str]:
        own = "'self' 'unsafe-inline'"
        policy = (
            f"default-src 'none'; script-src {own}; style-src {own}; img-src 'self' data:; font-src 'self'; "
            f"connect-src 'self' ws://{HOST}:{self.port}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return {
            "Content-Security-Policy": policy,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page without links to other hosts, and with a script of its own."""
        response = await super().handle_index(request)
        assert isinstance(response, web.Response)
        response.text = with_script(_FOREIGN.sub("", response.text or ""))
        return response

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run the app for one page until it is left; if only the connection is lost, keep it for the page."""
        page = web.WebSocketResponse(heartbeat=15)
        await page.prepare(request)
        name = request.match_info.get("page", "")
        width, height = to_int(request.query.get("width", ""), 80), to_int(request.query.get("height", ""), 24)
        self._open.add(page)
        child = self._take_kept(name)
        try:
            if child is None:
                child = self._new_child(page)
                await child.start(width, height)
            else:
                child.attach(page)
                await child.paint_again(page, width, height)
            await self._process_messages(page, child)
        finally:
            self._open.discard(page)
            await self._end(name, child)
        return page

    def _new_child(self, page: web.WebSocketResponse) -> PageProcess:
        child = PageProcess(
            "workbench",
            write_bytes=page.send_bytes,
            write_str=page.send_str,
            close=page.close,  # type: ignore[arg-type]
            download_manager=self.download_manager,
        )
        child.words = self.words
        child.attach(page)
        return child

    def _take_kept(self, name: str) -> PageProcess | None:
        """The app that waits for a page; None if there is none."""
        if name not in self._waiting:
            return None
        child, return_event = self._waiting.pop(name)
        return_event.set()
        return child

    async def _end(self, name: str, child: PageProcess | None) -> None:
        """End an app whose page is gone: at once if the person has left it, else unless its page connects again."""
        if child is None:
            return
        is_kept = not child.is_over and not self._is_ending and name != "" and name not in self._waiting
        if not is_kept or not await self._is_taken_again(name, child):
            await child.stop()

    async def _is_taken_again(self, name: str, child: PageProcess) -> bool:
        """Keep an app for its page. Returns False if the page does not come back in time."""
        child.detach()
        return_event = asyncio.Event()
        self._waiting[name] = child, return_event
        with suppress(TimeoutError):
            async with asyncio.timeout(KEEP_SECONDS):
                await return_event.wait()
        if not return_event.is_set():
            self._waiting.pop(name, None)
        return return_event.is_set()


def serve_app(args: argparse.Namespace, *words: str) -> int:
    """Serve the app to a browser.

    Args:
        args: with the options of the screen.
        words: the command line that shows the app.
    """
    theme = [f"--theme={args.theme}"] if args.theme else []
    return serve([*words, *theme, *(["--ascii"] if args.ascii else [])], args.port or 0)


def serve(words: Sequence[str], port: int) -> int:
    """Print the address and serve until a signal ends it: then 128 and its number.

    Raises:
        OSError: the port is in use.
    """
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        return asyncio.run(_serve(Pages(words, listening.getsockname()[1]), listening))
    finally:
        listening.close()


async def _serve(pages: Pages, listening: socket.socket) -> int:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not ended.done():
            ended.set_result(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    runner = web.AppRunner(await pages.application(), access_log=None, shutdown_timeout=PATIENCE)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        emit(pages.address)
        sys.stdout.flush()
        sys.stderr.write(f"workbench: serving on {HOST} to anyone with this address; ctrl-c stops it{os.linesep}")
        return await ended
    finally:
        await runner.cleanup()
