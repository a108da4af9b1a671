"""Finds secrets by their position in a command, call or file with known keywords."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.wire.secrets.names import Family
from workbench.wire.secrets.shapes import ShapedSecret
from workbench.wire.secrets.values import Style, is_secret

_OPEN: Final = rb"[\\\"']{0,8}"
_QUOTED: Final = rb"[bBrR]?[\\]{0,6}[\"']"
_VALUE: Final = rb"(?P<value>[^\s\"'`\\;&<>|]{6,4096})"
_PAIR: Final = (
    _QUOTED + rb"[^\s\"'\\]{0,80}[\\]{0,6}[\"'],\s{0,40}" + _QUOTED + rb"(?P<value>[^\s\"'\\]{6,4096})[\\]{0,6}[\"']"
)

_HTTPIE: Final = rb"https?[ ](?:[^\n|;&]{0,200}?[ ])?(?:-a|--auth)[ =]" + _OPEN + rb"[^\s:\"']{0,80}:" + _VALUE

_FORMS: Final = tuple(
    (sign, mark, regex.compile(rb"(?i)" + form))
    for sign, mark, form in (
        (b" -p", b"mysql", rb"mysql\w*[ ](?:[^\n|;&]{0,200}?[ ])?-p" + _OPEN + _VALUE),
        (b" -p", b"mariadb", rb"mariadb[\w-]*[ ](?:[^\n|;&]{0,200}?[ ])?-p" + _OPEN + _VALUE),
        (b" -p", b"sshpass", rb"sshpass[ ]+-p[ ]?" + _OPEN + _VALUE),
        (b" -p", b" login", rb"[ ]login[ ](?:[^\n|;&]{0,200}?[ ])?-p[ ]" + _OPEN + _VALUE),
        (b" -p", b"mongo", rb"mongo\w*[ ](?:[^\n|;&]{0,200}?[ ])?-p[ ]" + _OPEN + _VALUE),
        (b" -a ", b"redis-cli", rb"redis-cli[ ](?:[^\n|;&]{0,200}?[ ])?-a[ ]" + _OPEN + _VALUE),
        (b"repass", b"requirepass", rb"requirepass[ \t]+" + _OPEN + _VALUE),
        (b" -a", b"http", _HTTPIE),
        (b" --auth", b"http", _HTTPIE),
        (b"auth", b"auth", rb"auth\w{0,5}[\\\"']{0,8}(?:\s{0,4}[=:]\s{0,4}[(\[]|\()\s{0,40}" + _PAIR),
    )
)
"""For each form: a rare text it contains, its start, both in lower case; and its full pattern."""
_SIGNS: Final = frozenset(sign for sign, _, _ in _FORMS)

_OF_KEY: Final = regex.compile(
    rb"[\\]{0,12}\"(?:d|p|q|dp|dq|qi|k)[\\]{0,12}\"\s{0,8}:\s{0,8}[\\]{0,12}\"(?P<value>[^\s\"\\]{14,2048})"
)
_OBJECT: Final = regex.compile(rb"[^{}]{0,4096}")
_PUTTY: Final = regex.compile(rb"Private-Lines: [0-9]{1,3}\s{1,8}(?P<value>(?:[A-Za-z0-9+/=]{2,64}[\s\\]{1,4}){1,999})")


def find_by_form(text: bytes, lower: bytes) -> Iterator[ShapedSecret]:
    """Secrets of a view at the positions where commands, calls and keys have them."""
    signs = {sign: sign in lower for sign in _SIGNS}
    for sign, mark, form in _FORMS:
        at = lower.find(mark) if signs[sign] else -1
        while at >= 0:
            found = form.match(text, at)
            if found and is_secret(found["value"].rstrip(b",;)"), Family.PASSWORD, Style.LINE):
                yield ShapedSecret(*found.span("value"), "password")
            at = lower.find(mark, at + len(mark))
    if b'"kty' in lower:
        yield from _web_keys(text)
    if b"private-lines:" in lower:
        for found in _PUTTY.finditer(text):
            yield ShapedSecret(*found.span("value"), "private-key")


def _web_keys(text: bytes) -> Iterator[ShapedSecret]:
    """Private members of JSON web keys; public ones are kept."""
    at = text.find(b'"kty')
    while at >= 0:
        start = text.rfind(b"{", max(0, at - 4096), at)
        inside = _OBJECT.match(text, start + 1 if start >= 0 else at)
        end = inside.end() if inside else at
        for found in _OF_KEY.finditer(text, start if start >= 0 else at, end):
            yield ShapedSecret(*found.span("value"), "private-key")
        at = text.find(b'"kty', max(end, at + 4))
