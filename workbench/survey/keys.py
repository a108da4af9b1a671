"""Keyed hashes: names and contents become numbers that cannot be guessed without the key of the survey.

An unkeyed digest of a short body can be guessed by trying bodies. The key of a survey is outside its folder.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from workbench.config import resources
from workbench.errors import UsageError

_BYTES = 16
_WHOLE = 2**32
_KEY = 32


def hash_keyed(key: bytes, *parts: str | bytes, size: int = _BYTES) -> str:
    """The hash of some parts under a key, in hexadecimal."""
    digest = blake2b(key=key[:64], digest_size=size)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def is_in_share(key: bytes, purpose: str, name: str, share: float) -> bool:
    """Whether a name is in the share (0 to 1) that a keyed hash chooses: the same names in every run."""
    return int(hash_keyed(key, purpose, name, size=4), 16) < share * _WHOLE


def remember(folder: Path, out: str) -> None:
    """Keep where a survey is, so that Home lists it. A failure is ignored."""
    with suppress(OSError):
        surveys = resources.state_folder("surveys")
        surveys.mkdir(parents=True, exist_ok=True, mode=0o700)
        (surveys / f"{out}.path").write_bytes(os.fsencode(os.path.abspath(folder)))


def known_surveys() -> list[Path]:
    """Folders of surveys that were run on this machine and still exist, the newest first."""
    try:
        files = sorted(resources.state_folder("surveys").glob("*.path"), key=lambda p: -p.stat().st_mtime)
        folders = [Path(os.fsdecode(path.read_bytes())) for path in files]
    except OSError:
        return []
    return [folder for folder in folders if (folder / "_survey.json").is_file()]


def key_of(out: str, key_file: str | None) -> bytes:
    """The key of a survey: of the file that the user names, or one that was made for this survey and is kept.

    Args:
        out: id of the survey.
        key_file: path of a file with a key; None to keep one in the state folder.

    Raises:
        UsageError: the named file is too short for a key.
        OSError: it cannot be read, or the key cannot be kept.
    """
    if key_file:
        secret = Path(key_file).read_bytes()
        if len(secret) < _BYTES:
            raise UsageError(f"{key_file} has {len(secret)} bytes: a key needs at least {_BYTES}")
        return blake2b(secret, digest_size=_KEY).digest()
    folder = resources.state_folder("surveys")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{out}.key"
    with suppress(FileExistsError):
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_KEY))
    return path.read_bytes()
