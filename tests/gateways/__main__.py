"""A dirty gateway as a program: ``python -m tests.gateways NAME PORT UPSTREAM``; "clean" is the clean one."""

from __future__ import annotations

import asyncio
import sys
from urllib.parse import urlsplit

from tests.gateways.dirty import made


async def main(name: str, port: str, upstream: str) -> None:
    gateway = made("" if name == "clean" else name, urlsplit(upstream).port or 0)
    server = await asyncio.start_server(gateway.serve, "127.0.0.1", int(port), limit=2**22)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
