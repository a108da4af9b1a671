"""Finds members of recorded mappings by the names that recorders use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench import regex
from workbench.ir import JsonValue

METHOD = ("method", "httpmethod", "verb")
URL = ("url", "uri", "fullurl", "href", "requesturl", "requesturi")
PATH = ("path", "urlpath", "pathname", "endpoint", "urlpattern", "urlpathpattern", "route")
ORIGIN = ("scope", "origin", "baseurl", "apibase", "destination", "host", "hostname", "authority")
QUERY = ("query", "queryparam", "queryparams", "queryparameters", "querystring")
HEADERS = ("headers", "header", "rawheaders", "httpheaders")
PIECES = ("bodysegments", "segments", "bodychunks")
"""Names of a body that is stored in pieces; a single piece is the body."""

BODY = (
    *PIECES,
    *("body", "payload", "bodytext", "bodystring", "bodyraw", "rawbody", "jsonbody", "bodyjson", "bodypatterns"),
    "completeinputdict",
    *("base64body", "bodybase64", "parsedbody", "content", "data", "json", "text", "postdata", "form"),
)
STATUS = ("statuscode", "status", "code", "httpstatus", "httpstatuscode", "responsecode", "errorcode")
FAILURE = ("exceptiondata", "exception", "error", "exceptionmessage", "errormessage")
ELSEWHERE = ("bodyfilename", "bodyfile", "bodypath")
"""Names of the file that a recorder moved a body to."""

_REQUEST_FIELDS = frozenset({*METHOD, *URL, *PATH, *QUERY, *HEADERS, *BODY})
_RESPONSE_FIELDS = frozenset({*STATUS, *HEADERS, *BODY, *FAILURE})
_REQUEST_PREFIXES = ("httprequest", "request", "req")
_RESPONSE_PREFIXES = ("httpresponse", "response", "resp", "res")
_BASE64_MARKS = frozenset({"isbase64encoded", "isbase64", "base64encoded", "encodedbody", "bodyisbase64"})
_ENCODINGS = ("encoding", "bodyencoding", "bodyformat")
_MATCHERS = ("equalto", "equaltojson", "equals", "exact", "eq", "value", "literal", "raw", "is")
_DEEPEST = 4
_LONGEST = 40
_NOT_A_LETTER = regex.compile(r"[^a-z0-9]")


def normalize_name(name: str) -> str:
    """A name in lower case without dashes and underscores; empty if too long to be a known name."""
    return _NOT_A_LETTER.sub("", name.lower()) if len(name) <= _LONGEST else ""


def fields(held: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Members by normalised name; of duplicates the first."""
    found: dict[str, JsonValue] = {}
    for name, value in held.items():
        found.setdefault(normalize_name(name), value)
    return found


def first(held: Mapping[str, JsonValue], names: Iterable[str]) -> JsonValue:
    """The first member that is present and not null."""
    return next((held[name] for name in names if held.get(name) is not None), None)


def sides(held: Mapping[str, JsonValue]) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """(request, response) of a mapping that has the side in its member names: ``RequestUri``, ``response_body``."""
    request: dict[str, JsonValue] = {}
    response: dict[str, JsonValue] = {}
    for name, value in fields(held).items():
        asked, answered = _without(name, _REQUEST_PREFIXES), _without(name, _RESPONSE_PREFIXES)
        if asked in _REQUEST_FIELDS:
            request.setdefault(asked, value)
        elif answered in _RESPONSE_FIELDS:
            response.setdefault(answered, value)
        elif name in STATUS:
            response.setdefault(name, value)
        elif name in (*METHOD, *URL, *PATH):
            request.setdefault(name, value)
    return request, response


def is_base64(held: Mapping[str, JsonValue]) -> bool:
    """True if a member states that the body is base64."""
    if any(held.get(mark) is True for mark in _BASE64_MARKS):
        return True
    said = first(held, _ENCODINGS)
    return isinstance(said, str) and said.lower() == "base64"


def text_of(value: JsonValue) -> str:
    """A text: the value, the only item of a list, or the value of a matcher; empty otherwise."""
    for _ in range(_DEEPEST):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict):
            value = first(fields(value), _MATCHERS)
        else:
            break
    return value if isinstance(value, str) else ""


def number_of(value: JsonValue) -> int | None:
    """A status: a number, its text with or without a reason phrase, or an object that contains one."""
    if isinstance(value, dict):
        value = first(fields(value), ("code", "statuscode", "value"))
    if isinstance(value, str):
        digits = value.strip()[:3]
        value = int(digits) if len(digits) == 3 and digits.isascii() and digits.isdigit() else None
    return value if type(value) is int and 100 <= value <= 599 else None


def _without(name: str, prefixes: Iterable[str]) -> str:
    return next((name.removeprefix(prefix) for prefix in prefixes if name.startswith(prefix)), "")
