"""A stream of bytes without the secrets that were sent: some servers echo them."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.wire.redaction import Redactor


class Mask:
    """Replaces secrets in bytes that come piece by piece; what may be the beginning of one is held back."""

    def __init__(self, redactor: Redactor, secrets: Sequence[str]) -> None:
        self._pairs = [(s.encode(), redactor.stand_in(s).encode()) for s in secrets]
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be shown by now."""
        text = self._held + data
        for secret, stand_in in self._pairs:
            text = text.replace(secret, stand_in)
        keep = max((_begun(text, secret) for secret, _ in self._pairs), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def close(self) -> bytes:
        """The rest, which was none."""
        rest, self._held = self._held, b""
        return rest


def _begun(text: bytes, secret: bytes) -> int:
    """Length of the longest end of the text that a secret begins with."""
    longest = min(len(text), len(secret) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(secret[:n])), 0)
