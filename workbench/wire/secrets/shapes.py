"""Finds secrets by prefix, by structure, or by surrounding words.

From the documentation of their issuers and from known scanners (gitleaks, detect-secrets, trufflehog).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.named_tuple import NamedTuple
from workbench.wire.secrets.escapes import BASE64, runs
from workbench.wire.secrets.names import is_made_up, is_wordy, word_set

_PREFIXES: Final = word_set("""
sk- sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_ sk_ gsk_ hf_ hf- r8_ r8- nvapi_ nvapi- xai_
xai- pplx_ pplx- tgp_v1_ tgp_v1- csk- fw_ fw- fpk_ tvly- jina_ pcsk_ fc- lsv2_pt_ lsv2_sk_ ls__ vck_ vcp_ vca_
rpa_ flp_ esecret_ up_ wandb_v1_ hcaik_ AIza AQ. ya29. GOCSPX- AKIA ASIA ABIA ACCA ABSK bedrock-api-key- ghp_
ghp- gho_ gho- ghu_ ghu- ghs_ ghs- ghr_ ghr- github_pat_ github_pat- glpat_ glpat- glptt- gldt- glrt- glcbt-
glsoat- glagent- gloas- glft- glimt- glffct- npm_ npm- pypi- dckr_pat_ dckr_oat_ dop_v1_ dop_v1- doo_v1_ dor_v1_
xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxa_ xoxb_ xoxp_ xoxr_ xoxs_ xapp- SG. hvs. hvb. hvr.
AGE-SECRET-KEY-1 lin_api_ lin_oauth_ dapi shpat_ shpca_ shppa_ shpss_ NRAK- NRII- NRJS- PMAK- pul- rdme_
rubygems_ glsa_ glc_ sntrys_ sntryu_ dp.pt. ntn_ secret_ figd_ pat-na1- pat-eu1- xkeysib- xsmtpsib- LTAI AKID
AKCp HRKU- tfp_ pscale_tkn_ pscale_oauth_ pscale_pw_ sgp_ shippo_live_ shippo_test_ duffel_live_ duffel_test_
EZAK EZTK CFPAT- CLOJARS_ sbp_ sb_secret_ tskey- napi_ rnd_ nfp_ ATATT3 ATCTT3 ATBB ATTA sq0atp- sq0csp- EAAA
key- sess- e2b_ ctx7sk- bb_live_ SK oy2 BSA fo1_ fm2_ phx_ ops_ cfut_ cfat_ squ_ sqp_ sqa_
A3- A3T 4b1d API- BBFF- CCIPAT_ EAAB EAAC EAAG EAAM FLWSECK- FLWSECK_TEST- GR1348941 NF- NRBR- NRIQ- access-development-
access-production- access-sandbox- aio_ ak_live_ api- api_org_ apify_api_ bb_ma_ bb_pr_ bce-v3/ALTAK- bkua_ cfk_ cmVmd
dG9rO ddp_ ddw_ dose eyJrIjoi figo_ figoh_ figor_ figp_ figu_ figuh_ figur_ fio-u- flb_live_ flb_test_ fm1a_ fm1r_ ico-
key_ live_ llx- nfb_ nfc_ nfo_ nfu_ p8e- pa- phs_ pk_ pnb_ pnu_ ramp_id_ ramp_sec_ re_ rootly_ rzp_live_ rzp_test_
s-s4t2af- s-s4t2ud- salad_cloud_ sdk- secret-live- secret-test- shltm_ signkey- slk_ sm_aat_ sm_pat_ sm_sat_ sntryi_
sq0c sqco_ test_ tk-us- tr_dev_ tr_prod_ vci_ vcr_
""")
"""Prefixes of keys, in no order. A prefix that other words share has a pattern of its own in ``_BODIES``."""

_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ALONE: Final = r"(?![\w+/=-])"

_BODIES: Final = {
    "4b1d": "(?=[0-9a-z]*[A-Z])[A-Za-z0-9]{38}" + _ALONE,
    "A3-": "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    "A3T": "[A-Z0-9]{17}" + _ALONE,
    "API-": "[A-Z0-9]{26}" + _ALONE,
    "ATATT3": "[A-Za-z0-9+/=_-]{16,}",
    "ATCTT3": "[A-Za-z0-9+/=_-]{16,}",
    "BBFF-": "[A-Za-z0-9]{30}",
    "EAAB": "[A-Za-z0-9]{90,}" + _ALONE,
    "EAAC": "[A-Za-z0-9]{90,}" + _ALONE,
    "EAAG": "[A-Za-z0-9]{90,}" + _ALONE,
    "EAAM": "[A-Za-z0-9]{90,}" + _ALONE,
    "GR1348941": "[A-Za-z0-9_-]{20}",
    "NF-": "[A-Za-z0-9]{32}" + _ALONE,
    "access-development-": _UUID,
    "access-production-": _UUID,
    "access-sandbox-": _UUID,
    "aio_": "[A-Za-z0-9]{28}" + _ALONE,
    "api-": "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
    "bce-v3/ALTAK-": "[A-Za-z0-9]{21}/[0-9a-f]{40}",
    "cmVmd": "[A-Za-z0-9]{59}" + _ALONE,
    "dG9rO": "[A-Za-z0-9+/]{50,}={0,2}" + _ALONE,
    "dose": "[0-9a-f]{32}" + _ALONE,
    "eyJrIjoi": "[A-Za-z0-9]{60,}={0,3}" + _ALONE,
    "fm1a_": "[A-Za-z0-9+/=]{60,}",
    "fm1r_": "[A-Za-z0-9+/=]{60,}",
    "glc_": "[A-Za-z0-9+/]{32,}={0,3}",
    "glpat-": r"[A-Za-z0-9_-]{16,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?",
    "glrt-": r"[A-Za-z0-9_-]{16,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?",
    "ico-": "[A-Za-z0-9]{32}" + _ALONE,
    "key_": "[0-9a-f]{64,}" + _ALONE,
    "live_": "(?:[0-9a-f]{35}|[A-Za-z0-9]{27}|[A-Za-z0-9_-]{40})" + _ALONE,
    "p8e-": "[A-Za-z0-9_-]{32}" + _ALONE,
    "pa-": "[A-Za-z0-9_-]{43}" + _ALONE,
    "phs_": "[A-Za-z0-9]{43,48}",
    "pk_": "(?:[0-9a-f]{34}|[A-Za-z0-9]{6}_[0-9a-f]{34}|[0-9]{5,9}_[A-Z0-9]{32})" + _ALONE,
    "re_": "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}" + _ALONE,
    "rzp_live_": "[A-Za-z0-9]{14,}",
    "rzp_test_": "[A-Za-z0-9]{14,}",
    "sdk-": "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
    "signkey-": "[a-z]{4,12}-[0-9a-f]{32,}",
    "sntrys_": "[A-Za-z0-9+/=_-]{40,}",
    "sq0c": "[a-z]{2}-[A-Za-z0-9_-]{40,50}",
    "test_": "(?:[0-9a-f]{35}|(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{27})" + _ALONE,
    "AIza": "[A-Za-z0-9_-]{30,}",
    "AKIA": "[A-Z0-9]{16}",
    "ASIA": "[A-Z0-9]{16}",
    "ABIA": "[A-Z0-9]{16}",
    "ACCA": "[A-Z0-9]{16}",
    "ABSK": "[A-Za-z0-9+/=]{40,}",
    "AGE-SECRET-KEY-1": "[A-Z0-9]{40,}",
    "AKCp": "[A-Za-z0-9]{60,}",
    "AKID": "[A-Za-z0-9]{28,36}",
    "AQ.": "[A-Za-z0-9_-]{20,}",
    "ATBB": "[A-Za-z0-9]{28,}",
    "ATTA": "[A-Za-z0-9]{60,}",
    "BSA": "[A-Za-z0-9_-]{27,}",
    "EAAA": "[A-Za-z0-9_-]{50,}",
    "EZAK": "[A-Za-z0-9]{54,}",
    "EZTK": "[A-Za-z0-9]{54,}",
    "HRKU-": "[A-Za-z0-9_-]{36,}",
    "LTAI": "[A-Za-z0-9]{16,}",
    "SG.": r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "SK": "[0-9a-f]{32}",
    "dapi": "[0-9a-z]{32}",
    "fc-": "[0-9a-z]{32}",
    "fm2_": "[A-Za-z0-9+/=]{60,}",
    "hvb.": "[A-Za-z0-9_-]{20,}",
    "hvr.": "[A-Za-z0-9_-]{20,}",
    "hvs.": "[A-Za-z0-9_-]{20,}",
    "key-": "[0-9a-z]{32}",
    "ops_": "eyJ[A-Za-z0-9+/=_-]{50,}",
    "oy2": "[a-z0-9]{43}",
    "pul-": "[0-9a-z]{40}",
    "rnd_": "[A-Za-z0-9]{24,}",
    "sess-": "[A-Za-z0-9]{40}",
    "secret_": "[A-Za-z0-9]{32,}",
    "sk_": "(?:[A-Za-z0-9]{32,}|[0-9]{1,2}x[0-9]_[0-9A-Fa-f]{64})",
    "up_": "[A-Za-z0-9]{28,}",
    "ya29.": "[A-Za-z0-9_.-]{20,}",
}
_BODY: Final = "[A-Za-z0-9_-]{16,}"

_PUBLIC: Final = word_set("""
sk-ant-api03- sk-ant-admin01- sk-ant-oat01- sk-ant- sk-proj- sk-or-v1- sk-svcacct- sk-admin-
""")
_PREFIX: Final = regex.compile(
    r"(?:(?:(?i:bearer|basic|token)[ ]+)?(?:"
    + "|".join(map(re.escape, sorted((*_PREFIXES, *_PUBLIC), key=len, reverse=True)))
    + r")?)"
)


def _pattern(prefix: str) -> str:
    return re.escape(prefix) + _BODIES.get(prefix, _BODY)


_KEY: Final = regex.compile("|".join(map(_pattern, sorted(_PREFIXES, key=len, reverse=True))).encode())
_BEGINNINGS: Final = frozenset(prefix[:2].encode() for prefix in _PREFIXES)
KEY_TEXT: Final = rf"(?<![\w+/-])(?:{'|'.join(re.escape(p) for p in _PREFIXES)})[\w-]{{16,}}"
"""Pattern of keys by prefix, in text; it matches more than secrets."""

_WEB_TOKEN: Final = regex.compile(
    rb"eyJ[\w-]{10,}+\.(?:eyJ[\w-]{10,}+(?:\.[\w-]++){1,3}|[\w-]*+\.[\w-]{10,}+\.[\w-]{10,}+\.[\w-]{10,}+)"
)
"""JSON web tokens, signed or encrypted."""
_JOINED: Final = regex.compile(
    rb"[0-9]{8,10}:[\w-]{35}(?![\w-])"  # Telegram
    rb"|[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}|mfa\.[\w-]{60,}"  # Discord
    rb"|[0-9a-z]{32}\.[A-Za-z0-9]{16}(?![\w-])"  # Zhipu
    rb"|SG\.[\w-]{16,}\.[\w-]{16,}|(?:hv[sbr]|ya29|AQ|sl(?:\.u)?)\.[\w-]{20,}(?:\.[\w-]+)*"
    rb"|s\.[A-Za-z0-9]{24}(?![\w-])"  # older Vault
    rb"|dp\.[a-z]{2,5}\.[A-Za-z0-9]{40,}|dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"
    rb"|(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"
    rb"|sk\.eyJ[\w-]{20,}\.[\w-]{20,}|xoxe\.xox[bp]-[\w-]{20,}|t1\.[\w-]+\.[\w-]{80,}|AAAA[\w-]{7}:[\w-]{100,}"
    rb"|[\w~.]{3}[0-9]Q~[\w~.-]{31,34}"  # Azure
    rb"|1//0[\w-]{40,}"  # Google, for refreshing
    rb"|v1\.0-[0-9a-f]{24}-[0-9A-Za-z-]{100,}"  # Cloudflare, of origins
    rb"|1000\.[0-9a-f]{32}\.[0-9a-f]{32}|VF\.(?:(?:DM|WS)\.)?[0-9A-Fa-f]{24}\.[A-Za-z0-9]{16}"  # Zoho, Voiceflow
    rb"|[01]\.A[\w-]{50,}(?:\.[0-9])?\.Ag[\w-]{100,}"  # Entra, for refreshing
    rb"|sha256~[\w-]{43}(?![\w-])|api_[A-Za-z0-9]{15,30}\.[A-Za-z0-9]{15,30}"  # OpenShift, Close
    rb"|[A-Za-z0-9]{10,30}\.v1\.[\w-]{16,}\.[0-9a-f]{32,}"  # Airtable
    rb"|(?:na|eu)1\.[A-Za-z0-9+/]{90,}|5Aep861[\w.=]{80,}|00D[A-Za-z0-9]{12,15}![\w.]{80,}"  # FullStory, Salesforce
    rb"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9a-f]{32}(?![\w-])"  # fal
    rb"|[a-z0-9]{26}:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])"  # NVIDIA, of catalogues
    rb"|[a-z]{2,10}_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}"  # Authress
    rb"|[12]/[0-9]{12,}(?:/[0-9]{12,})?:[0-9a-f]{32}(?![\w-])"  # Asana
)
_TAILED: Final = regex.compile(
    rb"[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9][A-L][A-Za-z0-9]{24,26}(?:==)?"  # Azure
    rb"|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"  # MaxMind
    rb"|[0-9a-f]{32}-(?:us[0-9]{1,2}|[0-9a-f]{8}-[0-9a-f]{8})"  # Mailchimp, Mailgun
    rb"|[0-9a-z]{32,36}FFFFNRAL|[0-9A-Za-z]{42}-NRMA"  # New Relic
    rb"|(?:pi|seti)_[A-Za-z0-9]{20,}_secret_[A-Za-z0-9]{20,}"  # Stripe
    rb"|[\w-]{11}A{10}[\w-]{43}"  # Dropbox
    rb"|[A-Za-z0-9]{64}_[A-Za-z0-9]{4}_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # Webex
)
"""Keys identified by their ending or middle."""
_SHORTEST_TAILED: Final = 35
_FEWEST: Final = 12
"""Different characters of a key that is identified by its ending or middle."""
_AZURE: Final = regex.compile(
    rb"[\w+/-]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[\w+/-]{5}[AQgw]==|[\w+/-]{44}AzFu[\w+/-]{5}[AQgw]==|[A-Za-z0-9]{42}AzSe[A-D]\w{5}"
    rb"|[\w+/-]{33}(?:AIoT|AzCa|\+(?:ASb|AEh|ARm))[A-P][\w+/-]{5}=|[A-Za-z0-9+/]{42}\+ACR[A-D]?[A-Za-z0-9+/]{5,6}"
)
"""Keys of Azure services; each has four letters for its service."""
_LONGEST_OF_AZURE: Final = 90
_LEFT_CHARACTERS: Final = b".:~!/-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_JOINTS: Final = (b".", b":", b"~", b"!")
_RIGHT: Final = regex.compile(rb"[\w.:~!+/=-]*+")
_SHORTEST_JOINED: Final = 23
_WIDEST_JOINT, _FURTHEST = 64, 200
"""Bytes before and after a part of a key within which its other parts are."""
_DIGIT: Final = regex.compile(rb"[0-9]")

_AWS: Final = regex.compile(rb"(?i)aws|secret|A[KS]IA")
_STATE: Final = regex.compile(
    rb"(?i)(?:signature|data|id|hash|digest|sha-?[0-9]*|nonce|etag|checksum|fingerprint|key|code|cursor|content)"
    rb"[\"'\\]*\s*[:=]\s*[\"'\\]*\Z"
)
"""Names of values that look random and grant nothing."""
_DIGEST: Final = regex.compile(rb"(?i)(?:sha|md|blake)[0-9a-z]{1,4}[=:-]\Z")
_LENGTHS_OF_AWS: Final = range(38, 43)
"""Lengths of a run with a byte before and after it, which padding may make as long as an AWS secret."""
_SESSION: Final = (b"IQoJb3JpZ2lu", b"FwoGZXIvYXdz", b"FQoGZXIvYXdz", b"IQoJ")
_OPENSSH: Final = b"b3BlbnNzaC1rZXkt"
_MIXED: Final = (regex.compile(rb"[a-z]"), regex.compile(rb"[A-Z]"), _DIGIT)

_HOOKS: Final = (
    (b"hooks.slack.com/", regex.compile(rb"(?:services|workflows|triggers)/([\w+/-]{20,})")),
    (b"/api/webhooks/", regex.compile(rb"[0-9]{5,}/([\w-]{40,})")),
    (b"hooks.zapier.com/hooks/catch/", regex.compile(rb"[0-9]+/([A-Za-z0-9]{6,})")),
    (b".tines.com/webhook/", regex.compile(rb"[a-z0-9]{16,}/([a-z0-9]{16,})")),
    (b"/open-apis/bot/v2/hook/", regex.compile(rb"([0-9a-f-]{30,})")),
    (b"maker.ifttt.com/trigger/", regex.compile(rb"[\w-]{1,64}/(?:json/)?with/key/([\w-]{16,})")),
    (b".webhook.office.com/", regex.compile(rb"webhookb2/([\w@/-]{60,})")),
)
_BEGIN: Final = b"-----BEGIN "
SIGNS: Final = (_BEGIN, *(host for host, _ in _HOOKS))
"""One of them is in every text with a secret whose shape is not that of a long run."""
SHORTEST: Final = 16
"""Bytes of the shortest run that is looked at."""
_PRIVATE: Final = regex.compile(rb"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_LINES: Final = regex.compile(rb"[A-Za-z0-9+/=\s\\]*+")
_KEY_LINE: Final = regex.compile(rb"[A-Za-z0-9+/=]{16}")
_LONGEST_PEM: Final = 64 * 1024
REACH: Final = ""
"""Kind of a range that is no secret: what was read to find one, where that is long."""

_WORD: Final = regex.compile(rb"[A-Za-z0-9_-]{16,}")
_ESCAPE: Final = regex.compile(rb"u[0-9a-fA-F]{4}|[bf]")
"""First characters of a run after a backslash."""


class ShapedSecret(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


def find_shaped(text: bytes) -> Iterator[ShapedSecret]:
    """Secrets of a text with decoded escapes that are identified by their shape."""
    found_end, plain = 0, set[bytes]()  # words with what stands around them: most come again and again
    for start, end in runs(text, BASE64, SHORTEST):
        word = text[start - 1 : end + 1]
        if start < found_end or word in plain:
            continue
        for found in _in_run(text, start, end):
            found_end = found.end
            yield found
        if start >= found_end and len(word) < 64 and _is_plain(word):
            plain.add(word)
    yield from _hooks(text)
    yield from private_keys(text)


def _is_plain(word: bytes) -> bool:
    """True if a run that is no secret would be none elsewhere: text further away decides of some."""
    is_joined = word[:1] in _JOINTS or word[-1:] in _JOINTS
    return not is_joined and len(word) not in _LENGTHS_OF_AWS and not _KEY.search(word)


def public_prefix(secret: str) -> int:
    """Length of the prefix that all secrets of this kind share."""
    found = _PREFIX.match(secret)
    return found.end() if found and found.end() < len(secret) else 0


def _in_run(text: bytes, start: int, end: int) -> Iterator[ShapedSecret]:
    """Secrets in a run of base64 characters, which may be several words."""
    if end - start >= 38:
        yield from _in_base64(text, start, end)
    if text.find(b"/", start, end) < 0 and text.find(b"+", start, end) < 0:
        yield from _in_word(text, start, end)
        return
    yield from _in_word(text, start, end)
    if text.find(b"-", start, end) >= 0 or text.find(b"_", start, end) >= 0 or text[end : end + 1] in _JOINTS:
        for part in _WORD.finditer(text, start, end):
            if part.start() > start:
                yield from _in_word(text, *part.span())


def _in_word(text: bytes, start: int, end: int) -> Iterator[ShapedSecret]:
    if text[start - 1 : start] == b"\\" and (escape := _ESCAPE.match(text, start)):
        start = escape.end()
    while start < end and text[start] in b"-_":
        start += 1
    head = text[start : start + 2]
    if (
        head in _BEGINNINGS
        and not _DIGEST.search(text, max(0, start - 12), start)
        and (found := _KEY.match(text, start))
        and _is_key(found[0])
    ):
        yield ShapedSecret(start, found.end(), "api-key")
        return
    if end - start >= _SHORTEST_TAILED and _TAILED.fullmatch(text, start, end) and _is_varied(text[start:end]):
        yield ShapedSecret(start, end, "api-key")
        return
    before, after = text[start - 1 : start], text[end : end + 1]
    if head == b"ey" and after == b"." and (token := _WEB_TOKEN.match(text, start)):
        yield ShapedSecret(start, token.end(), "api-key")
    elif (before in _JOINTS or after in _JOINTS or head == b"1/") and _DIGIT.search(text, start, end):
        yield from _join(text, start, end)


def _is_varied(word: bytes) -> bool:
    """False for few characters again and again, as in encoded silence or an empty picture."""
    return len(set(word)) >= _FEWEST


def _join(text: bytes, start: int, end: int) -> Iterator[ShapedSecret]:
    before, right = text[max(0, start - _WIDEST_JOINT) : start], _RIGHT.match(text, end, end + _FURTHEST)
    first, last = start - len(before) + len(before.rstrip(_LEFT_CHARACTERS)), right.end() if right else end
    if last - first < _SHORTEST_JOINED:
        return
    for found in _JOINED.finditer(text, first, last):
        if found.start() < end and _begins(text, found) and _is_key(found[0]):
            yield ShapedSecret(found.start(), max(found.end(), end), "api-key")


def _begins(text: bytes, found: re.Match[bytes]) -> bool:
    before = text[max(0, found.start() - 3) : found.start()]
    return before == b"bot"[-len(before) :] or (not before[-1:].isalnum() and before[-1:] not in (b"_", b"-", b"+"))


def _is_key(value: bytes) -> bool:
    """True for the shape of a key that is not a name, a CSS class or a documentation example."""
    if len(value) > 200:
        return True
    if value[1:4] in (b"KIA", b"SIA", b"BIA", b"CCA") and len(value) == 20:
        return not value.endswith(b"EXAMPLE")
    return not is_wordy(value) and not is_made_up(value) and value[-10:].strip(b"xX0*.") != b""


def _in_base64(text: bytes, start: int, end: int) -> Iterator[ShapedSecret]:
    """AWS credentials and OpenSSH keys, by length, prefix and surrounding text."""
    head = text[start : start + 16]
    while text[end : end + 1] == b"=":
        end += 1
    size = end - start
    if (
        (size <= _LONGEST_OF_AZURE and _AZURE.fullmatch(text, start, end))
        or (head.startswith(_SESSION) and size >= 60)
        or head.startswith(_OPENSSH)
    ):
        yield ShapedSecret(start, end, "api-key")
    elif size == 40 and _is_mixed(text, start, end) and not is_wordy(text[start:end]):
        near = text[max(0, start - 120, text.rfind(b"\n", 0, start - 2) + 1) : start]
        is_told = b"/" in text[start:end] and b"-" not in text[start:end] and not _STATE.search(near)
        if (is_told or _AWS.search(near)) and _is_alone(text, start, end) and not is_made_up(text[start:end]):
            yield ShapedSecret(start, end, "api-key")


def _is_alone(text: bytes, start: int, end: int) -> bool:
    """True for a separate word that is not part of a path or a longer value, and not a path itself."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in (b".", b"@", b"~", b"#", b"?") or (after in (b".", b"@", b"~") and text[end + 1 : end + 2].isalnum()):
        return False
    return not all(map(is_wordy, (part for part in text[start:end].split(b"/") if len(part) > 2)))


def _is_mixed(text: bytes, start: int, end: int) -> bool:
    return all(pattern.search(text, start, end) for pattern in _MIXED)


def _hooks(text: bytes) -> Iterator[ShapedSecret]:
    for host, pattern in _HOOKS:
        at = text.find(host)
        while at >= 0:
            found = pattern.match(text, at + len(host))
            if found and not is_made_up(found[1]):
                yield ShapedSecret(*found.span(1), "api-key")
            at = text.find(host, at + len(host))


def private_keys(text: bytes) -> Iterator[ShapedSecret]:
    """Content between the two lines of a private key; of a cut one as much as looks like a key."""
    at, next_end = text.find(_BEGIN), 0
    while at >= 0:
        found = _PRIVATE.match(text, at + len(_BEGIN))
        after = found.end() if found else at + len(_BEGIN)
        if found:
            if 0 <= next_end < after:
                next_end = text.find(b"-----END ", after)
            end = reach = next_end
            if not 0 <= end - after <= _LONGEST_PEM:
                lines = _LINES.match(text, after)
                end = lines.end() if lines else after
                reach = max(end, min(len(text), after + _LONGEST_PEM + 1))
            inner = text[after:end].strip(b" \t\r\n\\")
            if _KEY_LINE.search(inner) and not is_made_up(inner):
                yield ShapedSecret(after, end, "private-key")
            yield ShapedSecret(at, reach, REACH)
            after = end
        at = text.find(_BEGIN, after)


def open_key(text: bytes, end: int) -> int | None:
    """Start of a private key with its end possibly after ``end``; None if there is none."""
    at = text.rfind(_BEGIN, max(0, end - _LONGEST_PEM), end)
    is_open = at >= 0 and _PRIVATE.match(text, at + len(_BEGIN)) and text.find(b"-----END ", at, end) < 0
    return at if is_open else None
