"""Hostile text: no traceback, one line, and cost that grows with the length."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.unwrapping.wrapped import ANSWERS, BODIES, REQUESTS, answer, request
from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector

SMALL = 300
MOST_GROWTH = 6
LEAST_SECONDS = 0.03
"""What is faster than this is measured as this: start-up is not growth."""

GENERATORS: dict[str, Callable[[int], str]] = {
    "curls": lambda n: "curl 'x\n" * n,
    "curls2": lambda n: 'curl "https://a.b/c" -d "{\n' * n,
    "curl-good": lambda n: 'curl https://a.b/v1/messages -d \'{"model":"m","messages":[]}\'\n' * n,
    "open braces": lambda n: "{" * n,
    "open [": lambda n: "[" * n,
    '{"a": newline': lambda n: '{"model":\n' * n,
    "quotes": lambda n: "'" * n,
    "data:": lambda n: "data: {\n" * n,
    "data ok": lambda n: 'data: {"a":1}\n\n' * n,
    "x data": lambda n: 'x data: {"a":1}\n' * n,
    "http body": lambda n: "POST https://a HTTP/1.1\nA: b\n\n{\n" * n,
    "resp": lambda n: "HTTP/1.1 200 OK\nA: b\n\n[\n" * n,
    "verbose": lambda n: "> POST / HTTP/1.1\n< HTTP/1.1 200\n<\n{\n" * n,
    "fences": lambda n: "```\nx\n```\n" * n,
    "fences growing": lambda n: "".join("`" * (3 + k % 50) + "\n" for k in range(n)),
    "calls": lambda n: "fetch(" * n,
    "made": lambda n: "Aaa(a=" * n,
    "made ok": lambda n: "Aaa(content='x', id='1')\n" * n,
    "fields": lambda n: "id='a' b=1 " * n,
    "assign": lambda n: "a = {\n" * n,
    "send": lambda n: "send: b'POST / HTTP/1.1\\r\\n'\n" * n,
    "reply": lambda n: "reply: 'HTTP/1.1 200 OK'\nheader: A: b\n" * n,
    "options": lambda n: "Request options: {'url': 'x', 'json_data': {'model': 'm', 'messages': []}}\n" * n,
    "options bad": lambda n: "Request options: {'url': 'x', 'json_data': {'model': \n" * n,
    "power2": lambda n: "iwr 'https://x' `\n" * n,
    "here": lambda n: "$a = @'\n" * n,
    "heredoc": lambda n: "curl https://a/b -d @- <<EOF\n" * n,
    "caret": lambda n: 'curl ^"a^" ^\n' * n,
    "osc": lambda n: "\x1b]" * n,
    "yaml2": lambda n: "messages:\n" + "- a: b\n" * n,
    "yaml indented": lambda n: "a:\n" + "- b:\n    - c\n" * n,
    "yaml unlike": lambda n: "a: b\n" + "    c\n" * n + "end",
    "variables": lambda n: "AAA=" * n + "\nend",
    "toml": lambda n: "a =" + " " * n + "= b\n",
    "prefix2": lambda n: "DEBUG " * n + "\nINFO x",
    "jsonlog": lambda n: '{"log":"x\\n"}\n' * n,
    "printed": lambda n: "b'data: x'\n" * n,
    "triple": lambda n: "{'''" * n,
    "values": lambda n: '{"model":"m","messages":[]}\n' * n,
    "events": lambda n: 'x {"type":"ping"}\n' * n,
    "[ ws": lambda n: "[" + " " * n + "x",
    "hash": lambda n: "{# \n" * n,
    "csv": lambda n: "a,b,c\n" + ",," * n,
    "id=": lambda n: "id='" * n,
    "class": lambda n: "{a: Request [x] " * n,
    "elided": lambda n: "{model: [Object], messages: [\n" * n,
    "backslash": lambda n: "curl https://a/b \\\n" * n,
}


def seconds(text: str) -> float:
    """CPU time of opening a text, whatever comes of it."""
    start = time.process_time()
    with suppress(UnreadableInput):
        open_input("-", stdin=io.BytesIO(text.encode()))
    return time.process_time() - start


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", GENERATORS)
def test_cost_grows_with_the_length(name: str) -> None:
    make = GENERATORS[name]
    before = max(seconds(make(SMALL)), LEAST_SECONDS)
    most = MOST_GROWTH * before  # others use the machine, too: what is quadratic is so each time
    assert any(seconds(make(4 * SMALL)) <= most for _ in range(3))


PIECES = st.sampled_from(
    [
        *("curl https://a.b/v1 -d '", "'", '"', "{", "}", "[", "]", "\\\n", "\n", "data: ", "event: x\n", "<<EOF\n"),
        *(
            "POST /v1/messages HTTP/1.1\n",
            "HTTP/1.1 200 OK\n",
            "> ",
            "< ",
            "* ",
            "```\n",
            "Request options: ",
            "send: b'",
        ),
        *(
            '{"model": "m", "messages": [',
            '"role": "user"',
            "ChatCompletion(",
            "id='x' ",
            "a=",
            "^",
            "`",
            "$'",
            "fetch(",
        ),
        *("model: x\n", "- ", "\\u", "\\x", "b'", "@{", "\ufeff", "\0", "Invoke-RestMethod -Uri ", "[Object]", "\x1b["),
    ]
)


@pytest.mark.parametrize("escape", ["9", "8x", "²", "٣", "777", "u{110000}", "UFFFFFFFF", "xZZ", "ud83d"])
def test_escapes_that_mean_nothing_are_what_they_are(escape: str) -> None:
    said = f"it is \\{escape}"
    python = f"{{'model': 'm', 'messages': [{{'role': 'user', 'content': '{said}'}}]}}"
    body = f'{{"model": "m", "messages": [{{"role": "user", "content": "{said}"}}]}}'
    shell = f"curl https://a.b/v1/chat/completions -d $'{body}'"
    for text in (python, shell):
        session = open_input("-", stdin=io.BytesIO(text.encode()))
        assert session.exchange(0).request


@pytest.mark.parametrize("number", ["1e999", "9" * 5000, "-1e999", "1_0", "0x" + "f" * 4000, "NaN", "1.", ".5"])
def test_numbers_that_no_json_has_are_read_or_refused(number: str) -> None:
    text = f"{{'model': 'm', 'messages': [{{'role': 'user', 'content': 'x'}}], 'temperature': {number}}}"
    with suppress(UnreadableInput):
        session = open_input("-", stdin=io.BytesIO(text.encode()))
        Inspector(session).run()


@given(st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join))
def test_any_mixture_is_read_or_refused(text: str) -> None:
    with suppress(UnreadableInput):
        open_input("-", stdin=io.BytesIO(text.encode("utf-8", "replace")))


@given(st.data())
def test_what_is_cut_or_damaged_is_read_or_refused(data: st.DataObject) -> None:
    forms = [
        *(make(request("openai-chat", "it's")) for make in (*REQUESTS.values(), *BODIES.values())),
        *(make(answer("openai-chat", "x")) for make in ANSWERS.values()),
    ]
    text = data.draw(st.sampled_from(forms))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    damaged = text[:start] + data.draw(PIECES) + text[end:]
    with suppress(UnreadableInput):
        open_input("-", stdin=io.BytesIO(damaged.encode("utf-8", "replace")))
