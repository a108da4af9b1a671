"""The relay's own responses: plain text, marked so that they are not mistaken for the upstream's."""

from __future__ import annotations

from http import HTTPStatus

MARK = b"X-Workbench-Relay"
"""Header of every answer that is the relay's own; its value is ``refused`` or ``failed``."""


def reply(status: int, text: str, *, to: bytes = b"", closes: bool) -> bytes:
    """A whole response to a request of method ``to``. ``closes``: the connection ends after it."""
    body = f"workbench: {text}\n".encode()
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(),
        b"Content-Type: text/plain; charset=utf-8",
        b"X-Content-Type-Options: nosniff",
        b"Content-Length: %d" % len(body),
        b"%s: %s" % (MARK, b"failed" if status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.LOOP_DETECTED) else b"refused"),
    ]
    if status == HTTPStatus.UPGRADE_REQUIRED:
        lines.append(b"Upgrade: HTTP/1.1")
    if closes:
        lines.append(b"Connection: close")
    return b"\r\n".join((*lines, b"", b"" if to == b"HEAD" else body))
