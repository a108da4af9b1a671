"""Secrets: the one detector that redaction, exports and the rule ``secret.in-body`` use.

In: text, names and headers. Out: positions of secrets in them. A secret is recognised by its shape (``shapes``: keys
with a known prefix, tokens with a known structure, private keys), or by its name (``named_values``: JSON
members, environment lines, headers, URL parameters, command options) and then by its value (``names`` knows both). Text
is searched decoded (``escapes``), also inside base64. It may import what ``wire`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy
from workbench.wire.secrets.named_values import open_web_key, secret_kind
from workbench.wire.secrets.names import (
    Family,
    Style,
    family,
    is_header,
    is_parameter,
    is_placeholder,
    is_secret,
    of_header,
    of_query,
)
from workbench.wire.secrets.search import Secret, find, join_overlapping, may_have
from workbench.wire.secrets.shapes import KEY_TEXT, open_key, public_prefix

if TYPE_CHECKING:
    from workbench.wire.secrets.stream_texts import StreamedTexts, lines_of
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "KEY_TEXT",
    "Family",
    "Secret",
    "StreamedTexts",
    "Style",
    "family",
    "find",
    "is_header",
    "is_parameter",
    "is_placeholder",
    "is_secret",
    "join_overlapping",
    "lines_of",
    "may_have",
    "of_header",
    "of_query",
    "open_key",
    "open_web_key",
    "public_prefix",
    "secret_kind",
]
