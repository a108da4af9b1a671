"""Removes secrets from the exchanges of a selection, wherever it is repeated, and writes session files so."""

from __future__ import annotations

import json
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._private_text import RedactedSession
from workbench.formats.exporters._value_cache import CachingRedactor
from workbench.lazy_dataclass import replace
from workbench.wire import Body, Exchange, HttpRequest, HttpResponse, Redactor
from workbench.wire.session import MemorySession, store


def without_secrets(selection: ExportSelection) -> Iterator[tuple[int, Exchange]]:
    """Yield (index, exchange) with secrets replaced and marked; bodies with a secret have no content coding.

    Raises:
        SessionFormatError: an exchange cannot be read.
    """
    if isinstance(selection.session, RedactedSession):
        return selection.exchanges()
    redactor = knowing(selection)
    return ((index, redactor.exchange(exchange)) for index, exchange in selection.exchanges())


def utf8_header(value: str) -> str:
    """Text of a header value, decoded as UTF-8 if its bytes are."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def utf8_text(text: str) -> str:
    """Text for a UTF-8 file: lone surrogates are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def knowing(selection: ExportSelection, salt: bytes | None = None) -> Redactor:
    """Redactor that knows the secrets of all headers and URLs, raw and as other texts encode them.

    For a session in memory, which no recorder has searched, the secrets of all its exchanges are known.
    """
    redactor = CachingRedactor(salt) if salt is not None else CachingRedactor()
    session = selection.session
    read = session.exchanges if isinstance(session, MemorySession) else (e for _, e in selection.exchanges())
    for exchange in read:
        redactor.exchange(_heads(exchange))
    for secret in list(redactor.seen):
        text = secret.decode("latin-1")
        for encoded_text in (quote(text, safe=""), json.dumps(text)[1:-1], text.replace("/", "\\/")):
            redactor.seen.add(encoded_text.encode("latin-1", "replace"))
        redactor.seen.update(_in_base64(secret))
    return redactor


def _in_base64(secret: bytes) -> Iterator[bytes]:
    """A secret in base64, alone and inside longer text, in either alphabet."""
    forms = [b64encode(secret).rstrip(b"=")]
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(secret)) * 8 // 6  # characters that say nothing else
        forms.append(b64encode(bytes(before) + secret)[first:last])
    for form in forms:
        yield form
        yield form.translate(bytes.maketrans(b"+/", b"-_"))


def _heads(exchange: Exchange) -> Exchange:
    """The exchange without bodies: its headers and URLs name the secrets."""
    request: HttpRequest | None = exchange.request and replace(exchange.request, body=Body())
    response: HttpResponse | None = exchange.response and replace(exchange.response, body=Body())
    return replace(exchange, request=request, response=response, frames=())


class _NoRedactor(Redactor):
    """A redactor that finds nothing: its input contains no secrets any more."""

    def exchange(self, exchange: Exchange) -> Exchange:
        return exchange


def session_file(selection: ExportSelection, form: str) -> ExportResult:
    """Write the exchanges as a session file. Raises SessionFormatError, OSError.

    Args:
        form: ``store.TEXT`` or ``store.RECORDING``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        exchanges = (exchange for _, exchange in without_secrets(selection))
        session = selection.session
        report = store.save(exchanges, path, _NoRedactor(), session.about, form, store.copied_id(session))
        count = report.redactions
        note = (f"{count:,} secrets are replaced by stand-ins" if count > 1 else "a secret is replaced by a stand-in",)
        return one_file(path.read_bytes(), (note if count else ()) + tuple(f"damaged: {d}" for d in report.damage))
