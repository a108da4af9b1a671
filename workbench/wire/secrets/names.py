"""Recognises names of secrets in any notation: apiKey, API_KEY, x-api-key."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Final

from workbench import regex


def word_set(words: str) -> tuple[str, ...]:
    """Set of the words in a text."""
    return tuple(words.split())


class Family(Enum):
    """Kind of value that a name announces."""

    PASSWORD = "password"  # chosen by people: may be words
    KEY = "key"  # a credential beyond doubt
    TOKEN = "token"  # may be something else: only what looks random is a secret
    COOKIE = "cookie"  # pairs of names and values


_WORD: Final = regex.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SUFFIXES: Final = (b"password", b"passphrase", b"passwd", b"secret", b"token", b"key")
_BEHIND: Final = frozenset(
    b"prod production dev test staging live value raw plain plaintext b64 base64 str string primary secondary main old"
    b" new current".split()
)
"""Words that may follow without changing the meaning."""

_PASSWORD: Final = frozenset(b"password passwd pwd passphrase passcode psk".split())
_KEYS: Final = frozenset(
    b"""access account admin anthropic api app application auth aws azure bearer bot cerebras client cohere consumer
    databricks deepseek deploy encryption fireworks function functions gemini github gitlab google gpg groq hmac host
    integration jwt langfuse langsmith license litellm live llm management master mistral openai openrouter perplexity
    pgp portkey private provider publishable replicate restricted root secret sendgrid server service session shared
    signing slack ssl storage stripe subscription tavily tls together user vault virtual webhook write xai""".split()
)
"""Owners with secret keys, in any text."""
_NO_KEYS: Final = frozenset(
    b"""cache public primary foreign sort partition idempotency lookup row object index map hash natural composite
    surrogate unique routing request correlation trace dedup deduplication shard file websocket prompt message event
    group rate limit throttle content image column translation i18n locale field param parameter record entity order
    registry hot arrow enter escape shift control meta this item list dict json yaml answer""".split()
)
"""Owners with keys that are no secrets, even in an environment or a header."""
_SURE: Final = frozenset(b"api secret private".split())
"""Key names that are secret for any owner: ``image_api_key``."""
_PUBLIC: Final = frozenset(b"public publishable".split())
_NO_TOKENS: Final = frozenset(
    b"""page next prev previous continuation sync cursor eos bos pad unk sep cls mask stop start end special image audio
    video text first last per max min num total prompt completion input output reasoning cached cancel cancellation
    resume starting public watch change delta concurrency idempotency request n new unused bad marker scroll think
    thinking tool nextpage prevpage page_ pagination non skip""".split()
)
_TOKENS: Final = frozenset(
    b"""access api app auth aws bearer bot cf csrf ci deploy discord gh github gitlab hf hub id integration jwt login
    npm oauth personal private push pypi refresh secret security service session slack telegram user vault verification
    xsrf""".split()
)
_LONE: Final = frozenset(b"auth authorization authentication jwt assertion token".split())
_CREDENTIALS: Final = frozenset(b"credential credentials creds cred".split())

_ID_HEADERS: Final = (b"mcp-session-id",)
"""Headers with ids that grant nothing by their protocol."""
_HEADER_WORDS: Final = frozenset(b"signature sig session sid".split())
_QUERY_KEYS: Final = (b"key", b"token", b"sig", b"signature")
_AWS_PARAMETERS: Final = (b"signature", b"credential", b"token")
_QUERY_WORDS: Final = frozenset(
    b"""code auth jwt sig signature policy key sid session sessionid jsessionid phpsessid ticket hmac appid sas st otp
    assertion credential samlresponse hdnea hdnts""".split()
)


@lru_cache(maxsize=8192)
def family(name: bytes, *, is_line: bool = False) -> Family | None:
    """Family of a name; None for other names.

    Args:
        name: of a member, a variable, an option.
        is_line: it is in an environment line or header, where every key counts unless known to be none.
    """
    words = _words(name)
    if not words:
        return None
    last, before = words[-1], words[:-1]
    if last in _PASSWORD:
        return Family.PASSWORD
    if last in (b"pass", b"pw"):
        return Family.PASSWORD if before else None
    if last == b"secret":
        return Family.KEY
    if last == b"key":
        return _of_key(before, is_line=is_line)
    if last == b"token":
        return None if set(before) & _NO_TOKENS else Family.KEY if set(before) & _TOKENS else Family.TOKEN
    if last in _CREDENTIALS:
        return None if before and before[-1] in (b"allow", b"with", b"include") else Family.TOKEN
    if last == b"cookie":
        return Family.COOKIE
    return Family.TOKEN if last in _LONE else None


def _of_key(before: list[bytes], *, is_line: bool) -> Family | None:
    if not before:
        return None
    if before[-1] in _SURE and not set(before) & _PUBLIC:
        return Family.KEY
    if set(before[-2:]) & _NO_KEYS:
        return None
    if set(before) & _KEYS:
        return Family.KEY
    return Family.TOKEN if is_line else None


def _words(name: bytes) -> list[bytes]:
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and (words[-1] in _BEHIND or (words[-1].isdigit() and len(words[-1]) < 3)):
        words.pop()
    last = words[-1] if words else b""
    for suffix in _SUFFIXES:
        if last.endswith(suffix) and last != suffix:
            return [*words[:-1], last[: -len(suffix)], suffix]
    return words


@lru_cache(maxsize=4096)
def of_header(name: str) -> Family | None:
    """Family of a header name, also of unknown ones that end like a credential."""
    raw = name.encode("latin-1", "replace")
    words = [] if raw.lower() in _ID_HEADERS else _words(raw)
    if (words and words[-1] in (b"cookie", b"cookie2")) or name.lower() in ("cookie2", "set-cookie2"):
        return Family.COOKIE
    found = family(raw, is_line=True)
    if found or not words:
        return Family.KEY if found is Family.TOKEN and words[-1] not in (b"key",) else found
    if words[-2:] in ([b"session", b"id"], [b"x", b"key"]) or words[-1] in _HEADER_WORDS:
        return Family.TOKEN
    return None


@lru_cache(maxsize=4096)
def of_query(name: bytes) -> Family | None:
    """Family of a URL parameter name."""
    low = name.lower()
    if low in _QUERY_KEYS or (low.startswith((b"x-amz-", b"x-goog-")) and low.rpartition(b"-")[2] in _AWS_PARAMETERS):
        return Family.KEY
    if low in _QUERY_WORDS or low in (b"awsaccesskeyid", b"key-pair-id", b"access_key_id"):
        return Family.TOKEN
    return family(name)


def is_header(name: str) -> bool:
    """True if a header of this name holds a secret, whatever its value."""
    return of_header(name) not in (None, Family.TOKEN)


def is_parameter(name: str) -> bool:
    """True if a URL parameter of this name holds a secret, whatever its value."""
    return of_query(name.encode("latin-1", "replace")) not in (None, Family.TOKEN)
