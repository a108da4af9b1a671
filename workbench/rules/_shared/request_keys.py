"""The member of a request that a pointer leads into, and the envelope that a request may be in."""

from __future__ import annotations

ENVELOPE = "/request"
"""Where the request is in an envelope (Code Assist)."""


def top_key(pointer: str) -> str:
    """The member of a request that a pointer leads into: ``messages`` of ``/messages/0``; "" of the body itself."""
    inside = pointer.removeprefix(ENVELOPE) if pointer.startswith(f"{ENVELOPE}/") else pointer
    return inside[1:].partition("/")[0]
