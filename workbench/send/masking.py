"""Removes sent secrets from a byte stream: some servers echo them."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.wire import Redactor


class SecretMask:
    """Replaces secrets in bytes that arrive in pieces; holds back a possible beginning of one."""

    def __init__(self, redactor: Redactor, secrets: Sequence[str]) -> None:
        self._pairs = [(s.encode(), redactor.stand_in(s).encode()) for s in secrets]
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Bytes that are safe to show."""
        text = self._held + data
        for secret, stand_in in self._pairs:
            text = text.replace(secret, stand_in)
        keep = max((_partial_length(text, secret) for secret, _ in self._pairs), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def close(self) -> bytes:
        """The remaining bytes, which contain no secret."""
        rest, self._held = self._held, b""
        return rest


def _partial_length(text: bytes, secret: bytes) -> int:
    """Length of the longest end of the text with which a secret begins."""
    longest = min(len(text), len(secret) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(secret[:n])), 0)
