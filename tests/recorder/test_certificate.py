"""A listener with TLS: its certificate, who trusts it, and what passes through it."""

from __future__ import annotations

import asyncio
import builtins
import shutil
import ssl
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from workbench.errors import UsageError
from workbench.recorder.certificate import ListenerCertificate, listener_certificate, listener_context
from workbench.recorder.relay.server import Relay


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:  # short: in a long path no socket can be named
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder) / "workbench"


def without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def find(name: str, *more: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "cryptography":
            raise ImportError(name)
        return found(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", find)


async def exchange(made: ListenerCertificate, trust: ssl.SSLContext) -> tuple[list[str | bytes], bytes]:
    """What comes back through a recorder with TLS: messages of a WebSocket, and a response of HTTP."""

    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message)

    async with serve(echo, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        tls = listener_context(made.chain)
        relay = Relay({"main": f"http://127.0.0.1:{port}"}, lambda event: None, listener_tls=tls)
        await relay.start()
        try:
            return await _talk(relay, trust)
        finally:
            await relay.close()


async def _talk(relay: Relay, trust: ssl.SSLContext) -> tuple[list[str | bytes], bytes]:
    url = relay.url("main")
    assert url.startswith("https://127.0.0.1:")
    async with connect(url.replace("https", "wss"), ssl=trust) as socket:
        await socket.send("x" * 100_000)
        await socket.send(b"{}")
        messages = [await socket.recv(), await socket.recv()]
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port, ssl=trust)
    writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % relay.port)
    answer = await reader.read()
    writer.close()
    return messages, answer


@pytest.mark.parametrize("maker", ["package", "program"])
async def test_a_client_that_is_told_trusts_it(maker: str, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if maker == "program":
        if not shutil.which("openssl"):
            pytest.skip("the program openssl is not here")
        without_package(monkeypatch)
    with listener_certificate({}) as made:
        assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
        assert {path.parent for path in made} == {runtime}
        assert b"PRIVATE KEY" not in made.authority.read_bytes() + made.bundle.read_bytes()
        monkeypatch.setenv("SSL_CERT_FILE", str(made.bundle))
        messages, answer = await exchange(made, ssl.create_default_context())
        assert messages == ["x" * 100_000, b"{}"] and answer.startswith(b"HTTP/1.1 426")
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(ssl.SSLCertVerificationError):
            await exchange(made, ssl.create_default_context())
    assert list(runtime.iterdir()) == []


def test_the_authorities_of_the_client_stay_trusted(tmp_path: Path) -> None:
    own = tmp_path / "own.pem"
    own.write_text("-----BEGIN CERTIFICATE-----\nof the company\n-----END CERTIFICATE-----\n")
    with listener_certificate({"SSL_CERT_FILE": str(own)}) as made:
        assert "of the company" in made.bundle.read_text() and "of the company" not in made.authority.read_text()


def test_without_package_and_program_one_line_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    without_package(monkeypatch)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="needs the package cryptography or the program openssl"):
        listener_certificate({}).__enter__()
