"""Sides of exchanges that follow each other in a text, put together: a request, and what comes next as its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.errors import WireError
from workbench.wire import urls
from workbench.wire.exchange import Exchange, HttpRequest, HttpResponse
from workbench.wire.jsontext import loads


def paired(sides: Sequence[Exchange]) -> Iterator[Exchange]:
    """The exchanges that lone sides make, in order; one that has both sides stays as it is.

    What a log says twice is one request: the same body in another form, or a line that names a request and has no body.
    """
    open_one: Exchange | None = None
    for side in sides:
        if side.request and side.response:
            yield from _done(open_one)
            open_one = None
            yield side
        elif side.request:
            same = open_one and open_one.request and not open_one.response
            if open_one and same and _is_same(open_one, side):
                open_one = _merged_request(open_one, side)
                continue
            yield from _done(open_one)
            open_one = side
        elif side.response and open_one and (answer := _answer(open_one, side.response)):
            open_one = replace(open_one, response=answer)
        else:
            yield from _done(open_one)
            open_one = side
    yield from _done(open_one)


def _done(exchange: Exchange | None) -> Iterator[Exchange]:
    """Lines that only name a request, with a status or without, hold nothing that could be judged."""
    if exchange is None:
        return
    has_body = any(side and side.body.raw for side in (exchange.request, exchange.response))
    if has_body:
        yield _without_named_answer(exchange)


def _without_named_answer(exchange: Exchange) -> Exchange:
    """A log may name the status of an answer and not show its body: that is no empty answer."""
    answer = exchange.response
    if answer is None or answer.body.raw or answer.status >= 400 or answer.headers.get("content-length") == "0":
        return exchange
    return replace(
        exchange, response=None, note=f"{exchange.note}; status {answer.status}, without the body of the answer"
    )


def _answer(before: Exchange, response: HttpResponse) -> HttpResponse | None:
    """The answer of an exchange with one more piece of it; None where that is another answer."""
    held = before.response
    if held is None:
        return response
    if not response.body.raw and not held.headers and response.status == held.status:
        return replace(held, headers=response.headers)
    if not held.body.raw and response.body.raw:
        return replace(held, body=response.body, headers=held.headers if held.headers else response.headers)
    return None


def _is_same(one: Exchange, other: Exchange) -> bool:
    first, second = one.request, other.request
    assert first and second
    if not first.body.raw or not second.body.raw:
        return _may_be_one(first.url, second.url)
    return one.note != other.note and _value(first) is not None and _value(first) == _value(second)


def _may_be_one(one: str, other: str) -> bool:
    if not one or not other:
        return True
    first, second = urls.split(one).path.rstrip("/"), urls.split(other).path.rstrip("/")
    return first.endswith(second) or second.endswith(first)


def _value(request: HttpRequest) -> object:
    try:
        return loads(request.body.raw)
    except WireError:
        return None


def _merged_request(one: Exchange, other: Exchange) -> Exchange:
    first, second = one.request, other.request
    assert first and second
    url = max(first.url, second.url, key=lambda u: ("://" in u, len(u)))
    exact = [r.body for r in (first, second) if r.body.raw]
    body = next((b for b in exact if b.is_raw), exact[0] if exact else first.body)
    headers = max(first.headers, second.headers, key=len)
    return replace(one, request=replace(first, url=url, body=body, headers=headers))
