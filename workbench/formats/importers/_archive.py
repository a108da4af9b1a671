"""Unpacks members of a zip archive in memory, with limits; nothing is written to disk."""

from __future__ import annotations

from io import BytesIO

from workbench.errors import UnreadableInput, WireError
from workbench.limits import MAX_DECODED_BODY
from workbench.wire import Body, decode_body

MAX_MEMBERS = 200_000
"""Limit of members in one archive; an Inspect log has one for each sample."""

MAX_UNPACKED = 4 * MAX_DECODED_BODY
"""Limit of unpacked bytes of one archive: a hostile archive can list the same bytes a thousand times."""

_LOCAL_HEADER = 30
_STORED = 0
_CODINGS = {8: "deflate", 93: "zstd"}


class Archive:
    """A zip archive. Raises UnreadableInput if its directory cannot be read."""

    def __init__(self, data: bytes) -> None:
        import zipfile

        self._data = data
        self._left = MAX_UNPACKED
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                members = archive.infolist()
        except Exception as error:  # of torn archives zipfile raises whatever it stumbles on
            raise UnreadableInput(
                "the directory of the zip archive cannot be read", hint="the file may be truncated"
            ) from error
        if len(members) > MAX_MEMBERS:
            raise UnreadableInput(f"a zip archive with more than {MAX_MEMBERS:,} members")
        self._members = {m.filename: m for m in members if not m.is_dir()}

    def names(self) -> tuple[str, ...]:
        """Names of the members in directory order."""
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        """Unpack a member.

        Raises:
            WireError: damaged, encrypted, of an unknown compression method, or too large.
        """
        member = self._members[name]
        start = member.header_offset
        header = self._data[start : start + _LOCAL_HEADER]
        if start < 0 or len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
            raise WireError("the member is not at the offset given in the directory")
        begin = (
            start + _LOCAL_HEADER + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        )
        raw = self._data[begin : begin + max(member.compress_size, 0)]
        if member.flag_bits & 1:
            raise WireError("the member is encrypted")
        if member.compress_type == _STORED:
            unpacked = raw
        elif member.compress_type in _CODINGS:
            unpacked = decode_body(Body(raw, encoding=_CODINGS[member.compress_type]))
        else:
            raise WireError(f"compression method {member.compress_type} is not supported")
        self._left -= len(unpacked)
        if self._left < 0:
            raise WireError(f"the members unpack to more than {MAX_UNPACKED:,} bytes")
        return unpacked
