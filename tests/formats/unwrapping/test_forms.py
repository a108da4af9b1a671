"""What people paste is read as what it holds: the same request or answer as the bare body."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.unwrapping.wrapped import ANSWERS, BODIES, PATHS, REQUESTS, answer, plain, request
from workbench.formats.importers import open_input
from workbench.ir import Message
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Origin
from workbench.wire.session import Session

TRICKY = 'He said "no": it\'s `$HOME` & 100% of C:\\temp\\new – é 漢 😀 {x} ^ <tag> # // end;\n\tnext, line'
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t\"'\\`$^{}%!&"), max_size=30
)


def opened(text: str) -> Session:
    return open_input("-", stdin=io.BytesIO(text.encode()))


def said(messages: Iterable[Message]) -> list[object]:
    """What the messages say, without the places it stands at."""
    return [(m.role, [_without_source(p) for p in m.parts]) for m in messages]


def _without_source(part: object) -> tuple[object, ...]:
    names = (n for n in type(part).__slots__ if n != "source")  # type: ignore[attr-defined]
    return (type(part).__name__, *((n, getattr(part, n)) for n in names))


def _assert_same_request(text: str, body: dict[str, object], protocol: str, form: str) -> None:
    bare = DecodedExchange(0, opened(plain(body)).exchange(0), protocol).request
    session = opened(text)
    exchange = session.exchange(0)
    found = DecodedExchange(0, exchange, protocol).request
    assert bare
    assert found, (form, text)
    assert said(found.messages) == said(bare.messages), (form, text)
    assert [(t.name, t.schema) for t in found.tools] == [(t.name, t.schema) for t in bare.tools], form
    assert exchange.origin is Origin.PASTED
    assert "made" in session.about


def _assert_same_answer(text: str, body: dict[str, object], protocol: str, form: str) -> None:
    bare = DecodedExchange(0, opened(plain(body)).exchange(0), protocol).response
    found = [DecodedExchange(0, opened(text).exchange(n), protocol).response for n in range(len(opened(text)))]
    assert bare
    assert [said(f.messages) for f in found if f] == [said(bare.messages)], (form, text)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", PATHS)
@pytest.mark.parametrize("form", REQUESTS)
def test_a_pasted_request_is_the_request(form: str, protocol: str) -> None:
    body = request(protocol, TRICKY)
    text = REQUESTS[form](body).replace("URL", PATHS[protocol])
    _assert_same_request(text, body, protocol, form)
    http = opened(text).exchange(0).request
    assert http
    assert (http.url, http.method) == (PATHS[protocol], "POST")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", PATHS)
@pytest.mark.parametrize("form", BODIES)
def test_a_pasted_body_is_the_body(form: str, protocol: str) -> None:
    body = request(protocol, TRICKY)
    _assert_same_request(BODIES[form](body), body, protocol, form)
    body = answer(protocol, TRICKY)
    _assert_same_answer(BODIES[form](body), body, protocol, form)


@pytest.mark.parametrize("protocol", PATHS)
@pytest.mark.parametrize("form", ANSWERS)
def test_a_pasted_answer_is_the_answer(form: str, protocol: str) -> None:
    body = answer(protocol, TRICKY)
    if form == "SDK object" and protocol in ("gemini", "bedrock-converse"):
        pytest.skip("its SDK prints other names, or dictionaries")
    _assert_same_answer(ANSWERS[form](body), body, protocol, form)


@given(st.sampled_from(sorted(REQUESTS)), st.sampled_from(sorted(PATHS)), TEXTS)
def test_whatever_text_it_holds(form: str, protocol: str, text: str) -> None:
    body = request(protocol, text)
    _assert_same_request(REQUESTS[form](body).replace("URL", PATHS[protocol]), body, protocol, form)


@given(st.sampled_from(sorted(BODIES)), st.sampled_from(sorted(PATHS)), TEXTS)
def test_whatever_text_a_body_holds(form: str, protocol: str, text: str) -> None:
    body = request(protocol, text)
    _assert_same_request(BODIES[form](body), body, protocol, form)
