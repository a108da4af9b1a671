"""Which upstream a target leads to, and what it is there."""

from __future__ import annotations

import pytest

from workbench.errors import UsageError
from workbench.recorder.relay.routes import Routes, parse_upstream
from workbench.wire.http1.head import BadMessage

ONE = {
    ("http://h", "/v1/x?q"): "/v1/x?q",
    ("http://h/", "/"): "/",
    ("http://h/v1", "/x"): "/v1/x",
    ("http://h/v1/", "/"): "/v1/",
    ("http://h/a/b", "/?q=1"): "/a/b/?q=1",
}


@pytest.mark.parametrize(("given", "there"), ONE.items())
def test_one_upstream_has_the_whole_listener(given: tuple[str, str], there: str) -> None:
    routes = Routes({"any name": given[0]})
    assert routes.find(given[1].encode())[1] == there.encode()
    assert routes.path("any name") == ""


SEVERAL = {
    "/one/x?q": ("one", "/v1/x?q"),
    "/one/": ("one", "/v1/"),
    "/one": ("one", "/v1"),
    "/one?q": ("one", "/v1?q"),
    "/two": ("two", "/"),
    "/two?q": ("two", "/?q"),
    "/two//x": ("two", "//x"),
    "/two/one/x": ("two", "/one/x"),
}


@pytest.mark.parametrize(("target", "expected"), SEVERAL.items())
def test_several_have_a_path_each(target: str, expected: tuple[str, str]) -> None:
    routes = Routes({"one": "https://h/v1", "two": "http://h"})
    upstream, there = routes.find(target.encode())
    assert (upstream.name, there.decode()) == expected
    assert routes.path("one") == "/one"


@pytest.mark.parametrize("target", ["/", "/three/x", "/ONE/x", "/onetwo", "/v1/x", "//one/x", "/%6fne/x", "/?one"])
def test_an_unknown_name_is_not_found(target: str) -> None:
    with pytest.raises(BadMessage, match="available: /one/…, /two/…") as caught:
        Routes({"one": "http://h", "two": "http://h"}).find(target.encode())
    assert caught.value.status == 404


BASES = {
    "https://API.example.com": ("api.example.com", 443, b"API.example.com"),
    "http://127.0.0.1:8000/v1": ("127.0.0.1", 8000, b"127.0.0.1:8000"),
    "http://[::1]:80": ("::1", 80, b"[::1]:80"),
    "HTTPS://h": ("h", 443, b"h"),
}


@pytest.mark.parametrize(("base", "expected"), BASES.items())
def test_base_urls(base: str, expected: tuple[str, int, bytes]) -> None:
    upstream = parse_upstream("x", base)
    assert (upstream.host, upstream.port, upstream.authority) == expected
    assert upstream.url(b"/a?b").lower() == base.removesuffix("/v1").lower() + "/a?b"


@pytest.mark.parametrize(
    "base",
    ["", "h:80", "ftp://h", "http://", "http://u:p@h", "http://@h", "http://h?q", "http://h#f", "http://h:x", "http://h:99999",
     "http://h/a b", "http://h/\r\nX: 1", "http://[::1", "http://bücher.example"],
)  # fmt: skip
def test_what_is_no_base_url(base: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_upstream("x", base)
    assert str(caught.value).isascii() and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "base",
    ["http://me:hunter2@h:x", "ftp://me:hunter2@h", "http://me:hunter2@[::1", "me:hunter2@h", "http://me:hunt/hunter2@h:x",
     "ftp://h?key=hunter2", "http://me:hunter2@h/\x01"],
)  # fmt: skip
def test_a_password_in_a_bad_url_is_not_repeated(base: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_upstream("x", base)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("upstreams", [{}, {"": "http://h", "x": "http://h"}, {"a/b": "http://h", "x": "http://h"}])
def test_what_are_no_upstreams(upstreams: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        Routes(upstreams)
