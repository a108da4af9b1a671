"""Handles: proofs that a client receives in place of a signature that does not exist.

Some clients send reasoning back only with the proof that came with it. If the upstream made none, the proof is a handle
that this program recognises. It is marked, so that it is not mistaken for a signature, and is sent to no upstream.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64

from workbench import regex
from workbench.ir import Carrier, Reasoning

MARK = "workbench:"
_HANDLE = regex.compile(re.escape(MARK) + r"([0-9a-z]+)")
_PACKED = b64encode(MARK.encode()[:9]).decode()  # nine bytes are twelve letters, whatever follows


def handle(name: str, carrier: Carrier) -> str:
    """The handle of a response, for one of a client's carriers: Gemini's signatures are bytes."""
    text = MARK + name
    return b64encode(text.encode()).decode() if carrier is Carrier.THOUGHT_SIGNATURE else text


def name_in(proof: object) -> str | None:
    """Name of the response in a handle; empty if it is marked as one and unreadable, None if it is no handle."""
    if not isinstance(proof, str):
        return None
    if proof.startswith(_PACKED):
        try:
            proof = b64decode(proof.replace("-", "+").replace("_", "/"), validate=True).decode()
        except (NotBase64, ValueError):
            return None
    if not proof.startswith(MARK):
        return None
    found = _HANDLE.fullmatch(proof)
    return found[1] if found else ""


def name_of(part: Reasoning) -> str | None:
    """The same for a piece of reasoning, in whichever field it has the handle."""
    found = (name_in(part.signature), name_in(part.data))
    return next((name for name in found if name is not None), None)
