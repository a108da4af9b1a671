"""Writes requests as a Python program that sends them again with httpx, bodies byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import LocalProtocolError
from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._python_words import body, header, text, variables
from workbench.formats.exporters._request_to_send import RequestToSend, request_to_send
from workbench.formats.exporters._secret_removal import knowing

TITLE = "Python program (httpx)"
SUFFIX = ".py"

PATIENCE = 600
"""Timeout in seconds, as the SDKs of providers use it."""


def write(selection: ExportSelection) -> ExportResult:
    """Write every request, in order, into one program. Raises LocalProtocolError, SessionFormatError."""
    redactor = knowing(selection, salt=b"python")
    requests, notes, left_out = list[tuple[int, RequestToSend]](), list[str](), list[str]()
    for index, exchange in selection.exchanges():
        try:
            request = request_to_send(exchange, redactor)
        except LocalProtocolError as error:
            left_out.append(f"exchange {index + 1}: {error}")
            continue
        requests.append((index, request))
        notes += (f"exchange {index + 1}: {note}" for note in (*request.notes, *_differences(request)))
    if not requests:
        raise LocalProtocolError(left_out[0])
    return one_file(program(requests).encode(), tuple(notes), tuple(left_out))


def program(requests: list[tuple[int, RequestToSend]]) -> str:
    """The program that sends requests, given with the index of their exchange."""
    needed = list(dict.fromkeys(name for _, request in requests for name in variables(request)))
    blocks = [head("Send the recorded requests again: the same bodies, byte for byte.", "httpx", needed)]
    blocks.append("\n".join([*(["import os"] if needed else []), "import sys", "", "import httpx"]))
    for index, request in requests:
        title = f"# Exchange {index + 1}\n" if len(requests) > 1 else ""
        blocks.append(title + "\n".join(_block(request)))
    return "\n\n".join(blocks) + "\n"


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
        yield "httpx resolves the dots in the path of the URL"
    missing = {"accept", "user-agent"} - {name.lower() for name in request.names}
    if missing:
        yield f"httpx adds {' and '.join(sorted(missing))}"
