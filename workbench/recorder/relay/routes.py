"""Routes of a relay: its upstreams and the request paths that lead to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from workbench import regex
from workbench.errors import UsageError
from workbench.lazy_dataclass import dataclass
from workbench.wire.http1 import BadMessage, quote

_NAME = regex.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*")
_WITH_SECRETS = regex.compile(r"(?<=://).*@|^(?!\w+://).*@|[?#].*", re.DOTALL)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Upstream:
    """One base URL.

    Attributes:
        authority: host and port as the URL has them, for ``Host``.
        prefix: path in front of every request's, without a final slash.
    """

    name: str
    scheme: str
    host: str
    port: int
    authority: bytes
    prefix: bytes

    @property
    def is_tls(self) -> bool:
        """The scheme is https."""
        return self.scheme == "https"

    def url(self, target: bytes) -> str:
        """Absolute URL of a request target."""
        return f"{self.scheme}://{self.authority.decode('latin-1')}{target.decode('latin-1')}"


def parse_upstream(name: str, base: str) -> Upstream:
    """Parse a base URL. Raises UsageError."""
    where = f"upstream {name}" if name else "upstream"
    safe_text = _WITH_SECRETS.sub("...", base)
    try:
        parts = urlsplit(base)
        port = parts.port
    except ValueError:
        raise UsageError(f"{safe_text!a} is not a URL", where=where) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise UsageError(
            f"{safe_text!a} is not an http:// or https:// URL", where=where, hint="give https://HOST[/PATH]"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            "a base URL must not contain a user name, a query or a fragment",
            where=where,
            hint="do not put API keys into the URL: the client sends its key in a header",
        )
    if not base.isascii() or re.search(r"[\x00-\x20\x7f]", base):
        raise UsageError(
            f"{safe_text!a} contains characters that are not allowed in a URL",
            where=where,
            hint="percent-encode these characters",
        )
    return Upstream(
        name=name,
        scheme=parts.scheme,
        host=parts.hostname,
        port=_PORTS[parts.scheme] if port is None else port,
        authority=parts.netloc.encode(),
        prefix=parts.path.rstrip("/").encode(),
    )


class Routes:
    """Finds the upstream of a request target.

    One upstream has the whole listener: ``/x`` there is ``BASE/x``. Of several, each has the paths below its name:
    ``/NAME/x`` is ``BASE/x``.
    """

    def __init__(self, upstreams: Mapping[str, str]) -> None:
        if not upstreams:
            raise UsageError("no upstream was given", hint="give one as --upstream URL")
        self._upstreams = {name.encode(): parse_upstream(name, base) for name, base in upstreams.items()}
        self._only = next(iter(self._upstreams.values())) if len(upstreams) == 1 else None
        for name in upstreams if self._only is None else ():
            if not _NAME.fullmatch(name):
                raise UsageError(f"{name!a} is not a valid upstream name", hint="use letters, digits and . _ ~ -")

    def path(self, name: str) -> str:
        """Path at the listener for the upstream's base URL. Raises KeyError."""
        upstream = self._upstreams[name.encode()]
        return "" if self._only else f"/{upstream.name}"

    def at(self, name: str, target: bytes) -> tuple[Upstream, bytes]:
        """An upstream by its name, and a path that it has named itself. Raises KeyError."""
        return self._upstreams[name.encode()], target

    def find(self, target: bytes) -> tuple[Upstream, bytes]:
        """The upstream of an origin-form target, and the target there. Raises BadMessage (404)."""
        if self._only:
            return self._only, self._only.prefix + target
        end = min(p for p in (target.find(b"/", 1), target.find(b"?"), len(target)) if p >= 0)
        upstream = self._upstreams.get(target[1:end])
        if upstream is None:
            known = ", ".join(f"/{name.decode()}/…" for name in self._upstreams)
            raise BadMessage(f"unknown upstream {quote(target[1:end])}; available: {known}", 404)
        rest = target[end:]
        return upstream, upstream.prefix + (
            rest if rest.startswith(b"/") else (b"" if upstream.prefix else b"/") + rest
        )
