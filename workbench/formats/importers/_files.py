"""Reads a FILE argument: a file on demand, a pipe or standard input, plain or compressed; and JSON Lines of one.

Finds the files of a folder or of a glob pattern.
"""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from workbench import regex
from workbench.errors import NoSuchFile, UnreadableInput, WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.limits import MAX_DECODED_BODY, MAX_INPUT_FILE, WRITER_SECONDS
from workbench.named_tuple import NamedTuple
from workbench.wire import Body, decode_body, loads

HEAD = 64 * 1024
PIECE = 8 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BODIES, LEVELS = "__files", 4
"""WireMock's folder of bodies, and how many folders above the input it is searched for."""
BZIP2, MESSAGES = "bzip2", "zstd (message by message)"
ZSTD = b"\x28\xb5\x2f\xfd"
PACKED = {b"\x1f\x8b": "gzip", ZSTD: "zstd", b"BZh": BZIP2}


@dataclass(slots=True)
class InputSource:
    """An input before its format is known.

    Attributes:
        shown: its name in error messages.
        name: name of the session.
        head: its first 64 kB, unpacked, without byte order mark.
        path: the file to read in place; None for standard input, pipes and compressed files.
    """

    label: str
    name: str
    head: bytes
    path: Path | None = None
    content: bytes | None = None

    def data(self) -> bytes:
        """The whole content."""
        if self.content is None:
            assert self.path is not None
            self.content = _read(self.path, self.label)
        return self.content


@dataclass(slots=True)
class BodyFiles:
    """Bodies that a recorder stored in files next to its recording.

    WireMock keeps them in ``__files``, next to the folder of its mappings (WireMock docs, "Stubbing", body files).

    Attributes:
        path: the input.
        budget: bytes that may still be read.
    """

    path: Path
    budget: int = MAX_INPUT_FILE

    def read(self, name: str) -> bytes | None:
        """A file by its name in the input; None if it does not exist. Names never lead out of the folder."""
        for folder in (*(parent / BODIES for parent in self.path.resolve().parents[:LEVELS]), self.path.parent):
            found = _within(folder.resolve(), name)
            if found is None or found.stat().st_size > self.budget:
                continue
            data = found.read_bytes()[: self.budget]
            self.budget -= len(data)
            return data
        return None


def _within(folder: Path, name: str) -> Path | None:
    """The path of a regular file at or below a folder; None for any other name."""
    try:
        file = (folder / name).resolve()
        return file if file.is_relative_to(folder) and file.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def open_source(path: str, stdin: BinaryIO | None) -> InputSource:
    """Open an input.

    Raises:
        UnreadableInput: not a readable file.
        OSError: reading failed.
    """
    if path == "-":
        return _unpacked_source("standard input", "standard input", _all_of(stdin))
    file = Path(path)
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            return _unpacked_source(path, file.name, _read_pipe(file, mode, path))
        with file.open("rb", buffering=0) as stream:
            head = _read_head(stream)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoSuchFile(path) from error
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            raise UnreadableInput("not a file name", where=path[:200]) from error
        raise
    if _packing(head):
        return _unpacked_source(path, file.name, _read(file, path))
    whole = head if len(head) < HEAD else None
    return InputSource(path, file.name, _text_head(head, path), path=file, content=whole)


def _read_head(stream: FileIO) -> bytes:
    """The first bytes of a file; fewer than ``HEAD`` only at its end."""
    head = stream.read(HEAD)
    while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
        head += more
    return head


def _read_pipe(file: Path, mode: int, label: str) -> bytes:
    """Read from a pipe. Other special files are refused: a device may have no end."""
    if stat.S_ISDIR(mode):
        raise UnreadableInput("this is a folder", where=label, hint="give a file in this folder")
    if not stat.S_ISFIFO(mode):
        what = "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise UnreadableInput(f"this is {what}, not a file", where=label, hint="name a file, or - for standard input")
    with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as stream:
        import select  # a library of its own, for pipes alone

        waiting = select.poll()
        waiting.register(stream, select.POLLIN)
        ready = waiting.poll(WRITER_SECONDS * 1000)
        first = stream.read(HEAD)  # None: a writer has it open; b"": no writer
        if first == b"" and not ready:
            raise UnreadableInput(f"no data from this pipe for {WRITER_SECONDS:g} seconds", where=label)
        os.set_blocking(stream.fileno(), True)
        return _drain(stream, label, first or b"")


def _unpacked_source(label: str, name: str, data: bytes) -> InputSource:
    packing = _packing(data)
    if packing:
        data = _unpack(data, packing, label)
    return InputSource(label, name, _text_head(data[:HEAD], label), content=data)


def _text_head(head: bytes, label: str) -> bytes:
    text = head.removeprefix(BYTE_ORDER_MARK)
    if len(head) < HEAD and not text.strip():
        raise UnreadableInput("the file is empty", where=label)
    return text


def _packing(head: bytes) -> str | None:
    if head[:1] == b"\0" and head[4:8] == ZSTD:
        return MESSAGES
    return next((name for magic, name in PACKED.items() if head.startswith(magic)), None)


def _unpack(data: bytes, packing: str, label: str) -> bytes:
    try:
        if packing == MESSAGES:
            return _unpack_messages(data)
        if packing == BZIP2:
            return _unpack_bzip2(data)
        return decode_body(Body(raw=data, encoding=packing))
    except WireError as error:
        raise UnreadableInput(f"the {packing} file cannot be unpacked: {error.what}", where=label) from error


def _unpack_messages(data: bytes) -> bytes:
    """Messages that are packed one by one, each with its length before it.

    The collector's file exporter writes them so. JSON becomes lines; other messages keep a length before each
    (opentelemetry-collector-contrib, fileexporter).
    """
    pieces: list[bytes] = []
    at, budget = 0, MAX_DECODED_BODY
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if at + 4 + size > len(data):
            raise WireError(f"the message at byte {at} is incomplete")
        pieces.append(decode_body(Body(raw=data[at + 4 : at + 4 + size], encoding="zstd")))
        budget -= len(pieces[-1])
        if budget < 0:
            raise WireError("too large")
        at += 4 + size
    if all(piece.lstrip()[:1] == b"{" for piece in pieces):
        return b"\n".join(pieces)
    return b"".join(len(piece).to_bytes(4, "big") + piece for piece in pieces)


def _unpack_bzip2(data: bytes) -> bytes:
    """The content of all streams of a bzip2 file. Raises WireError."""
    import bz2

    pieces: list[bytes] = []
    budget = MAX_DECODED_BODY
    while data:
        stream = bz2.BZ2Decompressor()
        try:
            pieces.append(stream.decompress(data, max_length=budget))
        except OSError as error:
            raise WireError(str(error)) from error
        budget -= len(pieces[-1])
        if not stream.eof:
            raise WireError("too large" if budget <= 0 or not stream.needs_input else "the data is truncated")
        data = stream.unused_data.lstrip(b"\0")
    return b"".join(pieces)


def _all_of(stdin: BinaryIO | None) -> bytes:
    return _drain(stdin, "standard input") if stdin else b""


def _read(path: Path, label: str) -> bytes:
    with path.open("rb") as stream:
        return _drain(stream, label)


def _drain(stream: BinaryIO | FileIO, label: str, first: bytes = b"") -> bytes:
    pieces, length = [first], len(first)
    while piece := stream.read(PIECE):
        pieces.append(piece)
        length += len(piece)
        if length > MAX_INPUT_FILE:
            raise UnreadableInput(f"larger than {MAX_INPUT_FILE:,} bytes", where=label, hint="split the file")
    return b"".join(pieces)


_MAGIC = "*?["


def is_pattern(path: str) -> bool:
    """True for a glob pattern that is not the name of a file."""
    return any(sign in path for sign in _MAGIC) and not os.path.lexists(path)


def matches(pattern: str) -> list[str]:
    """Names that match a pattern, in order; ``**`` matches folders at any depth.

    Hidden names need their dot, and links to folders are not followed.
    """
    named, _, _ = re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")
    fixed = len(Path(named).parts)
    return [found for found in sorted(glob.glob(pattern, recursive=True)) if not _is_behind_link(Path(found), fixed)]


def _is_behind_link(path: Path, fixed: int) -> bool:
    """True if a folder of a path is a link; the first folders, which the pattern names, may be links."""
    return any(Path(*path.parts[:n]).is_symlink() for n in range(fixed + 1, len(path.parts)))


def files_in(folder: Path) -> Iterator[Path]:
    """Regular files in a folder and below, in order of their names.

    Hidden folders and files are left out, and links are not followed. A folder that cannot be listed has no files.
    """
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in inside:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from files_in(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


MAX_DAMAGE = 20
"""Limit of damaged lines that are listed; further ones are counted."""


class Line(NamedTuple):
    """A line with a JSON object: ``number`` counts from one, ``raw`` has no surrounding whitespace."""

    number: int
    raw: bytes
    value: dict[str, JsonValue]


@dataclass(slots=True)
class ImportDamage:
    """Content that could not be read, collected while reading."""

    lines: list[str] = field(default_factory=list)
    more: int = 0
    kinds: dict[str, int] = field(default_factory=dict)

    def add(self, line: str) -> None:
        if len(self.lines) < MAX_DAMAGE:
            self.lines.append(line)
        else:
            self.more += 1

    def leave_out(self, what: str) -> None:
        """Count one more item of a kind that is left out, such as ``"a part of type 'x', which is not supported"``."""
        if what in self.kinds or len(self.kinds) < MAX_DAMAGE:
            self.kinds[what] = self.kinds.get(what, 0) + 1
        else:
            self.more += 1

    def unknown(self, what: str, kind: JsonValue) -> None:
        """Count one more item of an unknown type; ``what`` is its noun ("a part")."""
        if isinstance(kind, str):
            self.leave_out(f"{what} of type {kind[:40]!r}, which is not supported")
        else:
            self.leave_out(f"{what} without a type")

    def objects(self, value: JsonValue, what: str) -> Iterator[dict[str, JsonValue]]:
        """The objects of a list; other values, in it or in its place, are left out. ``what`` is the noun of one."""
        if not isinstance(value, list):
            if value not in (None, "", {}):
                self.leave_out(f"a value that is not a list ({what})")
            return
        for entry in value:
            if isinstance(entry, dict):
                yield entry
            else:
                self.leave_out(f"{what} that is not an object")

    def as_lines(self) -> tuple[str, ...]:
        kinds = (f"left out: {what}{f' ({count:,} times)' if count > 1 else ''}" for what, count in self.kinds.items())
        more = (f"{self.more:,} more problems like these",) if self.more else ()
        return (*self.lines, *kinds, *more)

    def refuse(self, nothing: str) -> UnreadableInput:
        """The error if nothing usable is left."""
        lines = self.as_lines()
        return UnreadableInput(f"{nothing}: {lines[0]}" if lines else nothing)


def split(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, stripped line) of every non-blank line. Lines end at LF or CRLF."""
    start = number = 0
    data = data.removeprefix(b"\xef\xbb\xbf")
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        line = data[start:end].strip()
        if line:
            yield number, line
        start = end + 1


def objects(data: bytes, damage: ImportDamage) -> Iterator[Line]:
    """The objects of a list; everything else in it is left out. ``what`` is the noun of one item."""
    for number, raw in split(data):
        try:
            value = loads(raw)
        except WireError as error:
            damage.add(f"line {number}: {_brief(error)}")
            continue
        if isinstance(value, dict):
            yield Line(number, raw, value)
        else:
            damage.add(f"line {number}: not a JSON object")


@lru_cache(maxsize=4)
def first_objects(head: bytes, count: int = 8) -> Sequence[dict[str, JsonValue]]:
    """The objects of the first complete lines in the head of a file: read once for all importers that ask."""
    found: list[dict[str, JsonValue]] = []
    whole = head if len(head) < HEAD else head[: head.rfind(b"\n") + 1]
    for number, raw in split(whole):
        if number > count or not raw.startswith(b"{"):
            break
        try:
            value = loads(raw)
        except WireError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _brief(error: WireError) -> str:
    return f"{error.what} ({error.where.split(',')[0]})" if error.where else error.what


_JSON = regex.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_CALL = regex.compile(rb'\s*\[?\s*\{\s*"(?:name|tool|tool_name|function|action)"\s*:\s*["{]')
_ARGUMENTS = regex.compile(rb'[,{]\s*"(?:arguments|parameters|args|input|action_input|tool_input)"\s*:')


def is_json(head: bytes) -> bool:
    """True if it starts with an object or a list."""
    return bool(_JSON.match(head))


def is_written_call(head: bytes) -> bool:
    """True if it starts like a tool call that a model wrote as text."""
    return bool(_CALL.match(head) and _ARGUMENTS.search(head, 0, 4096))
