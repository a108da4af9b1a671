"""Runs a gateway for the time of an audit."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO

from workbench.limits import SNIPPET
from workbench.recorder.audit.client import GatewayURL
from workbench.recorder.audit.run import GatewayUnreachable

_LOOKS = 0.05  # seconds between two looks whether it listens
_LEAVES = 5.0  # seconds it has to end


@asynccontextmanager
async def run_gateway(words: Sequence[str], gateway: GatewayURL, upstream: str, seconds: float) -> AsyncIterator[None]:
    """Run a gateway: ``{upstream}`` in its words, and WORKBENCH_UPSTREAM, are our upstream's URL.

    Raises:
        Unreached: it ended, or did not listen in so many seconds.
        OSError: it cannot be started.
    """
    own = [word.replace("{upstream}", upstream) for word in words]
    with tempfile.TemporaryFile() as said:
        process = await asyncio.create_subprocess_exec(
            *own, stdin=asyncio.subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
            env=os.environ | {"WORKBENCH_UPSTREAM": upstream},
        )  # fmt: skip
        try:
            await _wait_until_listening(process, gateway, seconds, said, own[0])
            yield
        finally:
            await _end(process)


async def _wait_until_listening(
    process: asyncio.subprocess.Process, gateway: GatewayURL, seconds: float, said: IO[bytes], name: str
) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while True:
        if process.returncode is not None:
            last = _last_line(said)
            what = f"{name} ended with {process.returncode} before it listened" + (f": {last}" if last else "")
            raise GatewayUnreachable(what, hint=f"it must listen at {gateway.url}")
        with suppress(OSError):
            _, writer = await asyncio.open_connection(gateway.host, gateway.port)
            writer.close()
            return
        if loop.time() > until:
            raise GatewayUnreachable(
                f"{name} does not listen at {gateway.url} after {seconds:g} seconds", hint="give --wait more"
            )
        await asyncio.sleep(_LOOKS)


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = [line for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:SNIPPET] if lines else ""


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the gateway with all its child processes."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVES):
                await process.wait()
                return
