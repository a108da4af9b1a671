"""Where objects are: a folder, a file, or a bucket (``s3://``, ``gs://``, ``az://``; needs the extra ``scale``).

Credentials of a bucket never enter a plan or a task: each process takes those of its own environment.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import UsageError
from workbench.formats.importers import files_in

SCHEMES = ("s3://", "gs://", "az://", "file://")
NEEDED = "buckets are read with obstore, which is not installed"
HINT = "pip install 'agent-workbench[scale]'"
_CHUNK = 1000


class StoredObject(NamedTuple):
    """An object of a place. ``etag`` tells its version: it changes when the content does."""

    uri: str
    size: int
    etag: str


class ObjectChanged(Exception):
    """The object is not the version that was listed."""


def is_bucket(path: str) -> bool:
    """True for the address of a bucket."""
    return path.startswith(SCHEMES)


def list_objects(path: str) -> Iterator[StoredObject]:
    """All objects of a place, in the order of their names. Raises UsageError, OSError."""
    if is_bucket(path):
        yield from _list_bucket(path)
        return
    place = Path(path)
    if not place.exists():
        raise UsageError(f"{path}: no such file or folder", hint="check the name")
    for file in files_in(place) if place.is_dir() else (place,):
        with suppress(OSError):
            state = file.stat()
            yield StoredObject(str(file), state.st_size, f"{state.st_size}-{state.st_mtime_ns}")


def _list_bucket(path: str) -> Iterator[StoredObject]:
    store, prefix = _store(path)
    base = path[: len(path) - len(prefix)] if prefix else path
    base = base if base.endswith("/") else f"{base}/"
    found: list[StoredObject] = []
    try:
        for page in store.list(prefix=prefix or None, chunk_size=_CHUNK):
            found += (StoredObject(base + m["path"], m["size"], _etag(m)) for m in page)
    except Exception as error:
        raise OSError(f"{path}: the objects cannot be listed ({type(error).__name__})") from error
    yield from sorted(found)


def _etag(about: Any) -> str:
    return str(about.get("e_tag") or about.get("version") or about.get("last_modified") or "").strip('"')


def _store(path: str) -> tuple[Any, str]:
    """(store of a bucket, prefix or key in it). Raises UsageError."""
    try:
        import obstore.store
    except ImportError as error:
        raise UsageError(NEEDED, hint=HINT) from error
    scheme, _, rest = path.partition("://")
    bucket, _, prefix = rest.partition("/")
    if scheme == "file":
        return obstore.store.LocalStore("/"), rest.lstrip("/")
    root = f"{scheme}://{bucket}"
    options: dict[str, Any] = {"retry_config": {"max_retries": 5}}
    if scheme == "s3" and (endpoint := os.environ.get("AWS_ENDPOINT_URL")):
        options |= {"endpoint": endpoint, "client_options": {"allow_http": endpoint.startswith("http://")}}
        options |= {"virtual_hosted_style_request": False}
    return obstore.store.from_url(root, **options), prefix


class TooLarge(Exception):
    """The object is larger than the limit of the survey."""


@contextmanager
def on_disk(found: StoredObject, most: int) -> Iterator[Path]:
    """The object as a file with its own name; of a bucket, a copy that is removed afterwards.

    Raises:
        TooLarge: it has more than ``most`` bytes.
        ObjectChanged: it is not the version that was listed.
        OSError: it cannot be read.
    """
    if found.size > most:
        raise TooLarge
    if not is_bucket(found.uri):
        path = Path(found.uri)
        state = path.stat()
        if found.etag and found.etag != f"{state.st_size}-{state.st_mtime_ns}":
            raise ObjectChanged
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="workbench-survey-") as folder:
        path = Path(folder) / (found.uri.rpartition("/")[2] or "object")
        path.write_bytes(_fetch(found))
        yield path


def _fetch(found: StoredObject) -> bytes:
    store, key = _store(found.uri)
    try:
        answer = store.get(key)
        if found.etag and _etag(answer.meta) != found.etag:
            raise ObjectChanged
        return bytes(answer.bytes())
    except ObjectChanged:
        raise
    except Exception as error:
        raise OSError(f"the object cannot be fetched ({type(error).__name__})") from error
