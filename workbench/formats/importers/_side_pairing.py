"""Joins adjacent sides in a text into exchanges: a request, and the next response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.errors import WireError
from workbench.wire import Exchange, HttpRequest, HttpResponse, loads, urls


def pair_sides(sides: Sequence[Exchange]) -> Iterator[Exchange]:
    """Exchanges of single sides, in order; an exchange with both sides is kept as it is.

    A log may contain a request twice: the same body in another form, or a line with the URL and no body. Both are one.
    """
    open_one: Exchange | None = None
    for side in sides:
        if side.request and side.response:
            yield from _finish(open_one)
            open_one = None
            yield side
        elif side.request:
            same = open_one and open_one.request and not open_one.response
            if open_one and same and _is_same(open_one, side):
                open_one = _merged_request(open_one, side)
                continue
            yield from _finish(open_one)
            open_one = side
        elif side.response and open_one and (answer := _answer(open_one, side.response)):
            open_one = replace(open_one, response=answer)
        else:
            yield from _finish(open_one)
            open_one = side
    yield from _finish(open_one)


def _finish(exchange: Exchange | None) -> Iterator[Exchange]:
    """Drop exchanges without any body: log lines with only a URL or status cannot be judged."""
    if exchange is None:
        return
    has_body = any(side and side.body.raw for side in (exchange.request, exchange.response))
    if has_body:
        yield _without_named_answer(exchange)


def _without_named_answer(exchange: Exchange) -> Exchange:
    """Drop a response of which the log has the status and no body: it was not an empty response."""
    answer = exchange.response
    if answer is None or answer.body.raw or answer.status >= 400 or answer.headers.get("content-length") == "0":
        return exchange
    return replace(exchange, response=None, note=f"{exchange.note}; status {answer.status}, response body not logged")


def _answer(before: Exchange, response: HttpResponse) -> HttpResponse | None:
    """The response extended by one more piece; None if the piece belongs to another response."""
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
    first, second = urls.split_url(one).path.rstrip("/"), urls.split_url(other).path.rstrip("/")
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
