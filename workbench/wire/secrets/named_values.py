"""Finds secrets by their names in a text: members, variables, headers, options, tags, parameters, URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.named_tuple import NamedTuple
from workbench.wire.secrets.names import (
    Family,
    Style,
    family,
    is_described,
    is_made_up,
    is_random,
    is_secret,
    is_uuid,
    of_query,
)
from workbench.wire.secrets.shapes import ShapedSecret
from workbench.wire.secrets.tables import HEAD, Tables

_OPEN: Final = rb"[\\\"']{0,8}"
_FORM_QUOTED: Final = rb"[bBrR]?[\\]{0,6}[\"']"
_FORM_VALUE: Final = rb"(?P<value>[^\s\"'`\\;&<>|]{6,4096})"
_FORM_PAIR: Final = (
    _FORM_QUOTED
    + rb"[^\s\"'\\]{0,80}[\\]{0,6}[\"'],\s{0,40}"
    + _FORM_QUOTED
    + rb"(?P<value>[^\s\"'\\]{6,4096})[\\]{0,6}[\"']"
)

_HTTPIE: Final = rb"https?[ ](?:[^\n|;&]{0,200}?[ ])?(?:-a|--auth)[ =]" + _OPEN + rb"[^\s:\"']{0,80}:" + _FORM_VALUE

_FORMS: Final = tuple(
    (sign, mark, regex.compile(rb"(?i)" + form))
    for sign, mark, form in (
        (b" -p", b"mysql", rb"mysql\w*[ ](?:[^\n|;&]{0,200}?[ ])?-p" + _OPEN + _FORM_VALUE),
        (b" -p", b"mariadb", rb"mariadb[\w-]*[ ](?:[^\n|;&]{0,200}?[ ])?-p" + _OPEN + _FORM_VALUE),
        (b" -p", b"sshpass", rb"sshpass[ ]+-p[ ]?" + _OPEN + _FORM_VALUE),
        (b" -p", b" login", rb"[ ]login[ ](?:[^\n|;&]{0,200}?[ ])?-p[ ]" + _OPEN + _FORM_VALUE),
        (b" -p", b"mongo", rb"mongo\w*[ ](?:[^\n|;&]{0,200}?[ ])?-p[ ]" + _OPEN + _FORM_VALUE),
        (b" -a ", b"redis-cli", rb"redis-cli[ ](?:[^\n|;&]{0,200}?[ ])?-a[ ]" + _OPEN + _FORM_VALUE),
        (b"repass", b"requirepass", rb"requirepass[ \t]+" + _OPEN + _FORM_VALUE),
        (b" -a", b"http", _HTTPIE),
        (b" --auth", b"http", _HTTPIE),
        (b"auth", b"auth", rb"auth\w{0,5}[\\\"']{0,8}(?:\s{0,4}[=:]\s{0,4}[(\[]|\()\s{0,40}" + _FORM_PAIR),
    )
)
"""For each form: a rare text it contains, its start, both in lower case; and its full pattern."""
_SIGNS_OF_FORMS: Final = frozenset(sign for sign, _, _ in _FORMS)
_HINTS_OF_FORMS: Final = (b" -", b"pass", b"auth")
"""One of them is in each of the signs."""

_NAME_IN_KEY: Final = rb"[\\]{0,12}\"(?:d|p|q|dp|dq|qi|k)[\\]{0,12}\"\s{0,8}"
_OF_KEY: Final = regex.compile(_NAME_IN_KEY + rb":\s{0,8}[\\]{0,12}\"(?P<value>[^\s\"\\]{14,2048})")
_OPEN_IN_KEY: Final = regex.compile(
    rb"\"kty|" + _NAME_IN_KEY + rb"(?:\Z|:\s{0,8}[\\]{0,12}(?:\Z|\"(?:[^\s\"\\]{14}|[^\s\"\\]{0,13}\Z)))"
)
_WITHOUT_BRACES: Final = regex.compile(rb"[^{}]{0,4096}")
_LONGEST_HALF: Final = 4096
_PUTTY: Final = regex.compile(rb"Private-Lines: [0-9]{1,3}\s{1,8}(?P<value>(?:[A-Za-z0-9+/=]{2,64}[\s\\]{1,4}){1,999})")


def find_by_form(text: bytes, lower: bytes) -> Iterator[ShapedSecret]:
    """Secrets of a text with decoded escapes at the positions where commands, calls and keys have them."""
    signs = {sign: sign in lower for sign in _SIGNS_OF_FORMS} if any(map(lower.__contains__, _HINTS_OF_FORMS)) else {}
    for sign, mark, form in _FORMS if signs else ():
        at = lower.find(mark) if signs[sign] else -1
        while at >= 0:
            found = form.match(text, at)
            if found and is_secret(found["value"].rstrip(b",;)"), Family.PASSWORD, Style.LINE):
                yield ShapedSecret(*found.span("value"), "password")
            at = lower.find(mark, at + len(mark))
    if _OF_WEB_KEYS in lower:
        yield from _web_keys(text)
    if _OF_PUTTY in lower:
        for found in _PUTTY.finditer(text):
            yield ShapedSecret(*found.span("value"), "private-key")


def _web_keys(text: bytes) -> Iterator[ShapedSecret]:
    """Private members of JSON web keys, between the braces around the member ``kty``; public ones are kept."""
    at = text.find(b'"kty')
    while at >= 0:
        inside = _WITHOUT_BRACES.match(text, at)
        end = inside.end() if inside else at
        for found in _OF_KEY.finditer(text, _after_brace(text, at), end):
            yield ShapedSecret(*found.span("value"), "private-key")
        at = text.find(b'"kty', max(end, at + 4))


def _after_brace(text: bytes, end: int) -> int:
    start = max(0, end - _LONGEST_HALF)
    return max(text.rfind(b"{", start, end) + 1, text.rfind(b"}", start, end) + 1, start)


def open_web_key(text: bytes, end: int) -> int | None:
    """Start of what is the beginning of a JSON web key, if its other members come after ``end``; or None."""
    found = _OPEN_IN_KEY.search(text, _after_brace(text, end), end)
    return found.start() if found else None


_QUOTE: Final = rb"[\\\"'`]"
_BEHIND: Final = (
    rb"(?:[_.-]?(?:[0-9]{1,2}|prod(?:uction)?|dev|test|staging|live|value|raw|plain|b64|base64|str|string))?"
)
_TYPE: Final = rb"[&']{0,2}(?:static )?(?:str(?:ing)?|secretstr|optional\[str\])(?: ?\| ?[a-z]{2,9})?"
_VALUE: Final = rb"(?:value|val|v)"
_LIST: Final = rb"(?:\s{0,200}\[(?=\s{0,200}[\\\"']|(?!a-z|0-9|\^)[^\s\"'\\\[\]]{12,512}\]))"
_SIGN: Final = (
    rb"(?P<close>" + _QUOTE + rb"{0,12}\]?)(?:"
    rb"(?P<pair>[ \t]*,\s{0,200}" + _QUOTE + rb"{1,12}" + _VALUE + _QUOTE + rb"{1,12}[ \t]*:[ \t]*"
    rb"|\s{1,40}" + _VALUE + rb"[ \t]*[=:][ \t]*)"
    rb"|(?P<block>[ \t]*:[ \t]*(?:[|>][+-]?[0-9]?[ \t]*\n+[ \t]+|\n+[ \t]*-[ \t]+))"
    rb"|(?P<typed>[ \t]*:[ \t]*" + _TYPE + rb"[ \t]*=[ \t]*)"
    rb"|(?P<sign>[ \t]*(?:(?:=>|:=|=|:)\*{0,2}" + _LIST + rb"?\s{0,200}|,[ \t]*))"
    rb"|(?P<tag>(?:[ \t]+[a-z-]{1,20}=[^<>\n]{0,60})?>\s{0,8}|</key>\s{0,40}<string>)"
    rb"|(?P<said>\*{0,2}[ \t]{0,20}\|[ \t]{1,20}|\*\*[ \t]*[:=][ \t]*|[ \t]+is:?[ \t]+)"
    rb"|(?P<call>\([ \t]*(?=[\\\"'`]))"
    rb"|(?P<default>[ \t]*\{[^{}]{0,300}?\bdefault[ \t]*=[ \t]*)"
    rb"|(?P<part>(?:[\r\n]{1,4}[a-z-]{1,40}:[^\r\n]{0,200})?[\r\n]{2,8})"
    rb"|(?P<space>[ \t]{1,8})"
    rb")(?:[bBrRfFuU](?=['\"\\]))?(?P<open>" + _QUOTE + rb"{0,12})"
)
"""Separators between a name and its value: operators of programs and files, or words, which need more evidence."""
_MARKS: Final = tuple(
    (mark, regex.compile(rest + _BEHIND + _SIGN))
    for mark, rest in (
        (b"key", b""),
        (b"token", b""),
        (b"secret", b""),
        (b"pass", rb"(?:w(?:or)?d|phrase|code)?"),
        (b"pwd", b""),
        (b"pw", b""),
        (b"psk", b""),
        (b"auth", rb"(?:orization|entication)?"),
        (b"cred", rb"(?:ential)?s?"),
        (b"cookie", b""),
        (b"jwt", b""),
        (b"assertion", b""),
        (b"verifier", b""),
    )
)
"""Endings of secret names, followed by a separator and a value."""

_MOST: Final = 512
"""Bytes of a value read before it is known to be a secret."""

_BARE: Final = regex.compile(rb"[^\s\"'`\\,;&<>|(){}\[\]]{1,512}")
_REST: Final = regex.compile(rb"[^\s\"'`\\,;&<>|(){}\[\]]*+")
_LINE: Final = regex.compile(rb"[^\s\"'`\\;&<>|]{1,512}")
_REST_OF_LINE: Final = regex.compile(rb"[^\s\"'`\\;&<>|]*+")
_TAGGED: Final = regex.compile(rb"[^\s<>\"\\]{1,8192}+(?=[\"'\\]*\s*</?)")
_QUOTED: Final = {
    quote: (regex.compile(rb"[^\\\x00-\x1f" + quote + rb"]{1,512}"), regex.compile(rb"[^\\\x00-\x1f" + quote + rb"]*+"))
    for quote in (b'"', b"'", b"`")
}
_SCHEME: Final = regex.compile(
    rb"(?i)(?:bearer|basic|token|api-?key|api-?token|bot|key|digest|negotiate|oauth|ssws|genie-?key)[ \t]+"
)
_PAIR: Final = regex.compile(rb"([\w.!%$-]{1,80})=([^;,\s\"'\\]{6,})")
_PAIR_BEGINS: Final = regex.compile(rb"[ \t]*[\w.!%$-]{1,80}=")
_PAIRS_END: Final = regex.compile(rb"[\"'\n\r\\]")
_LONGEST_COOKIE: Final = 4096
_OF_NAMES: Final = bytes(sorted({*b"_.-", *range(48, 58), *range(65, 91), *range(97, 123)}))
_QUALIFIED: Final = regex.compile(rb"(?i)(api|access|secret|auth|bearer|refresh|private|personal|session)[ ]+\Z")
_LONGEST_NAME: Final = 80
_PART: Final = regex.compile(rb"\bname=\\{0,6}\"\Z")
"""Text before the name of a form part."""
_SETTER: Final = regex.compile(rb"(?<![A-Za-z0-9])(?i:set|with|add|use)[_A-Z]")
_SETS: Final = regex.compile(rb"(?:setx|setenv|set -[A-Za-z]{1,4}|ENV|#[ ]?define|configure set)[ \t]{1,8}\Z")

_PARAMETER: Final = regex.compile(rb"[?&;](?:amp;)?([A-Za-z][\w.~-]{0,40})=([^&#;\s\"'<>\\`)]{6,})")
_USERINFO: Final = regex.compile(rb"://[^/?#@\s:\"\\<>]{0,80}:(?:([^/?#@\s\"\\<>]{3,2048})|([\w+/=.~%!$*-]{16,2048}))@")
_USER: Final = regex.compile(rb"://([\w.~%!$*+=-]{16,2048})@(?=[\w\[])")
_OPTION: Final = regex.compile(
    rb"-[uU](?:ser)?(?:[ =\t]{1,4}|[\\\"']{1,8},[ \t]*)[\\\"']{0,8}([^\s:\"'\\]{0,80}):([^\s\"'\\]{3,4096})"
)
_BEARER: Final = regex.compile(rb"(?:er|ic)[ ]+(?!(?-i:[a-z_]+)=[\\\"])([A-Za-z0-9_.~+/=-]{16,})")
_BEARER_MARKS: Final = ((b"bearer ", 4), (b"basic ", 3))
_OF_WEB_KEYS, _OF_PUTTY, _EQUALS, _OF_URL, _OPTION_OF_USER = b'"kty', b"private-lines:", b"=", b"://", b"-u"

SIGNS: Final = (
    *(mark for mark, _ in _MARKS),
    *(mark for mark, _ in _BEARER_MARKS),
    *(sign.strip() for sign, _, _ in _FORMS),
    *(_OF_WEB_KEYS, _OF_PUTTY, _EQUALS, _OF_URL, _OPTION_OF_USER),
)
"""One of them, in lower case, is in every text with a secret that ``find_named`` finds."""


class _NamedValue(NamedTuple):
    name: bytes
    family: Family
    style: Style


def find_named(text: bytes) -> Iterator[ShapedSecret]:
    """Secrets of a text with decoded escapes that are identified by a name."""
    lower, cookies, tables = text.lower(), _Cookies(text), Tables(text)
    for mark, behind in _MARKS:
        at = lower.find(mark)
        while at >= 0:
            after = at + len(mark)
            found = behind.match(lower, after)
            if found:
                for secret in _behind(text, at, found, cookies):
                    after = max(after, secret.end)
                    yield secret
            if HEAD.match(text, at + len(mark)):
                yield from tables.under(at + len(mark))
            at = lower.find(mark, after)
    yield from _bearers(text, lower)
    yield from find_by_form(text, lower)
    if _EQUALS in text:
        yield from _parameters(text)
    if _OF_URL in text:
        yield from _passwords_of_urls(text)
    if _OPTION_OF_USER in lower:
        yield from _options(text, lower)


def _behind(text: bytes, mark: int, sign: re.Match[bytes], cookies: _Cookies) -> Iterator[ShapedSecret]:
    """The value after a name and its separator."""
    name_parts = _read_name(text, mark, sign)
    if name_parts is None:
        return
    name, kind, style = name_parts
    start = sign.end()
    quote = text[start - 1 : start] if sign["open"] else b""
    if kind is Family.COOKIE:
        yield from cookies.pairs(start)
        return
    if _takes_scheme(name) and (scheme := _SCHEME.match(text, start)):
        start = scheme.end()
    if sign["tag"]:
        short = rest = _TAGGED
    elif quote in _QUOTED:
        short, rest = _QUOTED[quote]
    else:
        short, rest = (_LINE, _REST_OF_LINE) if style is Style.LINE else (_BARE, _REST)
    value = short.match(text, start)
    if value is None:
        return
    end, text_found = value.end(), value[0]
    if style is Style.BARE and text[end : end + 1] in (b"(", b"["):
        return
    if kind is Family.TOKEN and is_uuid(text_found) and not name.isupper():
        return
    if sign["said"] and is_described(text_found):
        return
    if text_found != name and is_secret(text_found.rstrip(b",;"), kind, style) and not _describes(text, end):
        if end - start >= _MOST and (whole := rest.match(text, start)):
            end = max(end, whole.end())
        yield ShapedSecret(start, end - (len(text_found) - len(text_found.rstrip(b",;"))), secret_kind(name))


def _read_name(text: bytes, mark: int, sign: re.Match[bytes]) -> _NamedValue | None:
    """The whole name, its family, and the style of its value; None if it is not a secret's name."""
    before = text[max(0, mark - _LONGEST_NAME) : mark]
    start = mark - len(before) + len(before.rstrip(_OF_NAMES))
    name = text[start : sign.start("close")].lstrip(b"-.")
    is_option = text[start : start + 2] == b"--"
    is_quoted = bool(sign["open"])
    if sign["space"] and not (is_option or _is_of_netrc(text, start, name) or _is_set(text, start)):
        return None
    if (sign["default"] and not sign["close"]) or (sign["part"] and not _PART.search(text, max(0, start - 12), start)):
        return None
    if sign["sign"] and b"," in sign["sign"] and not (is_quoted and sign["close"]):
        return None
    if _is_of_another(text, start, sign):
        return None
    if sign["sign"] and (b"\n" in sign["sign"] or b"\r" in sign["sign"]) and not (is_quoted and sign["close"]):
        return None
    if name.lower() in (b"key", b"token") and (words := _QUALIFIED.search(text, max(0, start - 40), start)):
        name = words[1] + b"_" + name
    is_line = is_option or (name.isupper() and sign["sign"] is not None and sign["sign"] == b"=")
    kind = family(name, is_line=is_line or b"-" in name)
    if kind is None:
        return None
    if sign["said"] or sign["call"]:
        return _NamedValue(name, kind, Style.BARE if kind is Family.PASSWORD else Style.LISTED)
    if sign["sign"] and b"," in sign["sign"]:
        return _NamedValue(name, kind, Style.LISTED)
    style = Style.LINE if is_line or sign["part"] else Style.QUOTED if is_quoted else Style.BARE
    return _NamedValue(name, kind, style)


def secret_kind(name: bytes) -> str:
    """Kind of a named secret: a key or token, or a password."""
    low = name.lower()
    return "bearer" if b"auth" in low else "api-key" if b"key" in low or b"token" in low else "password"


def _is_of_netrc(text: bytes, start: int, name: bytes) -> bool:
    return name.lower() == b"password" and b"login " in text[max(0, start - 80) : start].lower()


def _is_of_another(text: bytes, start: int, sign: re.Match[bytes]) -> bool:
    """True if the name is part of something else: a resource name, a type, a union of types, a constructor."""
    if sign["call"]:
        return not _SETTER.search(text, start, sign.start("close"))
    if sign["said"] and b"|" in sign["said"]:
        return not text[max(0, start - 4) : start].endswith((b"|", b"| ", b"| `", b"| **"))
    before = text[max(0, start - 2) : start]
    return (sign["sign"] == b":" and before[-1:] == b":") or (bool(sign["close"]) and before == b"::")


def _is_set(text: bytes, start: int) -> bool:
    """True if a command before the name assigns its value: of a shell, an image file, a compiler."""
    return bool(_SETS.search(text, max(0, start - 40), start))


def _takes_scheme(name: bytes) -> bool:
    return b"auth" in name.lower()


def _describes(text: bytes, end: int) -> bool:
    """True for a language model's token with its probability."""
    return b"logprob" in text[end : end + 40] or b'"bytes"' in text[end : end + 40]


class _Cookies:
    """Cookies of a text. The pairs are parsed once, however many of them are named.

    Args:
        text: with decoded escapes (``escapes``).
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._read = 0

    def pairs(self, start: int) -> Iterator[ShapedSecret]:
        """Secret values of the pairs from an offset on. Offsets must be ascending."""
        text, most = self._text, min(len(self._text), start + _LONGEST_COOKIE)
        if not _PAIR_BEGINS.match(text, start):
            return
        start = max(start, self._read)
        end = _PAIRS_END.search(text, start, most)
        stop = end.start() if end else most
        self._read = stop if end else max(start, *(text.rfind(sign, start, stop) for sign in (b";", b",", b" ")))
        for found in _PAIR.finditer(text, start, stop):
            if is_random(found[2]) or is_secret(found[2], Family.KEY):
                yield ShapedSecret(*found.span(2), "cookie")


def _bearers(text: bytes, lower: bytes) -> Iterator[ShapedSecret]:
    for mark, skipped in _BEARER_MARKS:
        at = lower.find(mark)
        while at >= 0:
            found = _BEARER.match(text, at + skipped)
            after = at + len(mark)
            if found and _is_credential(found[1]) and not text[at - 1 : at].isalnum():
                after = found.end()
                yield ShapedSecret(*found.span(1), "bearer")
            at = lower.find(mark, after)


def _is_credential(value: bytes) -> bool:
    return len(value) > 200 or (is_random(value) and not is_made_up(value))


def _parameters(text: bytes) -> Iterator[ShapedSecret]:
    for found in _PARAMETER.finditer(text):
        kind = of_query(found[1])
        if kind is not None and is_secret(found[2], kind):
            yield ShapedSecret(*found.span(2), "api-key")


def _passwords_of_urls(text: bytes) -> Iterator[ShapedSecret]:
    at = text.find(b"://")
    while at >= 0:
        found = _USERINFO.match(text, at)
        group = 1 if found and found[1] is not None else 2
        if found and _is_password(found[group], is_long=group == 2):
            yield ShapedSecret(*found.span(group), "password")
        elif (user := _USER.match(text, at)) and is_random(user[1]) and not is_made_up(user[1]):
            yield ShapedSecret(*user.span(1), "api-key")
        at = text.find(b"://", at + 3)


def _is_password(value: bytes, *, is_long: bool) -> bool:
    if is_made_up(value) or (is_long and (not is_random(value) or value[:5].partition(b"/")[0].isdigit())):
        return False
    return is_secret(value, Family.PASSWORD) or (len(value) < 8 and any(map(str.isdigit, value.decode("latin-1")))
                                                 and any(map(str.isalpha, value.decode("latin-1"))))  # fmt: skip


def _options(text: bytes, lower: bytes) -> Iterator[ShapedSecret]:
    """User and password in a command, as curl takes them."""
    at = lower.find(b"-u")
    while at >= 0:
        found = _OPTION.match(text, at)
        if found and (is_secret(found[2], Family.PASSWORD) or is_secret(found[2], Family.TOKEN)):
            yield ShapedSecret(*found.span(2), "password")
        at = lower.find(b"-u", at + 2)
