"""A home for one run of a client that knows only where its home is: one file of its settings has another text there.

Everything else in it is a link to what the person has, so that a client which writes in place writes there. What the
run made or replaced is copied to the person's at the end; no file that changed meanwhile is overwritten, and a home
stays, and is named, as long as something in it has no other copy. Homes are in the user's state folder: one whose
recorder was killed is found by the next.
"""

from __future__ import annotations

import fcntl
import filecmp
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from workbench.config import resources
from workbench.errors import WorkbenchError
from workbench.recorder.runtime_files import folders, is_private, private_path, write_private
from workbench.wire import loads

_HOMES, _HOME, _NOTES = "homes", "home", "notes.json"

_MOST_NAMES = 5
"""Names of files in one line."""

_CHANGED = "your own file has changed since"


class _Notes(NamedTuple):
    """What was so when a run began; kept beside its home.

    Attributes:
        folder: the person's folder.
        name: of the folder that takes its place in the home.
        file: name of the file in it that has another text.
        size, digest: of that text: bytes, and SHA-256.
        start: what was linked, by its path in the home: bytes, time of its last change (ns) and inode, as ``_state``.
    """

    folder: str
    name: str
    file: str
    size: int
    digest: str
    start: dict[str, list[int]]

    def target(self, key: str) -> Path:
        """Where the person has what is at a path of the home."""
        parts = Path(key).parts
        folder = Path(self.folder)
        return folder.joinpath(*parts[1:]) if parts[0] == self.name else folder.parent / key


@contextmanager
def private_home(text: str, replaced: Path, name: str, say: Callable[[str], None]) -> Iterator[str]:
    """Path of a home for one run, in which a file has another text; removed at the end unless it is still needed.

    Args:
        replaced: the person's file.
        name: of its folder in the home. What is beside the folder is linked, too.
        say: gets in one line each what was not copied to the person's, and where it is.

    Raises:
        UsageError: there is no folder that belongs to this user alone.
        OSError: it cannot be made.
    """
    with _one_at_a_time(_folder_of_homes()) as homes:
        root = homes / f"{os.getpid()}-{secrets.token_hex(4)}"
        lock = _make(root, text, replaced.absolute(), name)
    try:
        yield str(root / _HOME)
    finally:
        os.close(lock)
        with _one_at_a_time(homes):
            _hand_back(root, say)


def hand_back_leftovers(say: Callable[[str], None]) -> None:
    """Copy to the person's what is in homes whose run did not end; tell where the rest of it is."""
    for homes in (resources.state_folder(_HOMES), *(folder / _HOMES for folder in folders())):
        if is_private(homes):
            with suppress(OSError), _one_at_a_time(homes):
                for root in sorted(homes.iterdir()):
                    if not _is_used(root):
                        _hand_back(root, say, is_late=True)


# -- a run begins


def _folder_of_homes() -> Path:
    """The folder for homes, made: one that stays when the user logs out, where that is possible."""
    folder = resources.state_folder(_HOMES)
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_private(folder):
        folder = private_path(_HOMES)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _make(root: Path, text: str, replaced: Path, name: str) -> int:
    """Make a home; a descriptor that marks it as used while this process, or one that inherits it, has it open."""
    root.mkdir(mode=0o700)
    try:
        notes = _notes(text.encode(), replaced, name)
        write_private(root / _NOTES, json.dumps(notes._asdict()))
        (root / _HOME).mkdir(mode=0o700)
        (root / _HOME / name).mkdir(mode=0o700)
        for key in notes.start:
            (root / _HOME / key).symlink_to(notes.target(key))
        write_private(root / _HOME / name / replaced.name, text)
        lock = os.open(root / _NOTES, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_SH)
        os.set_inheritable(lock, True)
    except OSError:
        shutil.rmtree(root, ignore_errors=True)
        raise
    return lock


def _notes(text: bytes, replaced: Path, name: str) -> _Notes:
    folder = replaced.parent
    digest = hashlib.sha256(text).hexdigest()
    notes = _Notes(str(folder), name, replaced.name, len(text), digest, {})
    others = _entries(folder.parent) if os.access(folder.parent, os.R_OK | os.X_OK) else []
    keys = [each.name for each in others if each.name != name and each != folder]
    keys += [f"{name}/{each.name}" for each in _entries(folder) if each != replaced]
    return notes._replace(start={key: _state(notes.target(key)) for key in keys})


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _state(path: Path) -> list[int]:
    """Bytes, time of the last change and inode; empty if there is no such file."""
    try:
        state = path.stat()
    except OSError:
        return []
    return [state.st_size, state.st_mtime_ns, state.st_ino]


def _is_used(root: Path) -> bool:
    """A process has the home open; also if that cannot be told."""
    if not (root / _NOTES).exists():
        return False
    try:
        with (root / _NOTES).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


@contextmanager
def _one_at_a_time(homes: Path) -> Iterator[Path]:
    """Keep other processes from making and emptying homes in a folder."""
    lock = os.open(homes, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield homes
    finally:
        os.close(lock)


# -- a run ends


def _hand_back(root: Path, say: Callable[[str], None], *, is_late: bool = False) -> None:
    """Copy what was made in a home to the person's, and remove it if nothing remains in it.

    Args:
        is_late: its run did not end: it is also said what was copied.
    """
    if not (root / _HOME).exists():  # its recorder was killed before
        shutil.rmtree(root, ignore_errors=True)
        return
    try:
        notes = _Notes(**loads((root / _NOTES).read_bytes()))
        over = _HandBack(root / _HOME, notes)
        over.copy_all()
    except (OSError, WorkbenchError, TypeError) as error:
        say(f"files that a client wrote are in {root}: they could not be copied to their original folder ({error})")
        return
    for line in over.lines(is_late=is_late):
        say(line)
    if not over.remains and not _is_used(root):
        shutil.rmtree(root, ignore_errors=True)


class _HandBack:
    """Copies what was made in a home to the person's.

    Attributes:
        remains: paths in the home of what was not copied, and why.
    """

    def __init__(self, home: Path, notes: _Notes) -> None:
        self.remains: dict[str, str] = {}
        self._home, self._notes = home, notes
        self._copies: list[str] = []

    def copy_all(self) -> None:
        """Copy everything that has no other copy. Raises OSError if a file with a new name cannot be kept."""
        persons = {str(self._notes.target(key)) for key in self._notes.start}
        for path in sorted(self._home.rglob("*")):
            if self._is_renamed(path, persons):
                _place(path.resolve(), path, is_new=False)
        for entry in _entries(self._home):
            self._copy(entry)

    def lines(self, *, is_late: bool) -> Iterator[str]:
        """What the person should know, a line each."""
        where = self._notes.folder
        if is_late and self._copies:
            yield f"files of an earlier run were copied to their original folder: {_list_of(self._copies)}"
        if self.remains:
            rest = _list_of([f"{key} ({why})" for key, why in self.remains.items()])
            yield f"files not copied to {where}, but kept in {self._home} until you remove them: {rest}"
        if removed := [str(self._notes.target(key)) for key in self._notes.start if self._is_removed(key)]:
            yield f"the client removed these files in this run; your own copies still exist: {_list_of(removed)}"

    def _key_of(self, path: Path) -> str:
        return str(path.relative_to(self._home))

    def _is_renamed(self, path: Path, persons: set[str]) -> bool:
        """A link to a file of the person has another name now: its content must outlive a new file of the old name."""
        if not path.is_symlink():
            return False
        to = os.readlink(path)
        return to in persons and to != str(self._notes.target(self._key_of(path))) and Path(to).is_file()

    def _is_removed(self, key: str) -> bool:
        entry, target = self._home / key, self._notes.target(key)
        is_anew = entry.is_dir() and not entry.is_symlink()
        return os.path.lexists(target) and (is_anew or not os.path.lexists(entry))

    def _copy(self, entry: Path) -> None:
        key = self._key_of(entry)
        try:
            why = self._outcome(entry, key, self._notes.target(key))
        except OSError as error:
            why = error.strerror or type(error).__name__
        if why:
            self.remains[key] = why

    def _outcome(self, entry: Path, key: str, target: Path) -> str:
        """Copy a file, a link or all that is in a folder: why it was not copied, else empty."""
        if entry.is_symlink():
            return self._link(os.readlink(entry), target)
        if entry.is_dir():
            mode = stat.S_IMODE(entry.stat().st_mode) | stat.S_IRWXU  # else nothing could be put in it, or removed
            entry.chmod(mode)
            if not target.is_dir():
                target.mkdir(mode, parents=True)
            for each in _entries(entry):
                self._copy(each)
            return ""
        if not entry.is_file() or self._is_own(entry):
            return ""
        if key == f"{self._notes.name}/{self._notes.file}":
            return "changed in this run"
        return self._file(entry, target, self._notes.start.get(key, []))

    def _is_own(self, entry: Path) -> bool:
        """It is the text that this run was given, whatever its name."""
        size = entry.stat().st_size
        return size == self._notes.size and hashlib.sha256(entry.read_bytes()).hexdigest() == self._notes.digest

    def _link(self, to: str, target: Path) -> str:
        if to.startswith(f"{self._home}/"):
            to = str(self._notes.target(to.removeprefix(f"{self._home}/")))
        if to == str(target) or (os.path.islink(target) and os.readlink(target) == to):
            return ""
        if to in {str(self._notes.target(key)) for key in self._notes.start}:
            return ""  # a folder with another name: it is still there under the old one
        if os.path.lexists(target):
            return _CHANGED
        target.symlink_to(to)
        return ""

    def _file(self, entry: Path, target: Path, start: list[int]) -> str:
        state = _state(target)
        if state and target.is_file() and filecmp.cmp(entry, target, shallow=False):
            return ""
        if state != start:
            return _CHANGED
        _place(entry, Path(os.path.realpath(target)), is_new=not state)
        entry.unlink()
        entry.symlink_to(target)  # for a process that still uses this home
        self._copies.append(str(target))
        return ""


def _place(entry: Path, target: Path, *, is_new: bool) -> None:
    """Put a copy of a file at a path: whole or not at all. Raises OSError, also if a new one exists by now."""
    temporary = target.with_name(f".workbench-{secrets.token_hex(8)}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            with entry.open("rb") as original:
                shutil.copyfileobj(original, copy)
            copy.flush()
            os.fsync(copy.fileno())
        shutil.copystat(entry, temporary)
        _put(temporary, target, is_new=is_new)
    finally:
        temporary.unlink(missing_ok=True)


def _put(temporary: Path, target: Path, *, is_new: bool) -> None:
    if is_new:
        try:
            os.link(temporary, target)
            return
        except FileExistsError:
            raise
        except OSError:  # a file system without such links
            pass
    os.replace(temporary, target)


def _list_of(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
