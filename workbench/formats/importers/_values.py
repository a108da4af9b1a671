"""Reads values of untrusted files by type, and members by the names that recorders use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue, Media, Opaque, Part, Text
from workbench.wire import loads


def text(value: JsonValue) -> str:
    """A string; empty for other types."""
    return value if isinstance(value, str) else ""


def mapping(value: JsonValue) -> dict[str, JsonValue]:
    """An object; empty for other types."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """A list; empty for other types."""
    return value if isinstance(value, list) else []


def mappings(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """The objects of a list."""
    return (entry for entry in as_list(value) if isinstance(entry, dict))


def token_count(value: JsonValue) -> int | None:
    """A token count; None for other values."""
    return int(value) if isinstance(value, int | float) and type(value) is not bool and 0 <= value < 2**53 else None


def measure(value: JsonValue) -> float | None:
    """A number that is not negative, such as a duration; None for other values, and for one that no float holds."""
    return float(value) if isinstance(value, int | float) and type(value) is not bool and 0 <= value < 2**1000 else None


def rest(value: dict[str, JsonValue], *known: str) -> dict[str, JsonValue]:
    """An object without the keys that were read."""
    return {k: v for k, v in value.items() if k not in known and v is not None}


def parse_text(value: JsonValue) -> JsonValue:
    """The value of a text with JSON in it; other values unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return loads(value.encode("utf-8", "surrogatepass"))
    except WireError:
        return value


def content_parts(content: JsonValue) -> tuple[Part, ...]:
    """Content as most clients store it: a string, or a list of strings, texts and images; other parts unchanged."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if isinstance(content, dict):
        return (_part(content),)
    return tuple(Text(c) if isinstance(c, str) else _part(c) for c in as_list(content) if isinstance(c, dict | str))


def _part(block: dict[str, JsonValue]) -> Part:
    if isinstance(block.get("text"), str) and block.get("type") in (None, "text", "input_text", "output_text"):
        return Text(block["text"])
    image = _image(block) if text(block.get("type")) in ("image", "image_url", "input_image") else None
    return image or Opaque(text(block.get("type")) or "unknown", block)


def _image(block: dict[str, JsonValue]) -> Media | None:
    source = mapping(block.get("source"))
    image = block.get("image_url", block.get("image", block.get("url")))
    url = text(mapping(image).get("url")) or text(image) or text(source.get("url"))
    data = text(block.get("data")) or text(source.get("data"))
    kind = text(block.get("mimeType")) or text(source.get("media_type")) or None
    if data:
        return Media("image", kind, data=data)
    if url.startswith("data:") and ";base64," in url:
        head, _, data = url.partition(";base64,")
        return Media("image", head.removeprefix("data:") or kind, data=data)
    return Media("image", kind, url=url) if url else None


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


@lru_cache(maxsize=1024)
def normalize_name(name: str) -> str:
    """A name in lower case without dashes and underscores; empty if too long to be a known name."""
    return _NOT_A_LETTER.sub("", name.lower()) if len(name) <= _LONGEST else ""


def fields(members: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Members by normalised name; of duplicates the first."""
    found: dict[str, JsonValue] = {}
    for name, value in members.items():
        found.setdefault(normalize_name(name), value)
    return found


def first(members: Mapping[str, JsonValue], names: Iterable[str]) -> JsonValue:
    """The first member that is present and not null."""
    for name in names:
        if (found := members.get(name)) is not None:
            return found
    return None


def sides(members: Mapping[str, JsonValue]) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """(request, response) of a mapping that has the side in its member names: ``RequestUri``, ``response_body``."""
    request: dict[str, JsonValue] = {}
    response: dict[str, JsonValue] = {}
    for name, value in fields(members).items():
        request_field, response_field = _without(name, _REQUEST_PREFIXES), _without(name, _RESPONSE_PREFIXES)
        if request_field in _REQUEST_FIELDS:
            request.setdefault(request_field, value)
        elif response_field in _RESPONSE_FIELDS:
            response.setdefault(response_field, value)
        elif name in STATUS:
            response.setdefault(name, value)
        elif name in (*METHOD, *URL, *PATH):
            request.setdefault(name, value)
    return request, response


def is_base64(members: Mapping[str, JsonValue]) -> bool:
    """True if a member states that the body is base64."""
    if any(members.get(mark) is True for mark in _BASE64_MARKS):
        return True
    encoding = first(members, _ENCODINGS)
    return isinstance(encoding, str) and encoding.lower() == "base64"


def text_within(value: JsonValue) -> str:
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
