"""The salt for stand-ins of secrets: the same for every recorder of one session, and not in its file.

Recorders before and after a gateway see the same keys. With the same salt they write the same stand-ins, so that a
comparison shows no false difference; a recorder that appends to the session a day later does the same. The salt is
derived from the session's identity and a random number in this user's state directory: a receiver of the file has only
the identity, and cannot test guesses at a replaced password.
"""

from __future__ import annotations

import hmac
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from workbench.config import resources

SIZE = 32
"""Bytes of the random number."""


def salt_of(identity: str) -> bytes:
    """The salt of a session; a random one for this process if the state directory cannot be used."""
    return hmac.digest(_user_secret(), identity.encode(), "sha256")


def _user_secret() -> bytes:
    path = resources.state_folder("stand-ins.salt")
    with suppress(OSError):
        if not path.exists():
            _make(path)
        number = path.read_bytes()
        if len(number) == SIZE:
            return number
    return secrets.token_bytes(SIZE)


def _make(path: Path) -> None:
    """Create the file in one step, unless another process just did."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # its owner's alone
    try:
        os.write(handle, secrets.token_bytes(SIZE))
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.close(handle)
        os.unlink(name)
