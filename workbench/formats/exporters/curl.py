"""Writes a request as a ``curl`` command for a POSIX shell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from workbench.errors import LocalProtocolError
from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._request_to_send import (
    Piece,
    RequestToSend,
    SecretVariable,
    is_pasteable,
    printf_command,
    request_to_send,
    shell_word,
    word,
)
from workbench.formats.exporters._secret_removal import knowing
from workbench.wire import Exchange, ExchangeKind, Redactor

TITLE = "cURL command"
SUFFIX = ".sh"

MOST_ON_THE_LINE: Final = 100_000
"""Largest body given as an argument, in bytes; Linux allows 131,072 per argument. Larger bodies are piped in."""

_EXPECTS: Final = 1_000_000
"""Size from which curl sends Expect: 100-continue first, which not every server answers."""

_ADDED_BY_CURL: Final = ("Accept", "User-Agent")


class CurlCommand(NamedTuple):
    """A command, and its differences from the recorded request, one line each."""

    text: str
    notes: tuple[str, ...] = ()


def write(selection: ExportSelection) -> ExportResult:
    """Write every request, in order, as one command each. Raises SessionFormatError."""
    redactor = knowing(selection, salt=b"curl")
    commands, notes, left_out = list[str](), list[str](), list[str]()
    for index, exchange in selection.exchanges():
        if exchange.kind is ExchangeKind.WEBSOCKET:
            left_out.append(f"exchange {index + 1}: a WebSocket connection; commands are HTTP only (see --as python)")
            continue
        try:
            command = curl_command(exchange, redactor)
        except LocalProtocolError as error:
            left_out.append(f"exchange {index + 1}: {error}")
            continue
        commands.append(command.text + "\n")
        notes += (f"exchange {index + 1}: {note}" for note in command.notes)
    return one_file("\n".join(commands).encode(), tuple(notes), tuple(left_out))


def curl_command(exchange: Exchange, redactor: Redactor | None = None) -> CurlCommand:
    """The command that sends the request of an exchange again.

    Args:
        exchange: as opened.
        redactor: finds its secrets, and those known from other exchanges.

    Raises:
        LocalProtocolError: there is no request, or curl cannot send it.
    """
    request = request_to_send(exchange, redactor or Redactor(salt=b"curl"))
    head = ["curl", "--globoff", "--path-as-is"] if _has_steps(request.raw_url) else ["curl", "--globoff"]
    head += ["--no-buffer"] if request.is_stream else []
    head += ["--compressed"] if request.takes_codings else []
    method = ["--head"] if request.method == "HEAD" else ["-X", request.method]
    lines = [" ".join((*head, *method, "--url", word(request.url)))]
    lines += [f"-H {word(pieces)}" for pieces in _headers(request)]
    size = sum(len(p) for p in request.body if isinstance(p, bytes))
    lines += ["-H Expect:"] if size > _EXPECTS else []
    before = ""
    if size and is_pasteable(request.body) and size <= MOST_ON_THE_LINE:
        lines.append(f"--data-raw {shell_word(request.body)}")
    elif size:
        before = f"{_guards(request.body)}{_pipe(request.body)} |\n"
        lines.append("--data-binary @-")
    elif request.has_body:
        lines.append("--data-raw ''")
    return CurlCommand(before + " \\\n  ".join(lines), request.notes)


def _headers(request: RequestToSend) -> Iterator[Sequence[Piece]]:
    for name, pieces in request.headers:
        first, rest = (pieces[0], pieces[1:]) if pieces and isinstance(pieces[0], bytes) else (b"", pieces)
        yield [f"{name}: ".encode() + first, *rest] if pieces else [f"{name};".encode()]
    names = {name.lower() for name in request.names}
    defaults = [*_ADDED_BY_CURL, *(["Content-Type"] if request.has_body else [])]
    yield from ([f"{name}:".encode()] for name in defaults if name.lower() not in names)


def _pipe(body: Sequence[Piece]) -> str:
    return f"printf %s {shell_word(body)}" if is_pasteable(body) else printf_command(body)


def _guards(body: Sequence[Piece]) -> str:
    """Checks that stop curl from sending half a body: an unset variable ends only one side of a pipe."""
    return "".join(
        f": {shell_word([piece])} &&\n" for piece in dict.fromkeys(body) if isinstance(piece, SecretVariable)
    )


def _has_steps(url: str) -> bool:
    return "/./" in url or "/../" in url or url.endswith(("/.", "/.."))
