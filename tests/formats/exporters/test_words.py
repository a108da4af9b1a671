"""The words of the shell, read back by a shell."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.formats.exporters._request_to_send import (
    Piece,
    SecretVariable,
    is_pasteable,
    printf_command,
    shell_word,
    word,
)

SHELLS = [s for s in ("sh", "dash", "bash", "zsh") if shutil.which(s)]
NASTY = [
    b"plain", b"", b"it's", b"$(touch x)`id`${HOME}", b'"double"', b"a\\", b"\\'; id #", b"-n", b"-e\\c", b"%s %d %%",
    b"new\nline", b"tab\there", b"\x1b]52;c;aGk=\x07", b"\xff\xfe\x80", "日本語 é".encode(),
    "\u202e\u200b\xa0".encode(),
    b"!history", b"~root", b"=ls", b"*?[a]{b,c}", b"; rm -rf /", b"a\rb", b"#", b"<(x)", b"\\134", b"&& x", b"a'\\''b",
]  # fmt: skip


def run(script: str, shell: str = "sh") -> bytes:
    done = subprocess.run([shell], input=script.encode(), capture_output=True, env={"KEY": "k'e\"y $x"}, check=True)
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("data", NASTY)
def test_a_word_is_the_bytes_whatever_they_are(data: bytes, shell: str) -> None:
    assert run(f"printf %s {word([data])}", shell) == data
    assert run(printf_command([data + b"\0\n"]), shell) == data + b"\0\n"


def test_many_words_in_one_shell() -> None:
    script = "\n".join(f"printf '%s\\0' {word([data])}" for data in NASTY)
    assert run(script).split(b"\0")[:-1] == NASTY


@settings(max_examples=25)
@given(st.lists(st.binary(max_size=30).filter(lambda b: b"\0" not in b and not b.endswith(b"\n")), min_size=1))
def test_any_bytes(items: list[bytes]) -> None:
    script = "\n".join(f"printf '%s\\0' {word([data])}" for data in items)
    assert run(script).split(b"\0")[:-1] == items


@given(st.text(max_size=40))
def test_what_is_written_can_be_pasted(text: str) -> None:
    made = word([text.encode("utf-8", "surrogatepass")])
    assert made.replace("\n", "").isprintable()
    assert "\\'\"" not in made.removesuffix("'\"")


@pytest.mark.parametrize(
    "pieces", [[b"a 'b' ", SecretVariable("KEY"), b"$c"], [SecretVariable("KEY")], [b"\x1b%", SecretVariable("KEY")]]
)
def test_variables_stand_beside_the_quotes(pieces: list[Piece]) -> None:
    expected = b"".join(p if isinstance(p, bytes) else b"k'e\"y $x" for p in pieces)
    assert run(f"printf %s {word(pieces)}") == expected


def test_the_usual_word_is_easy_to_read() -> None:
    assert word([b"x-api-key: ", SecretVariable("KEY")]) == "'x-api-key: '\"${KEY:?set it first}\""
    assert shell_word([b'{"a": 1}']) == "'{\"a\": 1}'"
    assert word([b"POST"]) == "POST"
    assert not is_pasteable([b"\x1b"])
