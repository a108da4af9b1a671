"""No form of an export holds a secret, wherever it was planted and however the form writes it."""

from __future__ import annotations

import json
import string
from base64 import b64encode
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.exporters.selecting import every
from workbench.errors import LocalProtocolError
from workbench.formats import exporters
from workbench.formats.exporters._private_text import redact_session
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

FORMS = [name for name in exporters.names() if exporters.load(name).SUFFIX]
SECRETS = st.text(string.ascii_letters + string.digits + "+/=%&\"'$`", min_size=20, max_size=40).map(lambda s: "k9" + s)
KEYS = st.text(string.ascii_letters + string.digits, min_size=24, max_size=40).map(lambda s: f"sk-proj-{s}")


def planted(secret: str, key: str) -> MemorySession:
    """A secret of a header, which bodies repeat, and a key of a known form, in every place of two exchanges."""
    url = f"https://api.openai.com/v1/chat/completions?api_key={key}"
    heads = (("authorization", f"Bearer {secret}"), ("cookie", f"session={key}"), ("content-type", "application/json"))
    sealed = [b64encode(f"{'x' * n}{one} and more".encode()).decode() for n in range(3) for one in (secret, key)]
    content = f"my key is {key}, or {secret}, or {' '.join(sealed)}"
    said = {"model": "gpt-4.1", "messages": [{"role": "user", "content": content}]}
    request = HttpRequest("POST", url, Headers(heads), Body(json.dumps(said).encode()))
    told = json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}}).encode() + b"\xff"
    answer = HttpResponse(401, Headers((("set-cookie", f"a={key}"), ("x-echo", secret))), Body(told))
    plain = HttpRequest("POST", "https://api.openai.com/v1/chat/completions", Headers(), request.body)
    first = Exchange("1", plain, HttpResponse(200, body=Body(f"{secret} {key}".encode())), note=f"with {key}")
    return MemorySession("it", (first, Exchange("2", request, answer)))


def written(secret: str) -> set[bytes]:
    """A secret as texts write it."""
    escaped = json.dumps(secret)[1:-1]
    forms = {secret, quote(secret, safe=""), escaped, json.dumps(escaped)[1:-1], repr(secret)[1:-1]}
    forms |= {
        secret.replace("'", "'\"'\"'"),
        secret.replace("&", "&amp;").replace('"', "&quot;").replace("'", "&#x27;"),
    }
    inner = {b64encode(b" " * n + secret.encode())[4 : -len(secret) // 8 or None] for n in range(3)}
    return {form.encode() for form in forms} | {form for form in inner if len(form) >= 16}


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=4)
@given(secret=SECRETS, key=KEYS)
def test_no_form_holds_one(form: str, secret: str, key: str) -> None:
    session = planted(secret, key)
    chosen = exporters.load(form)
    for held in (session, redact_session(session)):
        whole = every(held)
        some = whole if form != "python-sdk" else exporters.ExportSelection(whole.inspector, (0,))
        try:
            made = chosen.write(some)
        except LocalProtocolError:
            continue
        text = b"\n".join((*made.files.values(), *(note.encode() for note in (*made.notes, *made.left_out))))
        assert text and not [form for form in written(secret) | written(key) if form in text]
