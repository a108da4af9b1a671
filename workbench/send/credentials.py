"""API keys: read from the environment when a request is sent, and used only for the host they belong to.

Removes sent secrets from a byte stream: some servers echo them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.errors import LocalProtocolError, UsageError
from workbench.send.headers import key_header, with_headers
from workbench.send.outgoing import Outgoing
from workbench.send.own_targets import REFERENCE
from workbench.send.target import origin
from workbench.wire import Headers, Redactor


class AuthenticatedHeaders(NamedTuple):
    """Headers with the API key, and every secret in them."""

    headers: Headers
    secrets: tuple[str, ...]


def authenticate(outgoing: Outgoing, environ: Mapping[str, str]) -> AuthenticatedHeaders:
    """Add the target's key and variables to the headers of a request.

    Raises:
        UsageError: a variable is not set, or its value cannot be a header.
        LocalProtocolError: the request goes to a host that the key does not belong to.
    """
    target, headers = outgoing.target, outgoing.request.headers
    if origin(outgoing.request.url) not in target.origins:
        raise LocalProtocolError(
            f"the request does not go to the host of target {target.name}",
            hint="a target's API key is sent only to its own host",
        )
    secrets, own = list[str](), list[tuple[str, str]]()
    for name, value in target.headers:
        for variable in REFERENCE.findall(value):
            secrets.append(_value(variable, environ, target.name))
            value = value.replace(f"${{{variable}}}", secrets[-1])
        own.append((name, value))
    header = key_header(outgoing.protocol)
    if target.key_variable and header not in {name.lower() for name, _ in own}:
        key = _value(target.key_variable, environ, target.name)
        secrets.append(key)
        own.append((header, f"Bearer {key}" if header == "authorization" else key))
    return AuthenticatedHeaders(with_headers(headers, tuple(own)), tuple(secrets))


def is_set(variable: str, environ: Mapping[str, str]) -> bool:
    """The variable has a value."""
    return bool(environ.get(variable, "").strip())


def _value(variable: str, environ: Mapping[str, str], target: str) -> str:
    value = environ.get(variable, "").strip()
    if not value:
        raise UsageError(f"{variable} is not set", where=f"target {target}", hint=f"export {variable}=… and try again")
    if not value.isascii() or not value.isprintable():
        raise UsageError(
            f"{variable} contains characters that are not allowed in a header",
            where=f"target {target}",
            hint="set a valid key",
        )
    return value


class SecretMask:
    """Replaces secrets in bytes that arrive in pieces; holds back a possible beginning of one."""

    def __init__(self, redactor: Redactor, secrets: Sequence[str]) -> None:
        self._pairs = [(s.encode(), redactor.stand_in(s).encode()) for s in secrets]
        self._pending = b""

    def feed(self, data: bytes) -> bytes:
        """Bytes that are safe to show."""
        text = self._pending + data
        for secret, stand_in in self._pairs:
            text = text.replace(secret, stand_in)
        keep = max((_partial_length(text, secret) for secret, _ in self._pairs), default=0)
        self._pending = text[len(text) - keep :]
        return text[: len(text) - keep]

    def close(self) -> bytes:
        """The remaining bytes, which contain no secret."""
        rest, self._pending = self._pending, b""
        return rest


def _partial_length(text: bytes, secret: bytes) -> int:
    """Length of the longest end of the text with which a secret begins."""
    longest = min(len(text), len(secret) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(secret[:n])), 0)
