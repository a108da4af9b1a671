"""Members of a zip archive, unpacked in memory within bounds: nothing is written anywhere."""

from __future__ import annotations

from io import BytesIO

from workbench.errors import UnreadableInput, WireError
from workbench.limits import MAX_DECODED_BODY
from workbench.wire.encoding import decode_body
from workbench.wire.exchange import Body

MAX_MEMBERS = 200_000
"""Members of one archive: a log has one for each sample."""

MAX_UNPACKED = 4 * MAX_DECODED_BODY
"""Bytes that the members of one archive may grow to together: an archive can name the same bytes a thousand times."""

_LOCAL_HEADER = 30
_STORED = 0
_CODINGS = {8: "deflate", 93: "zstd"}


class Archive:
    """A zip archive. Raises UnreadableInput: it has no directory that can be read."""

    def __init__(self, data: bytes) -> None:
        import zipfile

        self._data = data
        self._left = MAX_UNPACKED
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                members = archive.infolist()
        except Exception as error:  # of torn archives zipfile raises whatever it stumbles on
            raise UnreadableInput("a zip archive whose directory cannot be read", hint="it may be cut") from error
        if len(members) > MAX_MEMBERS:
            raise UnreadableInput(f"a zip archive of more than {MAX_MEMBERS:,} members")
        self._members = {m.filename: m for m in members if not m.is_dir()}

    def names(self) -> tuple[str, ...]:
        """Names of the members, in the order of the directory."""
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        """A member, unpacked. Raises WireError: damaged, encrypted, of another packing, or too large."""
        member = self._members[name]
        start = member.header_offset
        header = self._data[start : start + _LOCAL_HEADER]
        if start < 0 or len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
            raise WireError("a member that is not where the directory says")
        begin = (
            start + _LOCAL_HEADER + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        )
        raw = self._data[begin : begin + max(member.compress_size, 0)]
        if member.flag_bits & 1:
            raise WireError("an encrypted member")
        if member.compress_type == _STORED:
            unpacked = raw
        elif member.compress_type in _CODINGS:
            unpacked = decode_body(Body(raw, encoding=_CODINGS[member.compress_type]))
        else:
            raise WireError(f"a member packed by method {member.compress_type}, which is not known here")
        self._left -= len(unpacked)
        if self._left < 0:
            raise WireError(f"members of more than {MAX_UNPACKED:,} bytes together")
        return unpacked
