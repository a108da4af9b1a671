"""Where objects are: a folder, a file, or a bucket (``s3://``, ``gs://``, ``az://``; needs the extra ``scale``).

Objects are listed one by one, so that memory does not depend on their number. Credentials of a bucket never enter a
plan or a task: each process takes those of its own environment.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import UsageError
from workbench.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future

SCHEMES = ("s3://", "gs://", "az://", "file://")
NEEDED = "buckets are read with obstore, which is not installed"
HINT = "pip install 'agent-workbench[scale]'"
_PAGE = 1000
_SORTED_AT_ONCE = 50_000
_TRIES = 5
"""Attempts to continue a listing behind its last name, beyond those that obstore makes for each page."""


class StoredObject(NamedTuple):
    """An object of a place. ``etag`` tells its version: it changes when the content does."""

    uri: str
    size: int
    etag: str


@dataclass(slots=True)
class Listing:
    """Lists the objects of a place, and counts what it leaves out.

    Attributes:
        place: folder, file or bucket.
        since: seconds since the epoch; objects that were last written before are left out. None for all objects.
        older: objects that were left out.
        unlisted: folders that could not be listed.
    """

    place: str
    since: float | None = None
    older: int = 0
    unlisted: int = 0

    def __iter__(self) -> Iterator[StoredObject]:
        """The objects, those of a folder and of a bucket in the order of their names.

        Raises:
            UsageError: there is no such place, or obstore is not installed.
            OSError: a bucket cannot be listed to its end.
        """
        if is_bucket(self.place):
            yield from self._of_bucket()
            return
        self.require()
        place = Path(self.place)
        for path in self._files(self.place) if place.is_dir() else (self.place,):
            with suppress(OSError):
                state = os.stat(path)
                if self._is_wanted(state.st_mtime):
                    yield StoredObject(path, state.st_size, f"{state.st_size}-{state.st_mtime_ns}")

    def require(self) -> None:
        """Raise UsageError if there is no such file or folder. A bucket shows that when it is listed."""
        if not is_bucket(self.place) and not Path(self.place).exists():
            raise UsageError("no such file or folder", where=self.place, hint="check the name")

    def _is_wanted(self, modified: float) -> bool:
        is_older = self.since is not None and modified < self.since
        self.older += is_older
        return not is_older

    def _files(self, folder: str) -> Iterator[str]:
        """Regular files in a folder and below; hidden ones and links are left out, as ``check`` does."""
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                while some := list(islice(entries, _SORTED_AT_ONCE)):
                    visible = [entry for entry in some if not entry.name.startswith(".") and not entry.is_symlink()]
                    folders += (entry.path for entry in visible if entry.is_dir(follow_symlinks=False))
                    yield from sorted(entry.path for entry in visible if entry.is_file(follow_symlinks=False))
        except OSError:
            self.unlisted += 1
        for inner in sorted(folders):
            yield from self._files(inner)

    def _of_bucket(self) -> Iterator[StoredObject]:
        """The objects of a bucket; a listing that breaks off is continued behind its last name.

        S3, GCS and Azure list in the order of names, which is checked: in another order objects would be lost.
        """
        store, prefix = _store(self.place)
        base = self.place[: len(self.place) - len(prefix)] if prefix else self.place
        base = base if base.endswith("/") else f"{base}/"
        last, tries, is_ordered = "", 0, True
        if prefix and (one := _head(store, prefix)) is not None:
            yield StoredObject(self.place, one["size"], _etag(one))
            return
        while True:
            try:
                for page in store.list(prefix=prefix or None, offset=last or None, chunk_size=_PAGE):
                    for about in page:
                        name = about["path"]
                        is_ordered &= name > last
                        last, tries = name, 0
                        if self._is_wanted(about["last_modified"].timestamp()):
                            yield StoredObject(base + name, about["size"], _etag(about))
                return
            except Exception as error:
                tries += 1
                if not is_ordered or tries > _TRIES:
                    words = f"{self.place}: the objects cannot be listed ({type(error).__name__})"
                    raise OSError(words) from error
                time.sleep(min(30.0, 0.2 * 2**tries))


class ObjectChanged(Exception):
    """The object is not the version that was listed."""


def is_bucket(path: str) -> bool:
    """True for the address of a bucket."""
    return path.startswith(SCHEMES)


def list_objects(path: str) -> Iterator[StoredObject]:
    """All objects of a place. Raises UsageError, OSError."""
    yield from Listing(path)


def time_of(text: str) -> float:
    """Seconds since the epoch of a date, a time in ISO 8601, or an age (``36h``, ``7d``). Raises UsageError."""
    number, unit = text[:-1], {"m": 60, "h": 3600, "d": 86400, "w": 604_800}.get(text[-1:])
    if unit and number.isascii() and number.isdigit() and len(number) < 7:
        return time.time() - int(number) * unit
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError) as error:
        hint = "write 2026-09-21, 2026-09-21T14:00+02:00, 36h or 7d"
        raise UsageError(f"{text}: neither a date nor an age", hint=hint) from error


def _head(store: Any, name: str) -> Any:
    """What a bucket says of one object; None if there is none of this name."""
    try:
        return None if name.endswith("/") else store.head(name)
    except Exception:  # whatever it is: the listing will say it
        return None


def _etag(about: Any) -> str:
    return str(about.get("e_tag") or about.get("version") or about.get("last_modified") or "").strip('"')


def _store(path: str) -> tuple[Any, str]:
    """(store of a bucket, prefix or key in it). Raises UsageError."""
    scheme, _, rest = path.partition("://")
    bucket, _, prefix = rest.partition("/")
    if scheme == "file":
        return _store_at("file://"), rest.lstrip("/")
    return _store_at(f"{scheme}://{bucket}"), prefix


def _store_at(root: str) -> Any:
    """The store of a bucket, with its connections: one for each process."""
    return _made_store(root, tuple(sorted((n, v) for n, v in os.environ.items() if n.startswith(_SETTINGS))))


_SETTINGS = ("AWS_", "GOOGLE_", "AZURE_")


@lru_cache(maxsize=8)
def _made_store(root: str, settings: tuple[tuple[str, str], ...]) -> Any:
    try:
        import obstore.store
    except ImportError as error:
        raise UsageError(NEEDED, hint=HINT) from error
    if root == "file://":
        return obstore.store.LocalStore("/")
    known = dict(settings)
    options: dict[str, Any] = {"retry_config": {"max_retries": 5}}
    if root.startswith("s3://") and (endpoint := known.get("AWS_ENDPOINT_URL")):
        options |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
    is_plain = any(value.startswith("http://") for name, value in settings if name.endswith(("_URL", "_ENDPOINT")))
    if is_plain or known.get("AZURE_STORAGE_USE_EMULATOR"):
        options["client_options"] = {"allow_http": True}
    return obstore.store.from_url(root, **options)


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
    started = _ahead.pop(found, None)
    try:
        return _get(found) if started is None else started.result()
    except ObjectChanged:
        raise
    except Exception as error:
        raise OSError(f"the object cannot be fetched ({type(error).__name__})") from error


def _get(found: StoredObject) -> bytes:
    store, key = _store(found.uri)
    answer = store.get(key)
    if found.etag and _etag(answer.meta) != found.etag:
        raise ObjectChanged
    return bytes(answer.bytes())


async def _get_async(found: StoredObject) -> bytes:
    store, key = _store(found.uri)
    answer = await store.get_async(key)
    if found.etag and _etag(answer.meta) != found.etag:
        raise ObjectChanged
    return bytes(await answer.bytes_async())


_ahead: dict[StoredObject, Future[bytes]] = {}
_MOST_AHEAD, _MOST_BYTES_AHEAD = 16, 64 * 1024 * 1024


def fetch_ahead(objects: Iterable[StoredObject]) -> None:
    """Start to fetch objects of a bucket that are read soon: a bucket is far, and answers many requests at a time."""
    import asyncio  # where a bucket is read: it takes 50 ms

    size = sum(found.size for found in _ahead)
    for found in objects:
        size += found.size
        if len(_ahead) >= _MOST_AHEAD or size > _MOST_BYTES_AHEAD:
            return
        if is_bucket(found.uri) and found not in _ahead:
            _ahead[found] = asyncio.run_coroutine_threadsafe(_get_async(found), _loop())


@cache
def _loop() -> AbstractEventLoop:
    """A loop in a thread of its own."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="fetch", daemon=True).start()
    return loop
