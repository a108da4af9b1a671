"""A text that repeats an earlier one is searched in part, with the result of a search of all of it."""

from __future__ import annotations

import json
import random
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.planted import BY_SHAPE, KINDS, pem
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest
from workbench.wire.predecessors import Predecessors, common_end, common_start
from workbench.wire.redaction import Redactor
from workbench.wire.secrets import find
from workbench.wire.secrets.histories import HistorySearch
from workbench.wire.secrets.names import word_set

WORDS = word_set("the file has more lines and key words like token or password are in them but no value of any")
KEY = "sk-proj-" + "Ab3dEf6hIj9" * 4


def prose(dice: random.Random, size: int) -> str:
    return " ".join(dice.choices(WORDS, k=size // 5))


def table(dice: random.Random, rows: int) -> str:
    sign = dice.choice(("|", ",", "\t"))
    lines = [sign.join(("user", "password", "note"))]
    lines += [sign.join((f"bob{n}", f"hx{dice.randrange(10**9)}Qz", "ok")) for n in range(rows)]
    return "\n".join(lines)


def block(dice: random.Random) -> str:
    """A text with a secret, or with a part of what makes one."""
    secret = dice.choice(list(KINDS.values()))
    forms = (
        lambda: pem().partition("-----END")[0],
        lambda: prose(dice, dice.randrange(40, 4000)),
        lambda: f"it is {secret}",
        lambda: f'{{"api_key": "{secret}", "password": "{secret}"}}',
        lambda: f"export API_KEY={secret}",
        lambda: b64encode((prose(dice, dice.randrange(10, 900)) + f" API_KEY={secret} end").encode()).decode(),
        lambda: b64encode(dice.randbytes(dice.randrange(9000))).decode(),
        lambda: table(dice, dice.randrange(1, 200)),
        lambda: f"bob|hx{dice.randrange(10**9)}Qz|ok",
        lambda: pem(),
        lambda: "-----END RSA PRIVATE KEY-----",
        lambda: '"password": "',
        lambda: f"password='{secret}",
        lambda: "Cookie: a=1; session=" + "x7Kq9" * dice.randrange(2, 400),
        lambda: json.dumps({"kty": "RSA", "n": "q7" * 200, "d": "Zk3" * 200}),
        lambda: "aws_secret_access_key = ",
        lambda: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY",
        lambda: " " * dice.randrange(400),
        lambda: 'say "' + "q" * dice.randrange(600) + '"',
    )
    often = [0.05, *[1.0] * (len(forms) - 1)]  # the first reaches far, and all of the text is searched then
    return dice.choices(forms, often)[0]()


def body(dice: random.Random, elements: list[str]) -> bytes:
    """A request with these elements, and long members on both sides of them."""
    around = [{"type": "text", "text": prose(random.Random(n), 600)} for n in range(40)]
    request = {"model": "m", "system": around, "messages": elements, "tools": [*around, dice.choice(("", "x"))]}
    return json.dumps(request).encode()


def edit(dice: random.Random, text: bytes) -> bytes:
    """The text with another byte range in place of one of its own, anywhere."""
    at = dice.randrange(len(text))
    until = min(len(text), at + dice.choice((0, 1, 30, 3000)))
    return text[:at] + dice.choice(("", block(dice))).encode() + text[until:]


@given(st.integers(0, 2**40))
def test_a_history_is_searched_as_if_all_of_it_were(seed: int) -> None:
    dice = random.Random(seed)
    search, seen, elements = HistorySearch(), set[bytes](), [block(dice)]
    for _ in range(6):
        elements += [block(dice) for _ in range(dice.randrange(3))]
        if dice.random() < 0.2:
            del elements[: dice.randrange(len(elements))]
        text = body(dice, elements)
        if dice.random() < 0.4:
            text = edit(dice, text)
        assert search.find(text, seen) == find(text, seen)
        if dice.random() < 0.3:  # a secret is learned late: one that is in the text, in any layer
            at = dice.randrange(len(text) - 30)
            seen.add(dice.choice((text[at : at + 12], b64encode(text[at : at + 12]), b"never there", b"nor this")))


@given(st.integers(0, 2**40))
def test_a_secret_over_every_border_is_found(seed: int) -> None:
    dice = random.Random(seed)
    secret = dice.choice(list(BY_SHAPE.values()))
    whole = body(dice, [prose(dice, 5000), f"API_KEY={secret}", prose(dice, 5000)])
    at = whole.index(json.dumps(secret)[1:-1].encode())
    search, found = HistorySearch(), find(whole, ())
    for cut in range(at - 9, at + len(secret) + 9, 7):
        search.find(whole[:cut] + prose(dice, 300).encode() + whole[cut:], ())
        assert search.find(whole, ()) == found


def test_only_what_is_new_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.wire.secrets import histories

    sizes = list[int]()

    def counted(text: bytes, seen: frozenset[bytes]) -> object:
        sizes.append(len(text))
        return real(text, seen)

    real = histories.search
    monkeypatch.setattr(histories, "search", counted)
    dice, search = random.Random(3), HistorySearch()
    elements = [prose(dice, 2000) for _ in range(60)]
    search.find(body(dice, elements), ())
    search.find(body(dice, [*elements, f"API_KEY={KEY}"]), {b"learned-late-1"})
    assert sizes[1] < sizes[0] // 4


def test_a_secret_of_a_later_header_is_replaced_in_the_history_too() -> None:
    redactor, token = Redactor(salt=b"t"), "plain-word-Secret42"
    text = body(random.Random(1), [f"use {token} here", prose(random.Random(2), 20_000)])
    asked = HttpRequest("POST", "https://a.example/v1/messages", Headers(), Body(text))
    before = redactor.exchange(Exchange("1", asked)).request
    later = HttpRequest("POST", asked.url, Headers((("x-api-key", token),)), Body(text[:-2] + b', "stream": true}'))
    after = redactor.exchange(Exchange("2", later)).request
    assert before and after
    assert token.encode() in before.body.raw
    assert token.encode() not in after.body.raw


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_common_ends(start: bytes, one: bytes, end: bytes) -> None:
    texts = start + one + end, start + end
    size = common_start(*texts)
    assert texts[0][:size] == texts[1][:size]
    assert texts[0][size : size + 1] != texts[1][size : size + 1] or size == min(map(len, texts))
    most = min(map(len, texts)) - size
    back = common_end(*texts, most)
    assert back == most or texts[0][-back - 1] != texts[1][-back - 1]
    assert not back or texts[0][-back:] == texts[1][-back:]


def test_of_several_conversations_the_nearest_is_repeated() -> None:
    earlier = Predecessors[str]()
    talks = {name: name.encode() * 5000 for name in ("a", "b", "c")}
    for name, text in talks.items():
        repeated = earlier.closest(text)
        assert repeated is None or repeated.start == 0
        earlier.remember(text, name, repeated)
    for name, text in talks.items():
        repeated = earlier.closest(text + b"more")
        assert repeated
        assert (repeated.before.known, repeated.start) == (name, 5000)
        earlier.remember(text + b"more", name, repeated)
