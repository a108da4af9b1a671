"""Decides whether the value of a secret's name is a secret: not a placeholder, word, type, reference or code."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final

from workbench import regex
from workbench.wire.secrets.names import Family

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
_SPOKEN: Final = 0.6
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
    return sum(pair in _PAIRS for pair in pairs) >= _SPOKEN * len(pairs)


def _is_path(value: bytes) -> bool:
    return all(is_wordy(part) for part in value.split(b"/") if len(part) > 3)
