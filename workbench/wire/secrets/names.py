"""Recognises names of secrets in any notation (apiKey, API_KEY, x-api-key), and secret values of them."""

from __future__ import annotations

import re
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
    thinking tool nextpage prevpage page_ pagination non skip tik""".split()
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
    if last == b"secret" or (last == b"verifier" and before):  # code_verifier of PKCE, oauth_verifier
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
    """True if a header of this name holds a secret with any value."""
    return of_header(name) not in (None, Family.TOKEN)


def is_parameter(name: str) -> bool:
    """True if a URL parameter of this name holds a secret with any value."""
    return of_query(name.encode("latin-1", "replace")) not in (None, Family.TOKEN)


_JUDGED: Final = 256
"""Bytes of a value that are examined: no word is longer."""
_LONGEST_PLACEHOLDER: Final = 100
_DIGITS: Final = b"01234567890123456789"

_PLACEHOLDER: Final = regex.compile(
    rb"""(?ix)
    \$.* | %\w+% | %[sdr@] | <.* | \[.*\] | \{.*\} | (?:[*x._-]|\xe2\x80\xa2)+ | \.{3}.* | .*\.{3} |
    .*\xe2\x80\xa6.* | [0.]+ |
    .*(?:\*{3}|x{5}|\$\{|\$\(|\{\{|<[a-z_ -]+>|example|placeholder|redacted|changeme|change[_-]me|your[_-]
        |\[[a-z]-z|replace[_-]?me|insert[_-]|dummy|process\.env|os\.environ|getenv).* |
    (?:your|my|the|enter|some|any|add|put)[\x20_-].* | .*[\x20_-]here |
    (?:op|vault|ref\+\w+|secretsmanager|ssm|keyring|env|file|https?|wss?|arn|urn|gs|s3)(?:://?|:).* |
    projects/.*/secrets/.* | ssh-\w+(?:\x20.*)? |
    .*\{[a-z_][\w.]*(?:\([^()]*\))?\}.* | [a-z]+-(?:md5|sha-?[0-9]+) |
    (?:none|null|nil|undefined|true|false|filtered|masked|hidden|removed|omitted)
    """
)
_CODE: Final = regex.compile(
    rb"[A-Za-z_][\w.]*[(\[<].*|[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[;,]?|[&*!(]\w+.*|.*=>.*"
)
_STANDARD: Final = regex.compile(
    rb"(?:AES|ANSI|ARGON|BASE|BIP|CP|CRC|DES|ECDSA|FIPS|HMAC|IEC|IEEE|ISO|KOI|MD|NIST|PBKDF|PKCS|RFC|RSA|SHA|SP|TLS|UCS"
    rb"|UTF|WPA|X)(?:[-_/][A-Z]{2,8})*[-_/]?[0-9]{1,5}(?:[-_/.:](?:[A-Z]{1,8}|[0-9]{1,5}|[a-z]{2,20}))*[.,:;!?]*"
)
_ADJECTIVE: Final = regex.compile(
    rb"[\w-]{0,40}[0-9]-(?:[a-z]{3,20}(?:ed|[ai]ble|[ae]nt)|based|bit|bytes?|char(?:acter)?s?|digits?|factor|free|like"
    rb"|long|only|safe|style|words?)(?:-long)?[.,:;!?]*"
)
_PLACE_IN_FILE: Final = regex.compile(
    rb"\w[\w-]*(?:[./][\w-]+)*/[\w-]+(?:\.[\w-]+)*\.[a-z]{1,5}(?:[#?:][\w.=-]*)?[.,:;!?]*"
)
_UUID: Final = regex.compile(rb"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PATH: Final = regex.compile(
    rb"(?:~|\.{1,2})?/.*|[A-Za-z]:[/\\].*|.*\.(?:json|ya?ml|toml|pem|key|pub|crt|txt|env|py|js|ts|md)"
)
_EMAIL: Final = regex.compile(rb"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE: Final = regex.compile(rb"\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d.*|v?\d+(?:\.\d+)+.*")
_SEGMENT: Final = regex.compile(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_PARTS: Final = regex.compile(rb"[^A-Za-z0-9_-]+")
_STRONG: Final = regex.compile(rb"[!@#$%^&*?~]")
_PASSPHRASE: Final = regex.compile(rb"[a-z]+(?: [a-z]+)+|[a-z]+(?:-[a-z]+){2,}")

_COMMON: Final = """
    abacadagaialamanaparasatauaybabebiblbobucacccechcickclcocrctcudadedidodsdueaecedeeefegelemeneperesetevexfafefffi
    flfofugegigngrguhahehihoiaibicidieifigiliminioipirisitivizkekilaldlelilllolsltlulymamemimmmompmunancndnenfngninn
    nonsntnunvocodogolomonoooporosotouovowpapepiplpoppprpsptpupyqurarcrdrergrirmrnrorrrsrtrurysascseshsisospssstsuta
    tctethtitotrtstttutyuaubucueuiulumunupurusutvaveviwawewixpxtypze
"""
_PAIRS: Final = frozenset(
    "".join(_COMMON.split())[n : n + 2].encode() for n in range(0, len("".join(_COMMON.split())), 2)
)
"""The 200 letter pairs that make nine tenths of words in programs: three in ten of all."""
_LEAST_PAIR_SHARE: Final = 0.6
"""Share of such pairs from which letters count as words.

Of names in programs 0.2 % have less, of 20 random characters 0.1 % have more.
"""
_LONGEST_WORD: Final = 20
_LEAST_OF_RANDOM: Final = 10

_VOCABULARY: Final = frozenset(
    b"""access account action admin algorithm alias api app arg args array async at auth authentication
    authorization await aws azure bad bar base basic be bearer bigint binary blob bool boolean bot bucket byte
    bytes callback cannot cert char characters class client code config configured confirm const content context
    cookie count credential credentials csrf current data database db de debug decimal default demo description
    dev dict disabled double dummy email empty enabled encoded encrypted encryption end endpoint enter env
    environment error example expected expired fake false field fields file first float foo for forbidden forgot
    format from function generate get github global google group groups handler has hash hashed header hello hex
    hidden hint hmac host http https id identity in incorrect input instance int integer internal invalid is it
    item json jwt kennwort key keyring keys label last least length level list local login long machine main
    manager map mask match max message method min mismatch missing mock mode model module mot motdepasse must my
    name namespace needed new next nil no none not null number oauth object of old one only openai option
    optional or other output page param parameter params parse pass passcode passe passphrase passw passwd
    password passwords passwort path payload pem phrase placeholder plain plaintext please policy port private
    process prod production profile project prompt property protected provider proxy public pwd query random raw
    read ref refresh regex region remote repeat request required reset response result return role root rsa same
    sample schema scope secret secrets self senha sequence server service session set settings sha short should
    show signature signed size some source special start state static storage store str string strong style sub
    system tag target temp template test text that the this time timeout title tmp to token tokens too true type
    uint unauthorized undefined unique unknown update uri url use user username users utf valid validation value
    var varbinary varchar variable vault verify version via void weak welcome with word wort write wrong xxx yes
    you your""".split()
)
"""Words of identifiers, of types and of texts about secrets."""


class Style(Enum):
    """Notation of a value: quoted, in an environment line, bare as in YAML or code, or in a list."""

    QUOTED = "quoted"
    LINE = "line"
    BARE = "bare"
    LISTED = "listed"


@lru_cache(maxsize=4096)
def _is_secret(value: bytes, family: Family, style: Style) -> bool:
    if is_made_up(value) or _PATH.fullmatch(value) or _EMAIL.fullmatch(value) or _DATE.fullmatch(value):
        return is_random(value) and value[:1] == b"/" and b"." not in value and not _is_path(value)
    if style is Style.BARE and _CODE.fullmatch(value):
        return False
    if is_random(value) and (style not in (Style.BARE, Style.LISTED) or re.search(rb"[0-9]", value)):
        return family is not Family.TOKEN or style is Style.LINE or not _UUID.fullmatch(value)
    if (family is Family.TOKEN and style is not Style.LINE) or style is Style.LISTED:
        return False
    words = {word.lower() for word in _SEGMENT.findall(value)}
    is_password = family is Family.PASSWORD
    if not re.search(rb"[0-9]", value) and not _STRONG.search(value):
        return is_password and style is Style.QUOTED and bool(_PASSPHRASE.fullmatch(value)) and not words & _VOCABULARY
    if b" " in value:
        return is_password and style is Style.QUOTED and value.count(b" ") < 4 and not words & _VOCABULARY
    if value.isdigit():
        return is_password and style is not Style.BARE
    if words & _VOCABULARY:
        return is_password and style is not Style.BARE and bool(_STRONG.search(value)) and b"=" not in value
    return True


def is_secret(value: bytes, family: Family, style: Style = Style.QUOTED) -> bool:
    """True if a value after a name of this family is a secret, not a text about one."""
    least = 6 if family is Family.PASSWORD and style is Style.QUOTED else 8
    return len(value) >= least and _is_secret(value[:_JUDGED], family, style)


def is_described(value: bytes) -> bool:
    """True for what prose says of a secret, behind ``is``: a standard, an adjective with a number, a file."""
    return any(form.fullmatch(value) for form in (_STANDARD, _ADJECTIVE, _PLACE_IN_FILE))


def is_placeholder(value: bytes) -> bool:
    """True for a stand-in of a secret: a variable, a mask, an example."""
    return len(value) <= _LONGEST_PLACEHOLDER and bool(_PLACEHOLDER.fullmatch(value))


def is_made_up(value: bytes) -> bool:
    """True for a placeholder, or words about secrets with ordered digits (``test-token-12345``)."""
    if is_placeholder(value):
        return True
    if len(value) > _LONGEST_PLACEHOLDER:
        return False
    segments = _SEGMENT.findall(value)
    words = [s.lower() for s in segments if not s.isdigit()]
    return bool(words) and _VOCABULARY.issuperset(words) and all(n in _DIGITS for n in segments if n.isdigit())


def is_uuid(value: bytes) -> bool:
    """True for the notation of a UUID."""
    return bool(_UUID.fullmatch(value))


def is_random(value: bytes) -> bool:
    """True if a part is too long and too mixed for words, names and numbers that people write."""
    return any(len(part) >= _LEAST_OF_RANDOM and not is_wordy(part) for part in _PARTS.split(value[:_JUDGED]))


def is_wordy(value: bytes) -> bool:
    """True for words in any case, with a short number or two among them."""
    segments = _SEGMENT.findall(value[:_JUDGED])
    letters = [s for s in segments if not s.isdigit()]
    numbers = [s for s in segments if s.isdigit()]
    if not letters:
        return len(value) < 24 or len(numbers) > 3
    if len(numbers) > 2 or any(len(n) > 4 for n in numbers) or any(map(_is_no_word, letters)):
        return False
    return sum(map(len, letters)) >= 3 * len(letters) and _is_wordlike(letters)


def _is_no_word(letters: bytes) -> bool:
    return len(letters) > _LONGEST_WORD


def _is_wordlike(segments: list[bytes]) -> bool:
    """True if most letter pairs are those of words."""
    pairs = [segment[n : n + 2].lower() for segment in segments for n in range(len(segment) - 1)]
    return sum(pair in _PAIRS for pair in pairs) >= _LEAST_PAIR_SHARE * len(pairs)


def _is_path(value: bytes) -> bool:
    return all(is_wordy(part) for part in value.split(b"/") if len(part) > 3)
