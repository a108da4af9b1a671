"""Ids and proofs of reasoning: made from a seed and a count, so that a run says the same every time.

Shapes: what the providers' answers in recordings look like.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Set
from hashlib import sha256, sha512

from workbench import regex
from workbench.ir import Message

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_COUNTED = regex.compile(r"\{(\d+)\}")

_SIGN = b64encode(b"\x12\x51\x0aworkbench").decode()
_SEAL = "gAAAAAB" + urlsafe_b64encode(b"workbench").decode()
"""Beginnings of proofs: those of the providers, with a mark that distinguishes ours."""


def call_ids(messages: Iterable[Message]) -> frozenset[str]:
    """Ids of the calls in some messages."""
    return frozenset(call.id for message in messages for _, call in message.tool_calls() if call.id)


class Ids:
    """Makes ids, none twice.

    Args:
        taken: ids of calls that others gave already.
    """

    def __init__(self, seed: str = "workbench", taken: frozenset[str] = frozenset()) -> None:
        self._seed = seed
        self._count = 0
        self._taken = taken

    def make(self, shape: str, **known: str) -> str:
        """An id: ``{22}`` stands for so many letters and digits, ``{name}`` for what is known."""
        self._count += 1
        letters = _letters(f"{self._seed}:{self._count}")
        made = _COUNTED.sub(lambda found: letters[: int(found[1])], shape)
        for name, value in known.items():
            made = made.replace(f"{{{name}}}", value)
        return made

    def of_call(self, shape: str, name: str, number: int, taken: Set[str]) -> str:
        """The id of a call that has none of those that are taken. ``number``: of the call, for shapes that count."""
        made = self.make(shape, name=name, n=str(number))
        while made in taken or made in self._taken:
            number += 1
            made = self.make(shape, name=name, n=str(number))
        return made

    def proof(self, text: str, *, sealed: bool = False) -> str:
        """A signature bound to a text; ``sealed``: encrypted content instead."""
        self._count += 1
        digest = sha512(f"{self._seed}:{self._count}:{text}".encode("utf-8", "surrogatepass")).digest()
        return _SEAL + urlsafe_b64encode(digest).decode().rstrip("=") if sealed else _SIGN + b64encode(digest).decode()


def is_ours(proof: str) -> bool:
    """A simulator made it."""
    return proof.startswith((_SIGN, _SEAL))


def _letters(text: str) -> str:
    digest = b"".join(sha256(f"{text}:{n}".encode()).digest() for n in range(2))
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest)
