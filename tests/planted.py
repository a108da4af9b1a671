"""Secrets of every kind, made up, and every place in an exchange where one has been seen."""

from __future__ import annotations

import gzip
import json
import random
import string
from base64 import b64encode
from collections.abc import Callable, Mapping
from urllib.parse import quote
from zlib import crc32

from workbench.wire.encoding import decode_body
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.secrets.names import word_set
from workbench.wire.stream import aws_message, sealed_payload

_DICE = random.Random(20)
MIXED = string.ascii_letters + string.digits
URL64 = MIXED + "-_"
HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + "234567"


def some(size: int, chars: str = MIXED) -> str:
    """Random characters, of every class that the alphabet has."""
    while True:
        text = "".join(_DICE.choices(chars, k=size))
        if all(set(text) & set(one) for one in (string.ascii_letters, string.digits) if set(one) & set(chars)):
            return text.strip("-_") + "q7"[: size - len(text.strip("-_"))]


def jwt() -> str:
    head = b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = b64encode(json.dumps({"sub": some(10), "iat": 1700000000}).encode()).decode().rstrip("=")
    return f"{head}.{body}.{some(43, URL64)}"


def pem(label: str = "RSA ") -> str:
    lines = "\n".join(some(64, MIXED + "+/") for _ in range(5))
    return f"-----BEGIN {label}PRIVATE KEY-----\n{lines}\n-----END {label}PRIVATE KEY-----"


BY_SHAPE: Mapping[str, str] = {
    "anthropic": f"sk-ant-api03-{some(93, URL64)}AA",
    "openai": f"sk-proj-{some(40, URL64)}T3BlbkFJ{some(40, URL64)}",
    "openai, old": f"sk-{some(20)}T3BlbkFJ{some(20)}",
    "openrouter": f"sk-or-v1-{some(64, HEX)}",
    "deepseek": f"sk-{some(32, HEX)}",
    "google": f"AIza{some(35, URL64)}",
    "google, new": f"AQ.Ab8RN6{some(44, URL64)}",
    "google oauth": f"ya29.a0{some(60, URL64)}",
    "google client": f"GOCSPX-{some(28, URL64)}",
    "groq": f"gsk_{some(52)}",
    "xai": f"xai-{some(80)}",
    "cerebras": f"csk-{some(48, string.ascii_lowercase + string.digits)}",
    "fireworks": f"fw_{some(24)}",
    "perplexity": f"pplx-{some(48)}",
    "together": f"tgp_v1_{some(43, URL64)}",
    "nvidia": f"nvapi-{some(64, URL64)}",
    "replicate": f"r8_{some(37)}",
    "hugging face": f"hf_{some(34)}",
    "tavily": f"tvly-dev-{some(32)}",
    "pinecone": f"pcsk_{some(60)}",
    "langsmith": f"lsv2_pt_{some(32, HEX)}_{some(10, HEX)}",
    "bedrock": f"ABSK{some(110, MIXED + '+/')}=",
    "zhipu": f"{some(32, HEX)}.{some(16)}",
    "aws id": f"AKIA{some(16, CAPITALS)}",
    "aws secret": f"{some(12)}/{some(14)}+{some(12)}",
    "aws session": f"IQoJb3JpZ2luX2Vj{some(180, MIXED + '+/')}=",
    "azure client": f"{some(3)}8Q~{some(34, URL64)}",
    "github": f"ghp_{some(36)}",
    "github, fine": f"github_pat_{some(22)}_{some(59)}",
    "gitlab": f"glpat-{some(20, URL64)}",
    "npm": f"npm_{some(36)}",
    "pypi": f"pypi-AgEIcHlwaS5vcmc{some(70, URL64)}",
    "docker": f"dckr_pat_{some(27, URL64)}",
    "slack bot": f"xoxb-{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}",
    "slack app": f"xapp-1-A{some(10, CAPITALS)}-{some(13, string.digits)}-{some(64, HEX)}",
    "slack webhook": f"https://hooks.slack.com/services/T{some(8, CAPITALS)}/B{some(8, CAPITALS)}/{some(24)}",
    "discord": f"M{some(23)}.G{some(5)}.{some(38, URL64)}",
    "telegram": f"{some(10, string.digits)}:AA{some(33, URL64)}",
    "stripe": f"sk_live_{some(24)}",
    "stripe, restricted": f"rk_live_{some(24)}",
    "sendgrid": f"SG.{some(22, URL64)}.{some(43, URL64)}",
    "vault": f"hvs.{some(90, URL64)}",
    "age": f"AGE-SECRET-KEY-1{some(58, CAPITALS)}",
    "linear": f"lin_api_{some(40)}",
    "databricks": f"dapi{some(32, HEX)}",
    "digital ocean": f"dop_v1_{some(64, HEX)}",
    "shopify": f"shpat_{some(32, HEX)}",
    "twilio": f"SK{some(32, HEX)}",
    "mailgun": f"key-{some(32, HEX)}",
    "new relic": f"NRAK-{some(27, CAPITALS)}",
    "json web token": jwt(),
    "private key": pem(),
    "openssh key": pem("OPENSSH "),
}
"""Told wherever they stand."""

_NUMBERS = string.digits
_ID = f"{some(8, HEX)}-{some(4, HEX)}-4{some(3, HEX)}-{some(4, HEX)}-{some(12, HEX)}"
ISSUED: Mapping[str, str] = {
    "1password": "-".join(("A3", *(some(size, CAPITALS) for size in (6, 11, 5, 5, 5)))),
    "adafruit": f"aio_{some(28)}",
    "adobe": f"p8e-{some(32)}",
    "airtable": f"pat{some(14)}.{some(64, HEX)}",
    "anthropic, admin": f"sk-ant-admin01-{some(93, URL64)}AA",
    "apify": f"apify_api_{some(36)}",
    "artifactory": f"cmVmd{some(59)}",
    "asana": f"2/{some(16, _NUMBERS)}/{some(16, _NUMBERS)}:{some(32, HEX)}",
    "atlassian": f"ATATT3xFfGF0{some(170)}={some(8, HEX.upper())}",
    "azure, annotated": f"{some(52)}JQQJ99A{'K'}{some(16)}AAAB{some(4)}",
    "azure registry": f"{some(42)}+ACRA{some(5)}",
    "baidu": f"bce-v3/ALTAK-{some(21)}/{some(40, HEX)}",
    "buildkite": f"bkua_{some(40, HEX)}",
    "circleci": f"CCIPAT_{some(22)}_{some(40, HEX)}",
    "clickhouse": f"4b1d{some(38)}",
    "clickup": f"pk_{some(8, _NUMBERS)}_{some(32, CAPITALS)}",
    "cloudflare": f"cfut_{some(40)}{some(8, HEX)}",
    "cloudflare, origin": f"v1.0-{some(24, HEX)}-{some(146, HEX)}",
    "deno": f"ddp_{some(36)}",
    "digitalocean, oauth": f"doo_v1_{some(64, HEX)}",
    "doppler": f"dp.pt.{some(43)}",
    "dropbox": f"sl.{some(135, URL64)}",
    "dropbox, old": f"{some(11)}AAAAAAAAAA{some(43, URL64)}",
    "elevenlabs": f"sk_{some(48, HEX)}",
    "facebook": f"EAAG{some(150)}",
    "fal": f"{_ID}:{some(32, HEX)}",
    "figma": f"figd_{some(40, URL64)}",
    "flutterwave": f"FLWSECK-{some(32, HEX)}-X",
    "fly": f"fm2_{some(200)}",
    "gitlab, routable": f"glpat-{some(27)}.01.{some(9, HEX)}",
    "gitlab, runner": f"GR1348941{some(20)}",
    "grafana": f"glsa_{some(32)}_{some(8, HEX)}",
    "grafana, cloud": f"glc_{b64encode(some(60).encode()).decode()}",
    "heroku": f"HRKU-AA{some(58, URL64)}",
    "hugging face, org": f"api_org_{some(34, string.ascii_letters)}",
    "infracost": f"ico-{some(32)}",
    "intercom": f"dG9rO{some(54)}=",
    "langfuse": f"sk-lf-{_ID}",
    "launchdarkly": f"api-{_ID}",
    "mailchimp": f"{some(32, HEX)}-us21",
    "mailgun, new": f"{some(32, HEX)}-{some(8, HEX)}-{some(8, HEX)}",
    "maxmind": f"{some(6)}_{some(29)}_mmk",
    "netlify": f"nfp_{some(36)}",
    "new relic, license": f"{some(36, HEX)}FFFFNRAL",
    "notion": f"ntn_{some(11, _NUMBERS)}{some(35)}",
    "nvidia, catalogue": f"{some(26, HEX)}:{_ID}",
    "octopus": f"API-{some(26, CAPITALS)}",
    "openshift": f"sha256~{some(43, URL64)}",
    "planetscale": f"pscale_tkn_{some(43)}",
    "plaid": f"access-production-{_ID}",
    "postman": f"PMAK-{some(24, HEX)}-{some(34, HEX)}",
    "prefect": f"pnu_{some(36)}",
    "pulumi": f"pul-{some(40, HEX)}",
    "razorpay": f"rzp_live_{some(14)}",
    "resend": f"re_{some(8)}_{some(24)}",
    "rootly": f"rootly_{some(64, HEX)}",
    "runway": f"key_{some(128, HEX)}",
    "salesforce": f"00D{some(15)}!{some(96)}",
    "sentry": f"sntryu_{some(64, HEX)}",
    "sentry, org": f"sntrys_{b64encode(some(90).encode()).decode()}_{some(43)}",
    "sourcegraph": f"sgp_{some(16, HEX)}_{some(40, HEX)}",
    "square": f"EAAA{some(60, URL64)}",
    "square, app": f"sq0csp-{some(43, URL64)}",
    "stripe, intent": f"pi_{some(24)}_secret_{some(25)}",
    "supabase": f"sbp_{some(40, HEX)}",
    "tailscale": f"tskey-auth-{some(12)}-{some(30)}",
    "terraform": f"{some(14)}.atlasv1.{some(67, URL64)}",
    "vercel": f"vcp_{some(56)}",
    "voiceflow": f"VF.DM.{some(24, HEX)}.{some(16)}",
    "voyage": f"pa-{some(43, URL64)}",
    "wandb": f"wandb_v1_{some(60, URL64)}",
    "zapier": f"https://hooks.zapier.com/hooks/catch/{some(8, _NUMBERS)}/{some(12)}",
    "zoho": f"1000.{some(32, HEX)}.{some(32, HEX)}",
}
"""More of them, after the rules that gitleaks and trufflehog publish; told wherever they stand."""

BY_NAME: Mapping[str, str] = {
    "azure storage": f"{some(86, MIXED + '+/')}==",
    "azure": some(32, HEX),
    "mistral": some(32),
    "cohere": some(40),
    "some key": some(24, URL64),
    "password": "hunter2hunter2",
    "password with signs": "Tr0ub4dor&3-Xy!9z".replace("&", "_"),
}
"""Told by what they are called."""

KINDS = {**BY_SHAPE, **BY_NAME}

_Pairs = tuple[tuple[str, str], ...]
_AWS = "application/vnd.amazon.eventstream"
_URL = "https://api.openai.com/v1/chat/completions"


def _sealed(data: bytes) -> Exchange:
    return _asked(b64encode(data).decode())


def lined(text: str, between: str) -> str:
    """In base64, in lines of 76 characters."""
    sealed = b64encode(text.encode()).decode()
    return between.join(sealed[n : n + 76] for n in range(0, len(sealed), 76))


def _asked(content: str = "", *, url: str = _URL, headers: _Pairs = (), **more: object) -> Exchange:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}], **more}).encode()
    return Exchange("1", HttpRequest("POST", url, Headers(headers), Body(body)), HttpResponse(200))


def _answered(body: bytes, kind: str = "application/json") -> Exchange:
    head = Headers((("content-type", kind),))
    return Exchange("1", _asked().request, HttpResponse(200, head, Body(body)))


def _zipped(body: bytes) -> Exchange:
    head = Headers((("content-type", _AWS), ("content-encoding", "gzip")))
    return Exchange("1", _asked().request, HttpResponse(200, head, Body(gzip.compress(body), "gzip")))


def _header(name: str) -> Callable[[str], Exchange]:
    return lambda s: _asked(headers=((name, s.replace("\n", " ")),))


def _query(name: str) -> Callable[[str], Exchange]:
    return lambda s: _asked(url=f"{_URL}?a=1&{name}={quote(s, safe='')}&b=2")


def _member(name: str) -> Callable[[str], Exchange]:
    return lambda s: _asked(metadata={name: s})


def _in_text(form: str) -> Callable[[str], Exchange]:
    return lambda s: _asked(form.replace("SECRET", s))


def _deltas(secret: str, cuts: tuple[int, ...]) -> list[str]:
    """A text with the secret, cut after so many characters each."""
    text, pieces = f'so it is {{"api_key": "{secret}"}} here', list[str]()
    for cut in cuts * (len(text) // sum(cuts) + 1):
        pieces.append(text[:cut])
        text = text[cut:]
    return [piece for piece in pieces if piece]


def _streamed(*cuts: int) -> Callable[[str], Exchange]:
    """In the deltas of a stream."""

    def made(secret: str) -> Exchange:
        chunks = [
            {"choices": [{"index": 0, "delta": {"content": piece}}], "id": "chatcmpl-1"}
            for piece in _deltas(secret, cuts)
        ]
        stream = b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks) + b"data: [DONE]\n\n"
        return _answered(stream, "text/event-stream")

    return made


def converse_stream(secret: str, *cuts: int) -> bytes:
    """In the deltas of messages of an AWS event stream."""
    deltas = [{"contentBlockIndex": 0, "delta": {"text": piece}} for piece in _deltas(secret, cuts)]
    return b"".join(aws_message("contentBlockDelta", json.dumps(delta).encode()) for delta in deltas)


def invoke_stream(secret: str, *cuts: int) -> bytes:
    """In deltas inside the base64 of such messages."""
    kind = {"type": "content_block_delta", "index": 0}
    deltas = [{**kind, "delta": {"type": "text_delta", "text": piece}} for piece in _deltas(secret, cuts)]
    return b"".join(aws_message("chunk", sealed_payload(json.dumps(delta).encode())) for delta in deltas)


def _aws_error(secret: str) -> bytes:
    """In the headers of one, which hold the text of an error."""
    names = {":error-code": "denied", ":error-message": f"bad key {secret}.", ":message-type": "error"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(text.encode()).to_bytes(2, "big") + text.encode()
        for name, text in names.items()
    )
    lengths = (len(headers) + 16).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    message = lengths + crc32(lengths).to_bytes(4, "big") + headers
    return message + crc32(message).to_bytes(4, "big")


HEADERS = word_set("""
authorization x-api-key api-key x-goog-api-key proxy-authorization x-functions-key x-litellm-key
x-portkey-virtual-key authentication x-signature x-session-id x-key x-auth-token x-acme-secret
""")
QUERIES = word_set("""
key token sig password secret code auth jwt subscription-key pwd AWSAccessKeyId Policy X-Amz-Signature
X-Amz-Security-Token api_key client_secret
""")
MEMBERS = word_set("""
password api_key authorization access_token client_secret private_key token DB_PASSWORD db_password userPassword
AWS_SECRET_ACCESS_KEY apiToken api_token bot_token sessionKey x-goog-api-key X-Api-Key secretAccessKey
passphrase
""")

PLACES: dict[str, Callable[[str], Exchange]] = {
    **{f"header {name}": _header(name) for name in HEADERS},
    **{f"query {name}": _query(name) for name in QUERIES},
    **{f"member {name}": _member(name) for name in MEMBERS},
    "cookie": lambda s: _asked(headers=(("cookie", f"theme=dark; sid={quote(s, safe='')}"),)),
    "cookie member": lambda s: _asked(metadata={"cookie": f"theme=dark; sid={quote(s, safe='')}"}),
    "JSON in JSON": lambda s: _asked(json.dumps({"a": {"api_key": s}})),
    "JSON in JSON in JSON": lambda s: _asked(json.dumps({"a": json.dumps({"token": s})})),
    "arguments": lambda s: _asked(tool_calls=[{"function": {"arguments": json.dumps({"password": s})}}]),
    "environment": _in_text("HOME=/root\nSERVICE_API_KEY=SECRET\nLANG=C"),
    "export": _in_text("set -e\nexport TOKEN='SECRET'\nrun"),
    "windows": _in_text("set DB_PASSWORD=SECRET"),
    "yaml": _in_text("user: me\npassword: SECRET\nport: 80"),
    "yaml, quoted": _in_text('db:\n  password: "SECRET"\n'),
    "ini": _in_text("[default]\naws_secret_access_key = SECRET\nregion = eu"),
    "curl header": _in_text("curl -H 'x-api-key: SECRET' https://x.example"),
    "curl bearer": _in_text('curl -H "Authorization: Bearer SECRET" https://x.example'),
    "curl user": _in_text("curl -u 'me:SECRET' https://x.example"),
    "option": _in_text("tool --api-key SECRET --verbose"),
    "option with sign": _in_text("tool --token=SECRET --verbose"),
    "url in text": _in_text("see https://x.example/a?api_key=SECRET&b=1"),
    "python": _in_text("client = Client(api_key='SECRET')"),
    "python repr": _in_text("{'headers': {'x-api-key': 'SECRET'}}"),
    "list of headers": _in_text('[["x-api-key", "SECRET"], ["accept", "*/*"]]'),
    "har": _in_text('{"name": "x-api-key", "value": "SECRET"}'),
    "xml": _in_text("<config><password>SECRET</password></config>"),
    "markup of a call": _in_text("<parameter=api_key>\nSECRET\n</parameter>"),
    "answer": lambda s: _answered(json.dumps({"access_token": s, "expires_in": 3600}).encode()),
    "form": lambda s: Exchange("1", HttpRequest("POST", _URL, Headers(), Body(
        f"grant_type=x&client_secret={quote(s, safe='')}&scope=a".encode()))),
    "base64 of a line": lambda s: _asked(b64encode(f"A=1\nSERVICE_KEY={s}\n".encode()).decode()),
    "base64 of other letters": lambda s: _sealed(f'{{"note": "ça va – oui", "api_key": {json.dumps(s)}}}'.encode()),
    "base64 in lines": lambda s: _asked(lined(f"{'A=1 ' * 9}\nSERVICE_KEY={s}\n{'B=2 ' * 9}", "\n")),
    "base64 in lines, indented": lambda s: _asked(
        "body: !!binary |\n    " + lined(json.dumps({"api_key": s}), "\n    ")),
    "base64 of gzip": lambda s: _sealed(gzip.compress(json.dumps({"api_key": s}).encode())),
    "hexadecimal": lambda s: _asked(f"SERVICE_KEY={s}".encode().hex()),
    "user of a URL": lambda s: _asked(url=f"https://{quote(s, safe='')}@api.example/v1"),
    "har with base64": lambda s: _asked(json.dumps({"log": {"entries": [{"response": {"content": {
        "encoding": "base64", "text": b64encode(json.dumps({"api_key": s}).encode()).decode()}}}]}})),
    "escaped": lambda s: Exchange("1", HttpRequest("POST", _URL, Headers(), Body(
        b'{"content": "TOKEN=' + "".join(f"\\u{ord(c):04x}" for c in s).encode() + b' end"}'))),
    "twice escaped": lambda s: Exchange("1", HttpRequest("POST", _URL, Headers(), Body(
        b'{"c": "{\\"api_key\\": \\"' + "".join(f"\\\\u{ord(c):04x}" for c in s).encode() + b'\\"}"}'))),
}  # fmt: skip
"""How a secret with a name comes into an exchange."""

FORMS = r"""
password option|tool --password SECRET --verbose
mysql|mysql -u root -pSECRET db
sshpass|sshpass -p 'SECRET' ssh me@host
docker login|docker login -u me -p SECRET registry.example
redis|redis-cli -h host -a SECRET ping
requirepass|port 6379\nrequirepass SECRET\n
httpie|http -a me:SECRET x.example
requests|requests.get(u, auth=('me', 'SECRET'))
requests, named|requests.get(u, auth=HTTPBasicAuth("me", "SECRET"))
go basic|req.SetBasicAuth("me", "SECRET")
block|db:\n  password: |\n    SECRET\n  port: 1
block, folded|api_key: >-\n  SECRET\nport: 1
list|X-Api-Key:\n- SECRET\nAccept:\n- x
list, inline|{"X-Api-Key": ["SECRET"], "Accept": ["x"]}
go map|map[X-Api-Key:[SECRET]]
netrc|machine api.example.com login me password SECRET
netrc, lines|machine api.example.com\n  login me\n  password SECRET\n
npmrc|//npm.example/:_authToken=SECRET
pypirc|[pypi]\nusername = __token__\npassword = SECRET\n
kubeconfig|users:\n- name: me\n  user:\n    token: SECRET\n
secret of a cluster|kind: Secret\nstringData:\n  api-key: SECRET\n
variable of a cluster|- name: API_KEY\n  value: "SECRET"\n
web key|{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","d":"SECRET"}
account key|DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=SECRET;EndpointSuffix=core.windows.net
shared key|Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=SECRET
postgres|postgresql+asyncpg://admin:SECRET@db.example:5432/app
mongodb|mongodb+srv://admin:SECRET@cluster0.abcde.mongodb.net/app?retryWrites=true
redis url|redis://:SECRET@cache.example:6379/0
git url|git clone https://oauth2:SECRET@git.example/a/b.git
sql server|Server=tcp:x.example,1433;Database=d;User ID=me;Password=SECRET;Encrypt=True
set-cookie|Set-Cookie: sid=SECRET; Path=/; HttpOnly
proxy|Proxy-Authorization: Bearer SECRET
scheme|Authorization: token SECRET
shared access|https://acc.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig=SECRET
attribute|<add key="ApiKey" value="SECRET" />
property|<property name="password" value="SECRET"/>
plist|<key>ApiKey</key>\n<string>SECRET</string>
typed|const apiKey: string = 'SECRET';
typed, python|API_KEY: str = "SECRET"
define|#define API_KEY "SECRET"
image|ENV API_KEY SECRET
windows|setx OPENAI_API_KEY "SECRET"
fish|set -gx OPENAI_API_KEY SECRET
csh|setenv OPENAI_API_KEY SECRET
aws configure|aws configure set aws_secret_access_key SECRET
table|| api_key | SECRET |
bold|**API key:** SECRET
bold, sign behind|**API key**: SECRET
said|the API key is SECRET
setter|client.setApiKey("SECRET")
short|ldap_bind_pw = SECRET
wireless|psk="SECRET"
default|variable "api_key" {\n  type = string\n  default = "SECRET"\n}
part|--x\r\nContent-Disposition: form-data; name="api_key"\r\n\r\nSECRET\r\n--x--
rows of values|id,user,api_key\n1,me,SECRET\n2,you,\n
rows of values, quoted|"password","user"\n"SECRET","me"\n
rows of values, semicolons|name;secret;region\nmain;SECRET;eu\n
rows of values, tabs|name\tapi_key\nmain\tSECRET\n
rows of values, ruled|| name | `API_KEY` |\n|---|:---|\n| main | `SECRET` |\n
rows of values, psql| id | api_token \n----+-----------\n  1 | SECRET\n(1 row)
""".strip().splitlines()
"""Files, commands and words in which a secret has a name; ``\n`` is a line end."""

for _name, _, _form in (line.partition("|") for line in FORMS):
    PLACES[f"form {_name}"] = _in_text(_form.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t"))

STREAMS: Mapping[str, Callable[[str], Exchange]] = {
    "pieces of one size": _streamed(4),
    "pieces of all sizes": _streamed(1, 7, 3),
    "aws stream": lambda s: _answered(converse_stream(s, 5, 2), _AWS),
    "aws stream, whole": lambda s: _answered(converse_stream(s, 9999), _AWS),
    "aws stream in gzip": lambda s: _zipped(converse_stream(s, 5, 2)),
    "aws stream of base64 in gzip": lambda s: _zipped(invoke_stream(s, 5, 2)),
    "aws stream of base64": lambda s: _answered(invoke_stream(s, 4, 9), _AWS),
    "aws stream of base64, whole": lambda s: _answered(invoke_stream(s, 9999), _AWS),
    "aws stream of base64, cut": lambda s: _answered(invoke_stream(s, 9999)[:-18], _AWS),
}
"""How one comes piece by piece."""

BARE: Mapping[str, Callable[[str], Exchange]] = {
    "text": _in_text("it is SECRET, I think"),
    "result": lambda s: _asked(json.dumps({"stdout": f"{s}\n"})),
    "line": _in_text("first\nSECRET\nlast"),
    "quoted": _in_text("`SECRET`"),
    "base64": lambda s: _asked(b64encode(s.encode()).decode()),
    "answer": lambda s: _answered(json.dumps({"output": s}).encode()),
    "error of a stream": lambda s: _answered(_aws_error(s), _AWS),
    "error": lambda s: _answered(json.dumps({"error": {"message": f"Incorrect API key provided: {s}."}}).encode()),
}
"""How one without a name does."""


def texts(exchange: Exchange) -> str:
    """Everything that is written of an exchange."""
    sides = [side for side in (exchange.request, exchange.response) if side]
    heads = [f"{side.headers} {getattr(side, 'url', '')}" for side in sides]
    return "\n".join((*heads, *(decode_body(side.body).decode("latin-1") for side in sides)))
