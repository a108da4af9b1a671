"""Writes requests as a Python program that sends them again with httpx, bodies byte for byte.

Of a WebSocket the messages of the client are sent, each once the server is as far as it was in the recording; ids that
the server gives in the new run replace those of the recording.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._request_to_send import Piece, RequestToSend, SecretVariable, request_to_send
from workbench.formats.exporters._secret_removal import knowing
from workbench.formats.exporters._socket_replay import PROGRAM, SocketReplay, socket_replay
from workbench.ir import JsonValue
from workbench.wire import CONNECTION, ExchangeKind

WIDTH: Final = 100
"""Columns of a line of a literal."""

_CUT: Final = regex.compile(r'.*?(?:\n|(?<=[\]}"0-9a-z]), ?(?=[{"])|\Z)', re.DOTALL)
"""Positions where JSON text may be split, so that a line has one member or list element."""


def variables(request: RequestToSend) -> list[str]:
    """Names of the environment variables that a request needs, in order of use."""
    used = [*request.url, *(piece for _, value in request.headers for piece in value), *request.body]
    return list(dict.fromkeys(piece.name for piece in used if isinstance(piece, SecretVariable)))


def text(pieces: Sequence[Piece]) -> str:
    """Pieces of a URL or header value as an expression of type ``str``."""
    return (
        " + ".join(
            f'os.environ["{p.name}"]' if isinstance(p, SecretVariable) else _string(p.decode("latin-1")) for p in pieces
        )
        or '""'
    )


def header(name: str, pieces: Sequence[Piece]) -> str:
    """A header as a pair; as bytes if httpx would encode its characters differently."""
    if all(isinstance(p, SecretVariable) or p.isascii() for p in pieces):
        return f"({_string(name)}, {text(pieces)})"
    value = " + ".join(f'os.environ["{p.name}"].encode()' if isinstance(p, SecretVariable) else repr(p) for p in pieces)
    return f"({name.encode()!r}, {value})"


def body(name: str, pieces: Sequence[Piece]) -> str:
    """The assignment of a body, of type ``bytes``."""
    if not any(pieces):
        return f'{name} = b""'
    if len(pieces) == 1 and isinstance(pieces[0], bytes):
        lines, end = _lines(pieces[0])
        if len(lines) == 1:
            return f"{name} = {lines[0]}{end}"
        return f"{name} = (\n{_indent(lines)}\n){end}"
    present = [piece for piece in pieces if piece]
    parts = [line for number, piece in enumerate(present) for line in _part(piece, is_first=not number)]
    return f"{name} = (\n{_indent(parts)}\n)"


def _part(piece: Piece, *, is_first: bool) -> Iterator[str]:
    plus = "" if is_first else "+ "
    if isinstance(piece, SecretVariable):
        yield f'{plus}os.environ["{piece.name}"].encode()'
        return
    lines, end = _lines(piece)
    if len(lines) == 1:
        yield f"{plus}{lines[0]}{end}"
        return
    yield f"{plus}({lines[0]}"
    yield from (f"   {line}" for line in lines[1:-1])
    yield f"   {lines[-1]}){end}"


def _lines(data: bytes) -> tuple[list[str], str]:
    """Literals on consecutive lines that make up the data, and the suffix that makes bytes of them."""
    try:
        source = data.decode()
    except UnicodeDecodeError:
        return [repr(bytes(part)) for part in _slices(data)], ""
    pieces = [part for line in _merge(_CUT.findall(source)) for part in _wrap(line)]
    if source.isascii():
        return [f"b{_string(piece)}" for piece in pieces], ""
    return [_string(piece) for piece in pieces], ".encode()"


def _slices(data: bytes) -> Iterable[bytes]:
    return (data[n : n + WIDTH // 2] for n in range(0, len(data), WIDTH // 2))


def _merge(pieces: Sequence[str]) -> Iterator[str]:
    """Join short pieces on a line, but not across lines of the text."""
    line = ""
    for piece in pieces:
        if line and (line.endswith("\n") or len(line) + len(piece) > WIDTH):
            yield line
            line = ""
        line += piece
    if line:
        yield line


def _wrap(line: str) -> Iterator[str]:
    return (line[n : n + WIDTH] for n in range(0, len(line), WIDTH))


def _string(value: str) -> str:
    """A literal, in double quotes unless that needs more escapes; invisible characters are escaped."""
    literal = repr(value)
    if literal[0] == "'" and '"' not in value:
        return f'"{literal[1:-1]}"' if "'" not in value else literal
    return literal


def _indent(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


TITLE = "Python program (httpx)"
SUFFIX = ".py"

PATIENCE = 600
"""Timeout in seconds, as the SDKs of providers use it."""


def write(selection: ExportSelection) -> ExportResult:
    """Write every request, in order, into one program. Raises LocalProtocolError, SessionFormatError."""
    redactor = knowing(selection, salt=b"python")
    requests, notes, left_out = list[tuple[int, RequestToSend | SocketReplay]](), list[str](), list[str]()
    replayed = set[JsonValue]()
    for index, exchange in selection.exchanges():
        if exchange.meta.get(CONNECTION) in replayed:
            continue  # a turn: its messages are among those of its connection
        try:
            if exchange.kind is ExchangeKind.WEBSOCKET and exchange.frames:
                replayed.add(exchange.id)
                requests.append((index, socket_replay(exchange, redactor)))
                continue
            request = request_to_send(exchange, redactor)
        except LocalProtocolError as error:
            left_out.append(f"exchange {index + 1}: {error}")
            continue
        requests.append((index, request))
        notes += (f"exchange {index + 1}: {note}" for note in (*request.notes, *_differences(request)))
    if not requests:
        raise LocalProtocolError(left_out[0])
    return one_file(program(requests).encode(), tuple(notes), tuple(left_out))


def program(requests: Sequence[tuple[int, RequestToSend | SocketReplay]]) -> str:
    """The program that sends requests and replays WebSockets, given with the index of their exchange."""
    needed = list(dict.fromkeys(name for _, request in requests for name in _variables_of(request)))
    sockets = [request for _, request in requests if isinstance(request, SocketReplay)]
    is_http = len(sockets) < len(requests)
    packages = " ".join([*(["httpx"] if is_http else []), *(["websockets"] if sockets else [])])
    what = "the same bodies, byte for byte" if is_http else "the client's WebSocket messages, in order"
    blocks = [head(f"Send the recorded requests again: {what}.", packages, needed)]
    plain = [*(["json"] if sockets else []), *(["os"] if needed else []), *(["sys"] if is_http else [])]
    imports = [
        *(["import httpx"] if is_http else []),
        *(["from websockets.sync.client import connect"] if sockets else []),
    ]
    blocks.append("\n".join([*(f"import {name}" for name in plain), *([""] if plain else []), *imports]))
    if sockets:
        blocks.append(f"PATIENCE = {PATIENCE}\n\n\n{PROGRAM}\n")
    for index, request in requests:
        title = f"# Exchange {index + 1}\n" if len(requests) > 1 else ""
        lines = _socket_block(request) if isinstance(request, SocketReplay) else _block(request)
        blocks.append(title + "\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _variables_of(request: RequestToSend | SocketReplay) -> list[str]:
    if isinstance(request, RequestToSend):
        return variables(request)
    pieces = (piece for part in (*request.protocols, *(step.data for step in request.steps)) for piece in part)
    return [*variables(request.request), *(piece.name for piece in pieces if isinstance(piece, SecretVariable))]


def _socket_block(replayed: SocketReplay) -> Iterator[str]:
    yield f"URL = {text(replayed.request.url)}"
    yield "HEADERS = ["
    yield from (f"    {header(name, value)}," for name, value in replayed.request.headers)
    yield "]"
    yield f"PROTOCOLS = [{', '.join(map(text, replayed.protocols))}]"
    yield "MESSAGES = []"
    for step in replayed.steps:
        yield body("DATA", step.data)
        yield f'MESSAGES.append(("{step.opcode}", {step.count}, DATA))'
    yield "replay(URL, HEADERS, PROTOCOLS or None, MESSAGES)"


def head(what: str, package: str, needed: list[str]) -> str:
    """Docstring of a program: its purpose and requirements."""
    lines = [f'"""{what}', "", f"Needs: pip install {package}"]
    if needed:
        lines.append(f"Set in the environment: {', '.join(needed)}")
    return "\n".join((*lines, '"""'))


def _block(request: RequestToSend) -> Iterator[str]:
    yield f"URL = {text(request.url)}"
    yield "HEADERS = ["
    yield from (f"    {header(name, value)}," for name, value in request.headers)
    yield "]"
    yield body("BODY", request.body)
    yield ""
    method = f'"{request.method}"'
    if not request.is_stream:
        yield f"response = httpx.request({method}, URL, headers=HEADERS, content=BODY, timeout={PATIENCE})"
        yield "print(response.status_code, response.reason_phrase, file=sys.stderr)"
        yield "print(response.text)"
        return
    yield f"with httpx.stream({method}, URL, headers=HEADERS, content=BODY, timeout={PATIENCE}) as response:"
    yield "    print(response.status_code, response.reason_phrase, file=sys.stderr)"
    yield "    for text in response.iter_text():"
    yield '        print(text, end="", flush=True)'


def _differences(request: RequestToSend) -> Iterator[str]:
    """Notes on what httpx sends differently."""
    if any(step in request.raw_url for step in ("/./", "/../")) or request.raw_url.endswith(("/.", "/..")):
        yield "httpx resolves dot segments in the URL path"
    missing = {"accept", "user-agent"} - {name.lower() for name in request.names}
    if missing:
        yield f"httpx adds {' and '.join(sorted(missing))}"
