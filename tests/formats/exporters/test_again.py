"""What comes again is gone through once, and comes out as if each text had been gone through by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.config.resources import folder
from workbench.formats.exporters._kept_words import FIXED, TEXT, contract_words
from workbench.formats.exporters._private_json import PrivateJson, StandIns
from workbench.formats.exporters._private_text import redact_session
from workbench.formats.exporters._value_cache import CachingRedactor, ValueCache
from workbench.formats.importers import open_input
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest
from workbench.wire.json_scan import decode, encode
from workbench.wire.jsontext import runs
from workbench.wire.redaction import Redactor
from workbench.wire.session import MemorySession, exchanges_of

SALT = b"of a test"
KEY = "sk-ant-REDACTED"


@pytest.mark.parametrize("path", sorted(folder("sessions").glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_examples_are_what_they_are_one_by_one(path: Path) -> None:
    exchanges = list(exchanges_of(open_input(str(path))))
    kept = FIXED.union(*(contract_words(DecodedExchange(n, exchange)) for n, exchange in enumerate(exchanges)))
    alone, again = (PrivateJson(StandIns(kept, TEXT, SALT)) for _ in range(2))
    for exchange in exchanges:
        text = exchange.request.body.raw if exchange.request else b""
        alone_made = encode(PrivateJson(alone.words).body(decode(text)))  # knows no string, and every stand-in
        assert again.request(text, runs(text)) == alone_made


def test_what_is_made_is_made_once_while_there_is_room() -> None:
    asked: list[str] = []
    again: ValueCache[str, str] = ValueCache(most=10)
    for text in ("one", "two", "one", "three", "one", "four", "three"):
        assert again.get(text, 5, lambda key: asked.append(key) or key.upper()) == text.upper()
    assert asked == ["one", "two", "three", "four"]
    again.forget()
    assert again.get("one", 5, str.title) == "One"


MESSAGE = {"role": "user", "content": f"my key is {KEY}"}
PLAIN = {"role": "user", "content": 'words, "quoted"'}


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [PLAIN, PLAIN]},
        {"messages": [PLAIN, MESSAGE, MESSAGE], "tools": [PLAIN]},
        {"system": KEY, "messages": [PLAIN], "user": KEY, "password": "correct horse"},
        {"messages": [{"content": '"password": "'}, {"content": "correct-horse-battery"}]},
        {"messages": [{"content": "remembered-0123"}]},
    ],
)
def test_a_secret_is_found_where_every_redactor_finds_it(body: object) -> None:
    plain, again = Redactor(SALT), CachingRedactor(SALT)
    for indent in (None, 12):
        text = json.dumps(body, indent=indent).encode()
        for secret in ("", "remembered-0123"):
            for redactor in (plain, again):
                redactor.remember(secret)
            assert again.text(text) == plain.text(text) == again.text(text)


def test_an_exchange_is_the_same_whenever_it_is_asked_for() -> None:
    def asked(*said: str) -> Exchange:
        value = {"model": "m", "messages": [{"role": "user", "content": text} for text in said]}
        body = Body(json.dumps(value).encode())
        return Exchange("1", HttpRequest("POST", "https://api.openai.com/v1/chat/completions", Headers(), body))

    source = MemorySession("it", tuple(asked(*("about Amelia", "and Otto", "and all")[:n]) for n in (1, 2, 3)))
    inward, outward = redact_session(source, SALT), redact_session(source, SALT)
    backwards = [outward.exchange(n) for n in (2, 1, 0)]
    assert list(exchanges_of(inward)) == backwards[::-1]
    assert [s.request_bytes for s in inward.summaries()] == [s.request_bytes for s in source.summaries()]
    assert inward.summaries()[:2] == tuple(inward.summaries())[:2] and not inward.refresh()
