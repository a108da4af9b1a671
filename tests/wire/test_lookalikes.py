"""What looks like a secret and is none stays byte for byte."""

from __future__ import annotations

import csv
import json
import random
import string
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.thinning import Thin
from workbench.formats.importers import open_input
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.redaction import Redactor
from workbench.wire.session import exchanges_of

_DICE = random.Random(3)
MIXED = string.ascii_letters + string.digits


def some(size: int, chars: str = MIXED) -> str:
    return "".join(_DICE.choices(chars, k=size))


def hexes(size: int) -> str:
    return some(size, "0123456789abcdef")


def sealed(size: int) -> str:
    return b64encode(_DICE.randbytes(size)).decode()


UUID = "3f2b8c1e-9d4a-4e6b-8f7a-1c2d3e4f5a6b"

MEMBERS: dict[str, object] = {
    "signature": sealed(200), "thoughtSignature": sealed(400), "thought_signature": sealed(90),
    "encrypted_content": "gAAAAABo" + sealed(300).replace("+", "-").replace("/", "_"), "data": sealed(900),
    "id": "toolu_01A09q90qw90lq917835lq9", "call_id": "call_q8Zt4LmW2pXv9Rb1TzK0abcd", "item_id": f"msg_{hexes(48)}",
    "response_id": f"resp_{hexes(48)}", "tool_call_id": "call_00_5y2Vq0Vf4cV1kF2s8Zx1",
    "request_id": "req_011CSHoEeqs5C35K2UUq", "system_fingerprint": f"fp_{hexes(10)}", "sha": hexes(40),
    "digest": f"sha256:{hexes(64)}", "md5": hexes(32), "etag": f'W/"{hexes(32)}"', "uuid": UUID, "session_id": UUID,
    "conversation_id": UUID, "user_id": f"user_{hexes(64)}", "cache_key": some(32), "prompt_cache_key": some(40),
    "idempotency_key": UUID, "primary_key": "id", "public_key": sealed(64), "key": hexes(40),
    "sort_key": f"ORDER#{some(12)}", "max_tokens": 5, "token_count": 7, "tokens": [1, 2], "next_page_token": some(40),
    "pageToken": some(60), "nextPageToken": sealed(30), "continuation_token": some(80), "token_type": "Bearer",
    "token_endpoint": "https://x.example/oauth/token", "eos_token": "<|endoftext|>", "token": "hello",
    "secret": "none", "password": "string", "passwords": ["a"], "auth": "oauth2", "authorization": "none",
    "api_key": "YOUR_API_KEY", "apiKey": "${API_KEY}", "client_secret": "<your-secret>",
    "access_token": "{{ token }}", "secret_key": "***", "db_password": "changeme", "private_key": "path/to/key.pem",
    "secret_name": "prod/db/main-2", "password_hint": "name of my 1st pet",
    "key_id": "projects/p/locations/l/keyRings/r2/cryptoKeys/k1", "token_budget": 1024, "obfuscation": some(12),
    "sha512": f"sha512-{sealed(64)}", "image": f"data:image/png;base64,{sealed(2000)}", "credentials": "include",
    "audio": "A" * 64, "delta": "AAAA" * 300, "withCredentials": True, "cookie": "theme=dark",
    "secretRef": "db-credentials", "author": "A. Thor",
    "authority": "https://login.example", "keyboard": "qwertyuiop1234567890", "monkey": some(20),
    "tokenizer": "o200k_base", "chunk_tokenizer": "tiktoken:cl100k_base",
    "passage": "of text that is long", "compass": "north-northeast-2", "passed": True,
    "hotkey": "ctrl+shift+p", "turkey": "sandwich-123", "api_key_name": "OPENAI_API_KEY",
    "password_policy": "min-12-chars",
}  # fmt: skip

TEXTS = """\
password = get_password()
password = getpass.getpass("Password: ")
api_key = os.environ["OPENAI_API_KEY"]
api_key=settings.OPENAI_API_KEY
const token = await getToken(user);
const apiKey = process.env.API_KEY;
let secret: String = config.secret_key_base64();
self.token = tokens[index + 1]
def login(user: str, password: str) -> Token: ...
if password != confirm_password2: raise ValueError
token: Optional[str] = None
key: Uint8Array, secret: base64string
password: varchar255
password: required, at least eight characters, one digit1
the password is stored as a hash; reset_password_token expires after 24h
Authorization: Bearer $TOKEN
Authorization: Bearer ${API_TOKEN}
Authorization: Bearer <token>
curl -H "Authorization: Bearer YOUR_API_KEY" https://api.example.com
curl -H "x-api-key: $ANTHROPIC_API_KEY" https://api.anthropic.com
curl -u user:password https://x.example
docker run -u 1000:1000 image
export OPENAI_API_KEY=sk-...
export API_KEY="your-api-key-here"
API_KEY=$API_KEY PASSWORD=${PASSWORD} TOKEN=<your-token-here>
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
set it to sk-ant-xxxxxxxxxxxxxxxxxxxx
AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
postgres://postgres:postgres@localhost:5432/app
postgres://user:password@host/db
https://example.org:8080/a@b
http://localhost:3000/@scope/package2/file
git@github.com:owner/repository-name-2.git
.sk-folding-cube .sk-cube-grid-animation { } .sk-circle12:before { }
the risk-assessment-of-everything-we-do2, ask-me-anything-you-like-to
npm-run-all npm_config_registry npm-check-updates-2
hf_hub_download fw_config_file_v2 secret_key_base secret_santa_2024
basic understanding-of-internationalization and basic authentication
a bearer of-good-news-to-everyone-around
max_tokens=4096&temperature=0.5&top_p=1
https://x.example/search?q=token&code=python&key=1&page=2
https://x.example/?page_token=CAUQAA&state=open&sort_key=name
commit 3f2b8c1e9d4a4e6b8f7a1c2d3e4f5a6b7c8d9e0f
"integrity": "sha512-q8Zt4LmW2pXv9Rb1TzK0q8Zt4LmW2pXv9Rb1TzK0q8Zt4LmW2pXv9Rb1TzK0q8Zt4LmW2pXv9Rb1TzK0aaaaaa=="
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7q8Zt4LmW2pXv9Rb1TzK0q8Zt4LmW2pXv9Rb1TzK0 me@host
-----BEGIN CERTIFICATE-----MIIEpAIBAAKCAQEA7yMIIEpAIBAAKCAQEA7y-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----MIIEpAIBAAKCAQEA7yMIIEpAIBAAKCAQEA7y-----END PUBLIC KEY-----
{"password": {"type": "string", "minLength": 8}, "required": ["api_key", "access_token2"]}
{"properties": {"token": {"type": "string", "description": "the token"}}, "secret": {"$ref": "#/x"}}
{"errors": {"password": "is too short (minimum is 8 characters)"}}
{"password": "Mot de passe", "token": "Jeton d'accès", "secret": "Geheimnis"}
{"token": " hello", "logprob": -0.0123, "bytes": [32, 104]}
{"token": "a1b2c3d4e5f6", "logprob": -0.5, "bytes": null, "top_logprobs": []}
{"authorization": "Bearer"} {"api_key": "OPENAI_API_KEY"} {"api_key": null} {"token": true}
{"name": "password", "value": "[redacted]"} {"name": "token", "type": "string"}
<input type="password" name="password" placeholder="Password"> <label for="password">Password</label>
<parameter name="password">string</parameter> <token>EOF</token>
key = lambda item: item.value2 ; sorted(items, key=operator.itemgetter(1))
for key, value in settings.items(): cache[key] = hashed_value_256
secret_key: vault:secret/data/app#key2 ; password: op://vault/item/password
password_file: /run/secrets/db_password_2 ; key_file=/etc/ssl/private/server-2.key
secretKeyRef: {name: db-secret-2, key: password-1}
tokens: 12,345 ; total_tokens: 99999999 ; TOKEN_LIMIT=128000 ; token_limit: 128k
test-token-12345 my-secret-key password123 fake_api_key_1234567890
api_key: test-api-key-123456 ; token=fake-token-12345 ; password=Password123
SECRET_KEY_BASE ; AWS_SECRET_ACCESS_KEY ; GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36
2024-05-01T12:00:00.123456Z 192.168.100.200 v1.2.3-beta.4+build.567 0x7ffee4c0a1b2c3d4
/usr/local/lib/python3.11/site-packages/pip/_vendor/urllib3/util/ssl_match_hostname2.py
chatcmpl-B0kXq8Zt4LmW2pXv9Rb1TzK0abcde gen-1741234567-q8Zt4LmW2pXv9Rb1TzK0
AWS_OWNED_KEY = "AWS_OWNED_KEY" ; checkbox = Token("html_inline2") ; Ed448PrivateKey | X25519PrivateKey
arn:aws:secretsmanager:eu-west-1:123456789012:secret:ProdSecret-a1b2c3 ; {"AWS::IAM::AccessKey": "72c2d9dd90025459"}
secret:[a-zA-Z0-9-/_+=.@]* ; lib/_keywords.py,sha256=r8_DrqAfn6QLwQnmXEggveiSU-UaIL2p2nuPINelfFc
between "-----BEGIN RSA PRIVATE KEY-----" and "-----END RSA PRIVATE KEY-----" ; 'JoinToken': join_token
The password is ISO-8859-1 encoded ; the passphrase is BIP-39-compatible. ; the password is docs/setup.md#2fa
the password is AES-256-GCM encrypted, the passphrase is 12-word, the secret is SHA512-hashed, the password is RFC4013.
publicKeyToken="1fc8b3b9a1e18e3b" ; the token is required2 ; | token | string | ; convnext_pw1 = "convnext.{bid}.pw1"
SkillTestCase1SkillTestCase2 SKELETON_KEY_FOR_EVERY_DOOR_1 ghost_writer_for_hire_2
""".splitlines()

HEADERS = {
    "idempotency-key": UUID, "x-idempotency-key": some(24), "x-stainless-retry-count": "0", "x-request-id": UUID,
    "request-id": "req_011CSHoEeqs5C35K2UUqR7Fy", "anthropic-ratelimit-tokens-remaining": "49000",
    "x-ratelimit-limit-tokens": "49000", "session_id": UUID, "x-session-id": UUID, "mcp-session-id": hexes(32),
    "etag": f'"{hexes(40)}"', "cf-ray": f"{hexes(16)}-FRA", "x-cache-key": hexes(32), "surrogate-key": "page-2 all",
    "access-control-allow-credentials": "true", "sec-websocket-key": sealed(16), "x-amzn-requestid": UUID,
    "traceparent": f"00-{hexes(32)}-{hexes(16)}-01", "if-none-match": hexes(32), "authorization": "Bearer $TOKEN",
    "www-authenticate": 'Bearer realm="x", error="invalid_token"', "x-token-count": "123456789012",
    "content-digest": f"sha-256=:{sealed(32)}:", "x-page-token": some(40), "x-api-key": "<redacted>",
}  # fmt: skip


def bodies() -> Iterator[tuple[str, bytes]]:
    for name, value in MEMBERS.items():
        member = json.dumps({name: value})
        yield name, member.encode()
        yield f"{name}, as text", json.dumps({"content": member}).encode()
        yield f"{name}, as text twice", json.dumps({"arguments": json.dumps({"input": member})}).encode()
        yield f"{name}, spelled out", json.dumps({name: value, "note": "–"}, indent=2).encode()
    for text in TEXTS:
        yield text[:40], text.encode()
        yield f"{text[:40]}, as text", json.dumps({"content": f"see\n{text}\n"}).encode()
        yield f"{text[:40]}, sealed", b64encode(text.encode())
    yield "all texts", json.dumps({"content": "\n".join(TEXTS)}).encode()


@pytest.mark.parametrize(("name", "body"), list(bodies()), ids=[n for n, _ in bodies()])
def test_a_body_without_a_secret_stays(name: str, body: bytes) -> None:
    changed, found = Redactor(salt=b"t").text(body)
    assert (changed, [(body[m.start : m.end], m.kind) for m in found]) == (body, [])


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_without_a_secret_stays(name: str) -> None:
    request = HttpRequest("POST", "/?code=200&key=&page_token=abc", Headers(((name, HEADERS[name]),)), Body())
    assert Redactor().exchange(Exchange("1", request)).request is request


def families(recordings: Path) -> Iterator[Path]:
    """The smallest recording of every source, protocol and form of answer."""
    rows = csv.DictReader((recordings / "index.tsv").read_text().splitlines(), delimiter="\t")
    smallest: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: int(row["bytes"])):
        smallest.setdefault((row["repo"], row["protocol"], row["streaming"]), row)
    yield from (recordings / row["file"] for row in smallest.values())


def told(path: Path) -> Iterator[Exchange]:
    """Each side of a recording once, apart: every answer, and the longest request, which repeats those before it."""
    sides = [side for one in exchanges_of(open_input(str(path))) for side in (one.request, one.response) if side]
    asked = [side for side in sides if isinstance(side, HttpRequest)]
    for side in {answer.body.raw: answer for answer in sides if isinstance(answer, HttpResponse)}.values():
        yield Exchange("1", None, side)
    yield from (Exchange("1", side, None) for side in sorted(asked, key=lambda side: len(side.body.raw))[-1:])


def test_recordings_of_others_hold_no_secret_but_cookies(recordings: Path, thin: Thin) -> None:
    """They were cleaned before they were published: whatever is found in them is none."""
    for path in thin(families(recordings), 3):
        for exchange in told(path):
            safe = Redactor().exchange(exchange)
            for was, now in ((exchange.request, safe.request), (exchange.response, safe.response)):
                assert not [m for m in _marks(now)[len(_marks(was)) :] if not m.lower().endswith("cookie")]


def _marks(side: HttpRequest | HttpResponse | None) -> list[str]:
    return [mark.where for mark in side.redactions] if side else []
