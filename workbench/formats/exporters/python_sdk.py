"""A request as a Python program that sends it with the provider's own SDK, its body byte for byte.

The SDKs of Anthropic and OpenAI take raw content. Those of Google, Ollama and Cohere write every body themselves: there
the program puts the recorded request in the place of theirs at the transport, and says so; the SDK reads the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from workbench import contracts, protocols
from workbench.errors import LocalProtocolError
from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._request_to_send import RequestToSend, SecretVariable, request_to_send
from workbench.formats.exporters._secret_removal import knowing
from workbench.formats.exporters.python import PATIENCE, body, head, header, text, variables
from workbench.lazy_dataclass import replace
from workbench.protocols import DecodedExchange, RawSdk, TransportSdk

TITLE = "Python program (provider's SDK)"
SUFFIX = ".py"


_OF_THE_SDK: Final = ("accept", "content-type", "user-agent", "x-stainless-", "anthropic-version")


def write(selection: ExportSelection) -> ExportResult:
    """The one request of a selection.

    Raises:
        LocalProtocolError: there are several, no SDK is known for its protocol, or none can send it.
        SessionFormatError: it cannot be read.
    """
    if len(selection.indices) > 1:
        raise LocalProtocolError("a program with an SDK sends one request", hint="choose one with --exchange N")
    index, exchange = next(selection.exchanges())
    request = request_to_send(exchange, knowing(selection, salt=b"python"))
    protocol = DecodedExchange(index, exchange, selection.inspector.protocol).protocol or ""
    sdk = protocols.get(protocol).sdk if protocol in protocols.protocols() else None
    if isinstance(sdk, RawSdk):
        program = _raw(request, sdk)
    elif isinstance(sdk, TransportSdk):
        program = _own(request, sdk)
    else:
        known = ", ".join(adapter.name for adapter in protocols.every() if adapter.sdk)
        raise LocalProtocolError(
            f"no SDK is known for {protocol or 'an exchange that is not a model exchange'}",
            hint=f"known: {known}; or --as python",
        )
    return one_file(program.encode(), tuple(f"exchange {index + 1}: {note}" for note in request.notes))


def _raw(request: RequestToSend, sdk: RawSdk) -> str:
    base, path, query = _split(request, sdk)
    key, is_token = _key(request)
    needed = list(dict.fromkeys([key, *variables(replace(request, headers=()))]))
    what = f"Send the recorded request again with the SDK of {sdk.client}: the same body, byte for byte."
    return "\n\n".join((
        head(what, sdk.package, needed),
        f"import os\n\nimport {sdk.package}",
        "\n".join(_raw_client(sdk, base, key, is_token=is_token)),
        body("BODY", request.body),
        "\n".join(_raw_call(request, sdk, path + query)),
    )) + "\n"  # fmt: skip


def _raw_client(sdk: RawSdk, base: str, key: str, *, is_token: bool) -> Iterator[str]:
    others = [name for name in sdk.ambient if name != key]
    yield f'KEY = os.environ["{key}"]'
    yield "# The SDK would also send the values of these variables."
    yield f"for name in {json.dumps(others)}:"
    yield "    os.environ.pop(name, None)"
    argument = sdk.token_argument if is_token else "api_key"
    yield f"client = {sdk.package}.{sdk.client}(base_url={base}, {argument}=KEY, max_retries=0, timeout={PATIENCE})"


def _raw_call(request: RequestToSend, sdk: RawSdk, path: str) -> Iterator[str]:
    headers = [(n, value) for n, value in request.headers if not _is_of_the_sdk(n, value)]
    yield f"{'stream' if request.is_stream else 'answer'} = client.post("
    yield f"    {json.dumps(path)},"
    yield "    content=BODY,  # keyword arguments would be serialised again"
    if headers:
        yield "    options={"
        yield '        "headers": {'
        yield from (f"            {json.dumps(n)}: {text(value)}," for n, value in dict(headers).items())
        yield "        }"
        yield "    },"
    yield f"    cast_to={sdk.answer},"
    if request.is_stream:
        yield "    stream=True,"
        yield f"    stream_cls={sdk.stream},"
    yield ")"
    if request.is_stream:
        yield "for event in stream:"
        yield "    print(event.model_dump_json(), flush=True)"
    else:
        yield "print(answer.model_dump_json(indent=2))"


def _is_of_the_sdk(name: str, value: tuple[object, ...]) -> bool:
    return name.lower().startswith(_OF_THE_SDK) or any(isinstance(piece, SecretVariable) for piece in value)


def _split(request: RequestToSend, sdk: RawSdk) -> tuple[str, str, str]:
    """Base URL as an expression, path and query of the call. Raises LocalProtocolError."""
    *base, last = request.url
    if not isinstance(last, bytes) or any(isinstance(p, SecretVariable) and p.name != "BASE_URL" for p in base):
        raise LocalProtocolError("the URL contains a secret", hint="--as python sends it")
    path, _, query = last.decode().partition("?")
    end = next((known for known in sdk.paths if path.endswith(known)), "")
    start = path.removesuffix(end).encode()
    return text([*base, start] if start else base), end, f"?{query}" if query else ""


def _key(request: RequestToSend) -> tuple[str, bool]:
    """The variable of the key, and whether it was sent as a bearer token."""
    for name, value in request.headers:
        for piece in value:
            if isinstance(piece, SecretVariable) and piece.name != "COOKIE":
                return piece.name, name.lower() == "authorization"
    host = request.url[0].decode() if isinstance(request.url[0], bytes) else ""
    own = contracts.key_variable(host) or "API_KEY"
    return own, False


def _own(request: RequestToSend, sdk: TransportSdk) -> str:
    needed = variables(request)
    what = f"Send the recorded request again through the SDK {sdk.package}: the same body, byte for byte."
    stdlib = ["import os", ""] if needed else []
    return "\n\n".join((
        head(what, sdk.package, needed),
        "\n".join((*stdlib, *sdk.imports)),
        "\n".join(_body_lines(request)),
        "\n".join(_transport()),
        "\n".join(_own_call(request, sdk)),
    )) + "\n"  # fmt: skip


def _body_lines(request: RequestToSend) -> Iterator[str]:
    yield f"URL = {text(request.url)}"
    yield "HEADERS = ["
    yield from (f"    {header(name, value)}," for name, value in request.headers)
    yield "]"
    yield body("BODY", request.body)


def _transport() -> Iterator[str]:
    yield "\nclass Recorded(httpx.HTTPTransport):"
    yield '    """The SDK accepts no raw bytes: the recorded body replaces the body that the SDK writes."""'
    yield ""
    yield "    def handle_request(self, request):"
    yield '        sent = httpx.Request("POST", URL, headers=HEADERS, content=BODY, extensions=request.extensions)'
    yield "        return super().handle_request(sent)"
    yield ""


def _own_call(request: RequestToSend, sdk: TransportSdk) -> Iterator[str]:
    if "Recorded()" not in sdk.client:
        yield f"http = httpx.Client(transport=Recorded(), timeout={PATIENCE})"
    yield f"client = {sdk.client}"
    if request.is_stream:
        yield f"for event in {sdk.stream}:"
        yield "    print(event.model_dump_json(), flush=True)"
    else:
        yield f"print({sdk.answer}.model_dump_json(indent=2))"
